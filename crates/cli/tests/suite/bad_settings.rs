//! Settings that cannot be: refused by name, before anything is sent.

use std::fs;

use leaseline_redis::testing::free_port;

use crate::refusal::{SECRET, refused};
use crate::settings::Settings;
use crate::stage::{finish, leaseline};

/// Every setting with a value that it cannot have, and a command that has the flag.
const BAD: [(&str, &str, &str); 28] = [
    ("engine", "'steam'", "stats"),
    ("key_separator", "1", "stats"),
    ("dead_letter_queue", "['d']", "stats"),
    ("strict_envelope_decoding", "'maybe'", "stats"),
    ("retry_budget", "-1", "stats"),
    ("retry_initial_delay", "0", "stats"),
    ("retry_max_delay", "nan", "stats"),
    ("command_timeout", "'soon'", "stats"),
    ("visibility_timeout", "inf", "claim"),
    ("no_lease", "3", "claim"),
    ("max_deliveries", "-1", "claim"),
    ("heartbeat", "0.0", "work"),
    ("max_lease_time", "0", "work"),
    ("concurrency", "1025", "work"),
    ("retry_delay", "-1", "work"),
    ("drain_timeout", "nan", "work"),
    ("max_completed_length", "-1", "ack"),
    ("max_failed_length", "0.5", "fail"),
    ("dedup_ttl", "316224001", "publish"),
    ("batch", "0", "publish"),
    ("max_payload_bytes", "0", "publish"),
    ("max_payload_depth", "101", "publish"),
    ("max_pending_length", "0", "publish"),
    ("pending_overload_policy", "'wait'", "publish"),
    ("pending_overload_block_timeout", "-0.5", "publish"),
    ("redis", "6379", "stats"),
    ("queue", "{ name = 'q' }", "stats"),
    ("component", "true", "stats"),
];

#[test]
fn a_bad_value_in_the_file_is_refused_by_name() {
    for (key, value, _) in BAD {
        let settings = Settings::new(&format!("# settings\n\n{key} = {value}\n"));
        // Whatever the command needs of the file.
        for command in [&["stats"][..], &["serve", "--port", "0"], &["demo"]] {
            let mut arguments = vec!["--config", settings.path()];
            arguments.extend(command);
            let message = refused(&arguments, 2);
            let start = format!(
                "cannot use the configuration file {}: line 3: {key}: ",
                settings.path()
            );
            assert!(message.starts_with(&start), "{message}");
            assert!(message.ends_with("; correct it"), "{message}");
        }
    }
}

#[test]
fn a_bad_value_in_the_environment_is_refused_by_name() {
    for (key, value, command) in BAD {
        let value = value.trim_matches('\'');
        // Any text can be one of these.
        if [
            "redis",
            "queue",
            "component",
            "key_separator",
            "dead_letter_queue",
        ]
        .contains(&key)
        {
            continue;
        }
        let variable = format!("LEASELINE_{}", key.to_uppercase());
        let needed = match command {
            "work" => &["--exec", "true"][..],
            "publish" => &["x"],
            "ack" | "fail" => &["--lease", "{}"],
            _ => &[],
        };
        let mut command = leaseline([command]);
        command.args(needed).env(&variable, value);
        let finished = finish(command, b"").ends(2);
        assert!(finished.error().contains(value), "{finished:?}");
        let place = format!("the value is that of {variable}");
        assert!(finished.error().ends_with(&place), "{finished:?}");
    }
    // A flag that counts more is to blame for itself.
    let mut command = leaseline(["claim", "--visibility-timeout", "x"]);
    command.env("LEASELINE_VISIBILITY_TIMEOUT", "x");
    let finished = finish(command, b"").ends(2);
    assert!(!finished.error().contains("LEASELINE_"), "{finished:?}");
}

