//! What a component may use.

use std::time::Duration;

use wasmtime::ResourceLimiter;

/// What a component may use. The defaults are meant for a component of ours; an embedder that runs
/// components of others makes them tighter.
///
/// A limit that is broken inside the guest ends in a trap; one that is broken by a reply or by a
/// command becomes an error that the queue reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Linear memory of an instance, in bytes. Default 256 MiB; an idle instance has about one. A
    /// message is in memory several times: as it came, as it is stored, and as it is answered.
    /// This is enough for the largest message that the queue accepts.
    pub memory_bytes: usize,
    /// One reply of Redis, in bytes as it lies in the guest's memory. Default 16 MiB. The guest
    /// gets `too-large` instead of a larger one.
    pub reply_bytes: u64,
    /// What one call lifts out of the guest: a command on its way to Redis, or the results of an
    /// export. Default 64 MiB.
    pub transfer_bytes: usize,
    /// Arguments of one command, or of all commands of a pipeline. Default 100,000.
    pub arguments: usize,
    /// The longest deadline of a command, in milliseconds; longer ones are shortened. Default
    /// 60,000.
    pub command_timeout_ms: u32,
    /// Connections and timers that are open at once. Default 64.
    pub resources: usize,
    /// Calls to the host while one call of the component runs. Default 1,000,000.
    pub host_calls: u64,
    /// How long the guest may compute without a call to the host. Default 5 seconds; the
    /// resolution is 50 ms. `None` switches the check off, and with it every dependence on real
    /// time: what a simulator wants. Waiting is not computing: a guest may sleep as long as it
    /// likes, and whoever calls it bounds the call.
    pub compute: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 256 << 20,
            reply_bytes: 16 << 20,
            transfer_bytes: 64 << 20,
            arguments: 100_000,
            command_timeout_ms: 60_000,
            resources: 64,
            host_calls: 1_000_000,
            compute: Some(Duration::from_secs(5)),
        }
    }
}

/// Elements of a table; the component has one small table for its indirect calls.
const TABLE_ELEMENTS: usize = 10_000;

/// Core instances, tables and memories in a component: its module and the encoder's shims.
const CORE_ITEMS: usize = 16;

/// Refuses memory beyond the limit, and remembers that it did: the guest's own failure shows only
/// as a trap.
pub(crate) struct MemoryLimit {
    bytes: usize,
    refused: bool,
}

impl MemoryLimit {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            bytes: limits.memory_bytes,
            refused: false,
        }
    }

    /// Whether the guest was refused memory.
    pub(crate) fn has_refused(&self) -> bool {
        self.refused
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let granted = desired <= self.bytes;
        self.refused |= !granted;
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS)
    }

    fn instances(&self) -> usize {
        CORE_ITEMS
    }

    fn tables(&self) -> usize {
        CORE_ITEMS
    }

    fn memories(&self) -> usize {
        CORE_ITEMS
    }
}
