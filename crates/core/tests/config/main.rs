//! The rules of a configuration: what each refuses, in which words, and what it lets through.

mod limits;
mod names;
mod policies;

use leaseline_core::config::{Log, OverloadPolicy};
use leaseline_core::{Config, ErrorKind, Retry};

/// A configuration of the queue `q` that is changed by `change`.
fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::new("q");
    change(&mut config);
    config
}

fn named(name: &str) -> Config {
    Config::new(name)
}

/// Refused, with these words in the message.
#[track_caller]
fn refused(config: Config, words: &[&str]) {
    let error = config.validate().expect_err("it is refused");
    assert_eq!(
        (error.kind, error.retry),
        (ErrorKind::Configuration, Retry::No)
    );
    for word in words {
        assert!(error.message.contains(word), "{word}: {}", error.message);
    }
    assert!(error.message.contains(';'), "a remedy: {}", error.message);
}

#[track_caller]
fn accepted(config: Config) {
    config.validate().expect("it is accepted");
}

#[test]
fn the_defaults_are_those_of_the_original() {
    let config = Config::new("q");
    accepted(config.clone());
    assert_eq!(config.key_separator, "::");
    assert_eq!(config.visibility_timeout_ms, Some(300_000));
    assert_eq!(config.max_delivery_count, Some(10));
    assert_eq!(config.keys().dead_letters, "q::dlq");
    assert_eq!(config.deduplication_ttl_ms, 3_600_000);
    assert_eq!((config.completed, config.failed), (Log::Off, Log::Off));
    assert_eq!(
        (config.max_payload_bytes, config.max_payload_depth),
        (None, None)
    );
    assert_eq!(config.max_pending_length, None);
    assert_eq!(config.overload_policy, OverloadPolicy::Raise);
    assert_eq!(config.overload_block_timeout_ms, 1_000);
    assert!(!config.strict_envelope_decoding);
    assert_eq!(config.retry_budget_ms, 120_000);
    assert_eq!(
        (config.retry_initial_delay_ms, config.retry_max_delay_ms),
        (10, 5_000)
    );
}
