//! Keeping leases alive while their handlers run: the rules, as a table without timers or I/O.
//!
//! A host tells the [`Table`] what happens (a renewal starts, stops, an extension ended) and what
//! time it is, in milliseconds of a clock of its own that never goes back. The table says what is to
//! be done, and when to ask again. The worker of `leaseline-renewal`, the component's `renewal`
//! interface and a simulator drive the same table.
//!
//! The rules are those of the renewal of `vercel-queue` 0.7.0, without its hazards;
//! `docs/lease-renewal.md` compares the two row by row.

mod counts;
mod duration;
mod failure;
mod handle;
mod settings;
mod stopped;
mod table;

pub use counts::{Counts, LAG_BUCKETS, lag_bucket_ms};
pub use duration::{
    DurationError, DurationRule, lease_seconds, retry_seconds, setting_ms, visibility_seconds,
};
pub use failure::{Failure, FollowUp, Outcome};
pub use handle::{Handle, HandleError, StopStep};
pub use settings::Settings;
pub use table::{Action, First, Lost, Start, Started, Stopping, Table};

/// Names one renewal. Whoever starts renewals mints tokens and never uses one twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);
