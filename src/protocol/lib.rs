//! What the page and the engine say to each other.
//!
//! A message is a [`Frame`]: a small head (postcard) and the large arrays beside it, so that in a browser the arrays
//! travel as transferred `Float64Array`s and are never serialised number by number. The attention crate knows no
//! serialisation; its `Config` travels through the property table in [`options`].
//!
//! Every [`Job`] but `Cancel` carries a [`Revision`]. A newer revision supersedes an older one, in the engine's queue
//! and in the page: a reply to an old revision is dropped.

mod drawing;
mod frame;
mod job;
pub mod options;
mod reply;

pub use frame::{Frame, FrameError};
pub use job::{CheckJob, Job, KernelJob, Look, Numbers, StagesJob, Target, ViewJob};
pub use reply::{
    CellLook, FastCheck, Kernel, Ready, Refusal, Reply, RowFacts, RowLook, ShapeFacts, Stages,
    Summary, Trace, Variant, cell_number, cell_state,
};

/// Counts the changes of a session. The page gives them out; larger is newer.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Revision(pub u64);
