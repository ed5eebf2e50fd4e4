//! Counts, lengths and durations.

use leaseline_core::Config;
use leaseline_core::config::Log;

use crate::{accepted, config, refused};

/// A setting, and how to make it zero.
type Change = (&'static str, fn(&mut Config));

/// A setting in milliseconds, its least value, and how to set it.
type DurationChange = (&'static str, u64, fn(&mut Config, u64));

#[test]
fn limits_are_not_zero() {
    let changes: [Change; 7] = [
        ("max_payload_bytes", |c| c.max_payload_bytes = Some(0)),
        ("max_payload_depth", |c| c.max_payload_depth = Some(0)),
        ("max_completed_length", |c| c.completed = Log::Capped(0)),
        ("max_failed_length", |c| c.failed = Log::Capped(0)),
        ("max_delivery_count", |c| c.max_delivery_count = Some(0)),
        ("visibility_timeout_ms", |c| {
            c.visibility_timeout_ms = Some(0)
        }),
        ("max_pending_length", |c| c.max_pending_length = Some(0)),
    ];
    for (name, change) in changes {
        refused(
            config(change),
            &[&format!("{name} is 0"), "use 1 or more, or leave it out"],
        );
    }
    // The first of several breaches is told.
    for pair in changes.windows(2) {
        let both = config(|config| {
            pair[1].1(config);
            pair[0].1(config);
        });
        refused(both, &[pair[0].0]);
    }
    accepted(config(|config| {
        config.max_payload_bytes = Some(1);
        config.max_payload_depth = Some(1);
        config.completed = Log::Capped(1);
        config.failed = Log::Unbounded;
        config.max_delivery_count = Some(1);
        config.visibility_timeout_ms = Some(1);
        config.max_pending_length = Some(1);
    }));
}

#[test]
fn limits_stay_exact_in_lua() {
    let most = 1 << 53;
    for (length, fits) in [(most, true), (most + 1, false), (u64::MAX, false)] {
        let capped = config(|config| config.failed = Log::Capped(length));
        let bounded = config(|config| config.max_pending_length = Some(length));
        for config in [capped, bounded] {
            if fits {
                accepted(config);
            } else {
                refused(config, &["use at most 9007199254740992"]);
            }
        }
    }
}

#[test]
fn the_depth_of_payloads_is_bounded() {
    accepted(config(|config| config.max_payload_depth = Some(100)));
    refused(
        config(|config| config.max_payload_depth = Some(101)),
        &["max_payload_depth is 101", "use at most 100"],
    );
}

#[test]
fn the_event_buffer_is_bounded() {
    accepted(config(|config| config.event_buffer = 0));
    accepted(config(|config| config.event_buffer = 65_536));
    refused(
        config(|config| config.event_buffer = 65_537),
        &["event_buffer is 65537", "use at most 65536"],
    );
}

#[test]
fn durations_are_in_their_ranges() {
    let most = 316_224_000_000;
    let changes: [DurationChange; 6] = [
        ("overload_block_timeout_ms", 0, |c, ms| {
            c.overload_block_timeout_ms = ms
        }),
        ("deduplication_ttl_ms", 1, |c, ms| {
            c.deduplication_ttl_ms = ms
        }),
        ("retry_budget_ms", 0, |c, ms| c.retry_budget_ms = ms),
        ("retry_max_delay_ms", 1, |c, ms| {
            c.retry_max_delay_ms = ms;
            c.retry_initial_delay_ms = ms.min(1);
        }),
        ("retry_initial_delay_ms", 1, |c, ms| {
            c.retry_initial_delay_ms = ms;
            c.retry_max_delay_ms = ms.max(1);
        }),
        ("visibility_timeout_ms", 1, |c, ms| {
            c.visibility_timeout_ms = Some(ms)
        }),
    ];
    for (name, least, change) in changes {
        accepted(config(|config| change(config, least)));
        if least > 0 {
            refused(
                config(|config| change(config, 0)),
                &[&format!("{name} is 0"), "use 1 or more"],
            );
        }
        if name != "retry_initial_delay_ms" {
            accepted(config(|config| change(config, most)));
            refused(
                config(|config| change(config, most + 1)),
                &[name, "use at most 316224000000 (ten years)"],
            );
        }
    }
    refused(
        config(|config| config.command_timeout_ms = 0),
        &["command_timeout_ms is 0", "use 1 or more"],
    );
}

#[test]
fn the_first_retry_delay_is_not_above_the_longest() {
    let delays = |initial, longest| {
        config(|config| {
            config.retry_initial_delay_ms = initial;
            config.retry_max_delay_ms = longest;
        })
    };
    refused(
        delays(6, 5),
        &["retry_initial_delay_ms is larger than retry_max_delay_ms"],
    );
    accepted(delays(5, 5));
}
