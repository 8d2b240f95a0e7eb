//! Drawing: shapes as data, colours by name, and the one place that puts them on a canvas.

pub mod chart;
pub mod colour;
pub mod heat;
mod images;
pub mod paint;
pub mod palette;
pub mod picture;
pub mod pixels;
pub mod scene;
