//! The mathematics of attention: every stage named, a float64 oracle and a float32 fast path.
//!
//! The stages in reading order (see [`trace`]): project, norm and position, dot product, scale, soft cap, bias, mask,
//! normalise, aggregate.
//!
//! - [`Config`] is a wish, [`AttentionSpec`] a valid one: the only place that checks.
//! - [`masks`] and [`positions`] are registries: one file per scheme, one line each.
//! - [`naive`] is the oracle: float64, row by row or everything at once, with gradients and the Jacobian of a row.
//! - [`tiled`] is the fast path: float32, online softmax over blocks of keys, memory linear in the length.
//! - [`Cache`] keeps keys and values from call to call, as in decoding.
//! - [`lanes`] are the vectors it runs on, [`rows`] how its rows are shared out.
//!
//! Deliberately absent: browsers, serialisation, thread pools. Nothing here panics on numbers a reader can type, and
//! no result is NaN.
//!
//! ```
//! use attention::naive::{Inputs, forward};
//! use attention::{AttentionSpec, Config, MaskUse, Shape};
//!
//! let config = Config {
//!     masks: vec![MaskUse::new("causal", &[])?],
//!     ..Config::new(Shape { d_v: 1, ..Shape::square(2, 1) })
//! };
//! let spec = AttentionSpec::new(config)?;
//! let inputs = Inputs::new(&spec, &[0.0, 0.0], &[3.0, 4.0], &[10.0, 20.0])?;
//! let result = forward(&spec, &inputs);
//! assert_eq!(result.weights, [1.0, 0.0, 0.5, 0.5]);
//! assert_eq!(result.out, [10.0, 15.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)] // but for `lanes::simd128`, on whose instructions it stands

mod bits;
mod cache;
mod error;
pub mod lanes;
pub mod limits;
pub mod masks;
pub mod math;
pub mod naive;
pub mod param;
pub mod positions;
mod prepare;
pub mod rows;
mod shape;
mod spec;
pub mod tiled;
pub mod trace;

pub use bits::BitMatrix;
pub use cache::Cache;
pub use error::{CacheError, InputError, SpecError};
pub use masks::{Coverage, MaskScheme, MaskUse, Reach};
pub use naive::Inputs;
pub use param::{Param, ParamKind, Value};
pub use positions::{PositionScheme, PositionUse};
pub use shape::{HeadIdx, KeyIdx, KvHeadIdx, QueryIdx, Shape};
pub use spec::{AttentionSpec, Config, Hidden, Scale};
