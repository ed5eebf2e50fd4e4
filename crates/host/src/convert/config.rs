//! The configuration, into the guest.

use leaseline_core::Config;
use leaseline_core::config::{Log, OverloadPolicy};

use crate::bindings::exports::leaseline::queue::queue as types;

/// The configuration of a queue over the connection that is called `redis`.
pub(crate) fn config<'a>(redis: &'a str, from: &'a Config) -> types::Config<'a> {
    types::Config {
        redis,
        name: &from.name,
        key_separator: &from.key_separator,
        visibility_timeout_ms: from.visibility_timeout_ms,
        max_delivery_count: from.max_delivery_count,
        dead_letter_queue: from.dead_letter_queue.as_deref(),
        deduplication_ttl_ms: from.deduplication_ttl_ms,
        completed: log(from.completed),
        failed: log(from.failed),
        max_payload_bytes: from.max_payload_bytes,
        max_payload_depth: from.max_payload_depth,
        max_pending_length: from.max_pending_length,
        overload_policy: overload_policy(from.overload_policy),
        overload_block_timeout_ms: from.overload_block_timeout_ms,
        strict_envelope_decoding: from.strict_envelope_decoding,
        retry_budget_ms: from.retry_budget_ms,
        retry_initial_delay_ms: from.retry_initial_delay_ms,
        retry_max_delay_ms: from.retry_max_delay_ms,
        command_timeout_ms: from.command_timeout_ms,
        cluster: from.cluster,
        event_buffer: from.event_buffer,
    }
}

fn log(log: Log) -> types::Log {
    match log {
        Log::Off => types::Log::Off,
        Log::Capped(length) => types::Log::Capped(length),
        Log::Unbounded => types::Log::Unbounded,
    }
}

fn overload_policy(policy: OverloadPolicy) -> types::OverloadPolicy {
    match policy {
        OverloadPolicy::Raise => types::OverloadPolicy::Raise,
        OverloadPolicy::DropOldest => types::OverloadPolicy::DropOldest,
        OverloadPolicy::Block => types::OverloadPolicy::Block,
    }
}
