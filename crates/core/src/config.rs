//! The configuration of a queue, and the rules it must keep.

mod rules;

use alloc::string::String;

pub(crate) use rules::MAX_DURATION_MS;

/// What happens to a publish when the queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverloadPolicy {
    /// Refuse the message with a backpressure error.
    #[default]
    Raise,
    /// Remove the oldest pending message, silently and for good.
    DropOldest,
    /// Wait for room, at most [`Config::overload_block_timeout_ms`], then refuse.
    Block,
}

/// Whether settled payloads are kept in a log list, newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// Not kept.
    #[default]
    Off,
    /// Kept, cut to this many after each settlement.
    Capped(u64),
    /// Kept without limit.
    Unbounded,
}

/// The configuration of a queue. Every process that uses a queue must agree on the name, the
/// separator and whether there is a visibility timeout.
///
/// Defaults are those of `redis-message-queue` 8.3.0, except that logs are off.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The queue's name: the start of every key. Not blank, no NUL, not containing the separator.
    pub name: String,
    /// Between the name and the rest of a key; not blank. Default `::`.
    pub key_separator: String,
    /// How long a claim holds its message. Default 300,000; `None`: claims have no lease.
    pub visibility_timeout_ms: Option<u64>,
    /// Claims granted before a message is dead-lettered. Default 10; `None`: no limit. Needs a
    /// visibility timeout.
    pub max_delivery_count: Option<u32>,
    /// The list for dead letters. `None`: the name, the separator and `dlq`.
    pub dead_letter_queue: Option<String>,
    /// How long a deduplication key is remembered. Default 3,600,000.
    pub deduplication_ttl_ms: u64,
    /// The log of acknowledged payloads.
    pub completed: Log,
    /// The log of failed payloads.
    pub failed: Log,
    /// The largest payload in bytes, before it is stored. `None`: no limit.
    pub max_payload_bytes: Option<u64>,
    /// How deep a JSON payload may be: its object is at depth 0, every value in an object or array
    /// one deeper. Default and
    /// most: [`crate::json::MAX_DEPTH`].
    pub max_payload_depth: Option<u32>,
    /// The most messages that may be pending. `None`: no limit.
    pub max_pending_length: Option<u64>,
    /// What a publish does at that limit.
    pub overload_policy: OverloadPolicy,
    /// How long [`OverloadPolicy::Block`] waits. Default 1,000.
    pub overload_block_timeout_ms: u64,
    /// Treat stored messages without an envelope as malformed instead of as bare payloads.
    pub strict_envelope_decoding: bool,
    /// How long a call is retried after a failure that may pass. Default 120,000; 0: not at all.
    pub retry_budget_ms: u64,
    /// The first pause between retries; it doubles. Default 10.
    pub retry_initial_delay_ms: u64,
    /// The longest pause between retries. Default 5,000.
    pub retry_max_delay_ms: u64,
    /// The deadline of each Redis command. Default 5,000.
    pub command_timeout_ms: u32,
    /// The server is a cluster: every key must share one hash slot. Default off.
    pub cluster: bool,
    /// The most events kept until they are taken. Default 1,024, at most 65,536.
    pub event_buffer: u32,
}
