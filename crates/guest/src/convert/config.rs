//! The configuration, from the world.

use leaseline_core::Config;
use leaseline_core::config::{Log, OverloadPolicy};

use crate::bindings::types;

/// The configuration without the label of its connection.
pub(crate) fn config(from: types::Config) -> Config {
    let mut config = Config::new(from.name);
    config.key_separator = from.key_separator;
    config.visibility_timeout_ms = from.visibility_timeout_ms;
    config.max_delivery_count = from.max_delivery_count;
    config.dead_letter_queue = from.dead_letter_queue;
    config.deduplication_ttl_ms = from.deduplication_ttl_ms;
    config.completed = log(from.completed);
    config.failed = log(from.failed);
    config.max_payload_bytes = from.max_payload_bytes;
    config.max_payload_depth = from.max_payload_depth;
    config.max_pending_length = from.max_pending_length;
    config.overload_policy = overload_policy(from.overload_policy);
    config.overload_block_timeout_ms = from.overload_block_timeout_ms;
    config.strict_envelope_decoding = from.strict_envelope_decoding;
    config.retry_budget_ms = from.retry_budget_ms;
    config.retry_initial_delay_ms = from.retry_initial_delay_ms;
    config.retry_max_delay_ms = from.retry_max_delay_ms;
    config.command_timeout_ms = from.command_timeout_ms;
    config.cluster = from.cluster;
    config.event_buffer = from.event_buffer;
    config
}

fn log(log: types::Log) -> Log {
    match log {
        types::Log::Off => Log::Off,
        types::Log::Capped(length) => Log::Capped(length),
        types::Log::Unbounded => Log::Unbounded,
    }
}

fn overload_policy(policy: types::OverloadPolicy) -> OverloadPolicy {
    match policy {
        types::OverloadPolicy::Raise => OverloadPolicy::Raise,
        types::OverloadPolicy::DropOldest => OverloadPolicy::DropOldest,
        types::OverloadPolicy::Block => OverloadPolicy::Block,
    }
}
