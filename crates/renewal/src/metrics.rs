//! What a worker tells about itself.

use leaseline_core::renewal::Counts;

/// Plain numbers, for whatever a program measures with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Active renewals, extensions and their failures, how late they were begun.
    pub counts: Counts,
    /// Requests that were begun; each extends one lease or a batch.
    pub requests: u64,
    /// Commands that wait for the worker.
    pub queued: u64,
    /// How often the worker was started again, after a crash or the end of its runtime.
    pub restarts: u64,
}
