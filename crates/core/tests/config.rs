//! The rules of a configuration: what each refuses, in which words, and what it lets through.

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

#[test]
fn a_name_is_not_blank() {
    // The last two are blank to Python only.
    for name in ["", " ", "\t\n", "\u{85}", "\u{2028}", "\x1c", "\x1f "] {
        refused(named(name), &["the queue name is blank", "give it a name"]);
    }
    // Everything else is accepted as it is.
    for name in [" a ", "a\nb", "\x1b[31m", "\u{200b}", "'\"", "ключ"] {
        accepted(named(name));
    }
}

#[test]
fn a_name_has_no_nul() {
    refused(named("a\0b"), &["NUL", "use another name"]);
}

#[test]
fn a_separator_is_not_blank() {
    for separator in ["", " ", "\x1d"] {
        refused(
            config(|config| config.key_separator = separator.into()),
            &["the key separator is blank", "'::'"],
        );
    }
    accepted(config(|config| config.key_separator = "\0".into()));
}

#[test]
fn a_name_does_not_contain_the_separator() {
    refused(
        named("q::deduplication"),
        &["contains the key separator '::'"],
    );
    refused(
        config(|config| config.key_separator = "q".into()),
        &["contains the key separator 'q'"],
    );
    accepted(named("a:b"));
}

#[test]
fn names_are_checked_in_order() {
    refused(named("\0"), &["NUL"]);
    let mut both = named("a\0b");
    both.key_separator = " ".into();
    refused(both, &["NUL"]);
    let mut and_limits = named("a::b");
    and_limits.max_payload_bytes = Some(0);
    refused(and_limits, &["separator"]);
}

#[test]
fn limits_are_not_zero() {
    let changes: [(&str, fn(&mut Config)); 7] = [
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
fn block_and_drop_oldest_need_a_limit() {
    for (policy, name) in [
        (OverloadPolicy::Block, "block"),
        (OverloadPolicy::DropOldest, "drop_oldest"),
    ] {
        refused(
            config(|config| {
                config.overload_policy = policy;
                config.max_delivery_count = None;
            }),
            &[name, "needs max_pending_length", "set it, or use raise"],
        );
        accepted(config(|config| {
            config.overload_policy = policy;
            config.max_delivery_count = None;
            config.max_pending_length = Some(1);
        }));
    }
    accepted(config(|config| config.max_pending_length = Some(1)));
}

#[test]
fn drop_oldest_and_a_delivery_limit_exclude_each_other() {
    let dropping = |limit| {
        config(|config| {
            config.overload_policy = OverloadPolicy::DropOldest;
            config.max_pending_length = Some(1);
            config.max_delivery_count = limit;
        })
    };
    refused(
        dropping(Some(10)),
        &["drop_oldest", "remove max_delivery_count"],
    );
    accepted(dropping(None));
    accepted(config(|config| {
        config.overload_policy = OverloadPolicy::Block;
        config.max_pending_length = Some(1);
    }));
}

#[test]
fn a_delivery_limit_needs_a_visibility_timeout() {
    refused(
        config(|config| config.visibility_timeout_ms = None),
        &["max_delivery_count needs a visibility timeout"],
    );
    accepted(config(|config| {
        config.visibility_timeout_ms = None;
        config.max_delivery_count = None;
    }));
}

#[test]
fn a_dead_letter_queue_has_a_name_and_needs_a_delivery_limit() {
    for name in ["", " ", "\x1e"] {
        refused(
            config(|config| config.dead_letter_queue = Some(name.into())),
            &["dead_letter_queue is blank", "name a list, or leave it out"],
        );
    }
    // The original lets an empty name without a limit through.
    refused(
        config(|config| {
            config.dead_letter_queue = Some(String::new());
            config.max_delivery_count = None;
        }),
        &["dead_letter_queue is blank"],
    );
    refused(
        config(|config| {
            config.dead_letter_queue = Some("graveyard".into());
            config.max_delivery_count = None;
        }),
        &["dead_letter_queue needs max_delivery_count", "set it"],
    );
    let own = config(|config| config.dead_letter_queue = Some("graveyard".into()));
    assert_eq!(own.keys().dead_letters, "graveyard");
    accepted(own);
}

#[test]
fn a_dead_letter_queue_is_no_other_key_of_the_queue() {
    for key in [
        "q::pending",
        "q::processing",
        "q::completed",
        "q::failed",
        "q::deduplication::order-1",
        "q::processing:lease_deadlines",
        "q::processing:lease_token_counter",
        "q::processing:claim_result:0",
        "q::processing:dead_letter_placeholder",
        "q::pending:publish_operation_result:0",
    ] {
        refused(
            config(|config| config.dead_letter_queue = Some(key.into())),
            &[&format!("'{key}'"), "own keys", "name another list"],
        );
    }
    for key in ["q::dlq", "q::dead_letter", "q::pending2", "other::pending"] {
        accepted(config(|config| config.dead_letter_queue = Some(key.into())));
    }
}

#[test]
fn durations_are_in_their_ranges() {
    let most = 316_224_000_000;
    let changes: [(&str, u64, fn(&mut Config, u64)); 6] = [
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

#[test]
fn a_cluster_needs_a_hash_tag_and_one_slot() {
    let clustered = |name: &str| {
        let mut config = named(name);
        config.cluster = true;
        config
    };
    for name in ["{x}", "pre{x}post", "{{x}}", "}{x}", "{ }"] {
        accepted(clustered(name));
    }
    for name in ["q", "{}", "{x", "{{}x}", "{{}}"] {
        refused(clustered(name), &["put a hash tag into the name"]);
    }
    // The first pair is empty, so Redis hashes each key as a whole.
    refused(
        clustered("{}{x}"),
        &["has another one than", "one hash tag"],
    );

    let mut elsewhere = clustered("{x}");
    elsewhere.dead_letter_queue = Some("{y}dead".into());
    refused(elsewhere.clone(), &["'{y}dead'"]);
    elsewhere.dead_letter_queue = Some("dead{x}".into());
    accepted(elsewhere);
    accepted(named("q"));
}
