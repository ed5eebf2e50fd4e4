//! What a publish may do.

use std::time::Duration;

use clap::{Args, ValueEnum};
use leaseline::Config;
use leaseline::config::OverloadPolicy;
use serde::Deserialize;

use super::{File, Given, take};
use crate::duration::{milliseconds, positive_seconds, seconds};
use crate::settings::given::Source;

/// What a publish may do.
#[derive(Args)]
pub(crate) struct Publishing {
    /// The deduplication window [default: 3600]
    #[arg(long, value_name = "SECONDS", env = "LEASELINE_DEDUP_TTL", value_parser = positive_seconds)]
    dedup_ttl: Option<Duration>,

    /// Messages that are sent in one go, at most [default: 500]
    #[arg(long, value_name = "N", env = "LEASELINE_BATCH", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch: Option<u32>,

    /// The largest payload, in bytes
    #[arg(long, value_name = "N", env = "LEASELINE_MAX_PAYLOAD_BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    max_payload_bytes: Option<u64>,

    /// How deep a JSON payload may be: its object is at depth 0, every value in an object or array
    /// one deeper [default: 100]
    #[arg(long, value_name = "N", env = "LEASELINE_MAX_PAYLOAD_DEPTH", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_payload_depth: Option<u32>,

    /// The most messages that may be pending
    #[arg(long, value_name = "N", env = "LEASELINE_MAX_PENDING_LENGTH", value_parser = clap::value_parser!(u64).range(1..))]
    max_pending_length: Option<u64>,

    /// What happens at that limit: refuse, remove the oldest message for good, or wait for room
    /// [default: raise]
    #[arg(long, value_name = "POLICY", env = "LEASELINE_PENDING_OVERLOAD_POLICY")]
    pending_overload_policy: Option<Policy>,

    /// How long block waits [default: 1]
    #[arg(long, value_name = "SECONDS", env = "LEASELINE_PENDING_OVERLOAD_BLOCK_TIMEOUT", value_parser = seconds)]
    pending_overload_block_timeout: Option<Duration>,

    /// What the file says about claims.
    #[arg(skip)]
    max_deliveries: Option<u32>,
}

/// What happens to a publish when the queue is full.
#[derive(Clone, Copy, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Policy {
    Raise,
    #[value(alias = "drop_oldest")]
    #[serde(alias = "drop_oldest")]
    DropOldest,
    Block,
}

impl Publishing {
    /// Takes from the file what is not given.
    pub(crate) fn fill(&mut self, file: &File) {
        take(&mut self.dedup_ttl, &file.dedup_ttl);
        take(&mut self.batch, &file.batch);
        take(&mut self.max_payload_bytes, &file.max_payload_bytes);
        take(&mut self.max_payload_depth, &file.max_payload_depth);
        take(&mut self.max_pending_length, &file.max_pending_length);
        take(
            &mut self.pending_overload_policy,
            &file.pending_overload_policy,
        );
        take(
            &mut self.pending_overload_block_timeout,
            &file.pending_overload_block_timeout,
        );
        take(&mut self.max_deliveries, &file.max_deliveries);
    }

    /// Whether the deduplication window is on this command line, and so meant for this publish.
    pub(crate) fn asks_for_a_window(given: &Given<'_>) -> bool {
        given.source("dedup_ttl", false) == Some(Source::CommandLine)
    }

    /// Whether a full queue loses its oldest message.
    pub(crate) fn drops_oldest(&self) -> bool {
        matches!(self.pending_overload_policy, Some(Policy::DropOldest))
    }

    /// Messages that are sent in one go, at most.
    pub(crate) fn batch(&self) -> usize {
        self.batch.unwrap_or(500) as usize
    }

    /// Puts the choices into a configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.max_payload_bytes = self.max_payload_bytes;
        config.max_payload_depth = self.max_payload_depth;
        config.max_pending_length = self.max_pending_length;
        if let Some(policy) = self.pending_overload_policy {
            config.overload_policy = match policy {
                Policy::Raise => OverloadPolicy::Raise,
                Policy::DropOldest => OverloadPolicy::DropOldest,
                Policy::Block => OverloadPolicy::Block,
            };
        }
        if let Some(timeout) = self.pending_overload_block_timeout {
            config.overload_block_timeout_ms = milliseconds(timeout);
        }
        if let Some(ttl) = self.dedup_ttl {
            config.deduplication_ttl_ms = milliseconds(ttl);
        }
        // Publishing looks at no delivery limit. One that was set forbids drop-oldest; the default
        // must not.
        match self.max_deliveries {
            Some(limit) => config.max_delivery_count = (limit > 0).then_some(limit),
            None if self.drops_oldest() => config.max_delivery_count = None,
            None => {}
        }
    }
}