#[test]
fn settings_that_contradict_each_other_are_refused_with_the_file() {
    for (file, command, text) in [
        (
            "pending_overload_policy = 'block'",
            "publish",
            "needs max_pending_length",
        ),
        (
            "pending_overload_policy = 'drop-oldest'\nmax_pending_length = 1\nmax_deliveries = 3",
            "publish",
            "drop-oldest removes messages",
        ),
        (
            "pending_overload_policy = 'drop-oldest'\nmax_pending_length = 1\ndead_letter_queue = 'd'",
            "publish",
            "dead_letter_queue needs max_deliveries",
        ),
        ("dead_letter_queue = 'jobs::pending'", "claim", "own keys"),
        (
            "dead_letter_queue = ''",
            "stats",
            "dead_letter_queue is blank",
        ),
        (
            "dead_letter_queue = 'd'\nmax_delivery_count = 0",
            "claim",
            "needs max_deliveries",
        ),
        ("key_separator = ' '", "stats", "separator is blank"),
        ("queue = 'a::b'", "stats", "contains the key separator"),
        (
            "retry_initial_delay = 9",
            "stats",
            "larger than retry_max_delay;",
        ),
    ] {
        let nowhere = format!(
            "redis = 'redis://:{SECRET}@127.0.0.1:{}'\n{file}",
            free_port()
        );
        let settings = Settings::new(&nowhere);
        let mut arguments = vec!["--config", settings.path(), command];
        arguments.extend((command == "publish").then_some("x"));
        let message = refused(&arguments, 2);
        assert!(message.contains(text), "{message}");
        let place = format!("; some settings are from {}", settings.path());
        assert!(message.ends_with(&place), "{message}");
    }
}

#[test]
fn a_deduplicated_publish_does_not_drop_the_oldest() {
    let file = "pending_overload_policy = 'drop-oldest'\nmax_pending_length = 1";
    let settings = Settings::new(file);
    let url = format!("redis://127.0.0.1:{}", free_port());
    let arguments = [
        "--redis",
        &url,
        "--config",
        settings.path(),
        "publish",
        "x",
        "--dedup-key",
        "k",
    ];
    let message = refused(&arguments, 2);
    assert!(
        message.contains("publish without a key, or use raise or block"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_none_is_refused() {
    for (file, text) in [
        (
            "visiblity_timeout = 3",
            "line 1: unknown field `visiblity_timeout`, expected one of `redis`",
        ),
        ("\n[queue]\nname = 'q'", "line 2: queue: "),
        (
            "queue = 'a'\nqueue = 'b'",
            "line 2: not TOML, duplicate key",
        ),
        ("queue =", "line 1: not TOML, "),
        ("{\"queue\": \"q\"}", "line 1: not TOML, "),
        ("redis = redis://:s3cret@h", "line 1: not TOML, "),
        ("engine = 'redis://:s3cret@h'", "line 1: engine: "),
        (
            "redis = 'redis://:s3cret@h'\nbatch = ''",
            "line 2: batch: a string stands where a number",
        ),
    ] {
        let settings = Settings::new(file);
        let message = refused(&["--config", settings.path(), "stats"], 2);
        assert!(message.contains(text), "{message}");
        assert!(message.contains(settings.path()), "{message}");
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let missing = format!("{path}/missing");
    for (path, text) in [(&*missing, "No such file"), (path, "directory")] {
        let message = refused(&["--config", path, "stats"], 2);
        assert!(
            message.contains(text) && message.contains(path),
            "{message}"
        );
        assert!(message.ends_with("correct --config"), "{message}");
    }
    let bytes = Settings::new("");
    fs::write(&bytes.path, b"queue = '\xff'").unwrap();
    assert!(refused(&["--config", bytes.path(), "stats"], 2).contains("UTF-8"));
    fs::write(&bytes.path, " ".repeat((1 << 20) + 1)).unwrap();
    assert!(refused(&["--config", bytes.path(), "stats"], 2).contains("too large"));
}
