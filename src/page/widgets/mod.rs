//! Controls that every lab uses: labelled, reachable by keyboard, underlined words instead of boxes.
//!
//! A control reads signals and calls back; what it asked for and did not get stands below it as a sentence
//! ([`Problem`]), and the reader's text stays.

mod choice;
mod disclosure;
mod gloss;
mod measure;
mod number;
mod number_field;
mod problem;
mod rich;
mod select;
mod sheet;
mod slider;
mod ticks;
mod toggle;

pub use choice::{Choice, Word, moved};
pub use disclosure::Disclosure;
pub use gloss::Gloss;
pub use measure::measured;
pub use number::{read_number, stepped};
pub use number_field::NumberField;
pub use problem::{Problem, sentence};
pub use rich::{plain, rich};
pub use select::Select;
pub use sheet::SheetPane;
pub use slider::Slider;
pub use ticks::{Axis, Tick};
pub use toggle::Toggle;

use std::sync::atomic::{AtomicU32, Ordering};

/// An id for an element of this page that no other element has.
pub fn unique_id(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
