//! Settings from flags, the environment and a file: which of them counts, and what they do.

use std::process::Command;

use serde_json::json;

use crate::settings::Settings;
use crate::stage::{Finished, Stage, finish, leaseline};

/// A run of `arguments` with a file of settings and an environment.
fn run(stage: &Stage, file: &str, environment: &[(&str, &str)], arguments: &[&str]) -> Finished {
    let settings = Settings::new(file);
    let mut command: Command = stage.command(["--config", settings.path()]);
    command.args(arguments).envs(environment.iter().copied());
    finish(command, b"")
}

/// How long a claimed message is held, to the second, by the server's clock.
fn held_for(stage: &Stage, claimed: &Finished) -> u64 {
    let deadline = claimed.objects()[0]["lease"]["deadline_ms"]
        .as_u64()
        .unwrap();
    let (seconds, _): (u64, u64) = stage.redis(&[b"TIME"]);
    (deadline / 1000).saturating_sub(seconds)
}

#[test]
fn a_flag_counts_more_than_the_environment_and_that_more_than_the_file() {
    let stage = Stage::new("native");
    let file = "queue = 'from-file'\nvisibility_timeout = 1000";
    let variables = [
        ("LEASELINE_QUEUE", "from-environment"),
        ("LEASELINE_VISIBILITY_TIMEOUT", "2000"),
    ];
    let flags = ["--queue", "from-flag", "--visibility-timeout", "3000"];
    for (file, variables, flags, queue, seconds) in [
        ("", &[][..], &[][..], "jobs", 300),
        (file, &[], &[], "from-file", 1000),
        (file, &variables, &[], "from-environment", 2000),
        (file, &variables, &flags, "from-flag", 3000),
        (file, &[], &flags, "from-flag", 3000),
        ("", &variables, &flags, "from-flag", 3000),
    ] {
        let publish = ["--queue", queue, "publish", "x"];
        stage.run(publish).ok();
        let mut arguments = vec!["claim", "--json"];
        arguments.extend(flags);
        let claimed = run(&stage, file, variables, &arguments).ok();
        assert_eq!(claimed.objects()[0]["lease"]["queue"], queue);
        let held = held_for(&stage, &claimed);
        assert!(
            (seconds - 20..=seconds).contains(&held),
            "{held} of {seconds}"
        );
    }
}

#[test]
fn the_environment_may_name_the_file() {
    let stage = Stage::new("native");
    let settings = Settings::new("queue = 'named'");
    let mut command = stage.command(["publish", "x"]);
    command.env("LEASELINE_CONFIG", settings.path());
    finish(command, b"").ok();
    assert_eq!(stage.keys(), ["named::pending"]);
}

#[test]
fn the_file_says_where_redis_is() {
    let stage = Stage::new("native");
    let settings = Settings::new(&format!(
        "redis = '{}'\nengine = 'native'\ncomponent = '/not/read'\nqueue = 'q'",
        stage.server.url()
    ));
    finish(
        leaseline(["--config", settings.path(), "publish", "x"]),
        b"",
    )
    .ok();
    assert_eq!(stage.keys(), ["q::pending"]);
}

#[test]
fn settings_of_publishing_take_effect() {
    let stage = Stage::new("native");
    let file = "
        key_separator = '/'
        dedup_ttl = 7.5
        batch = 1
        max_payload_bytes = 3
        max_pending_length = 2
        pending_overload_policy = 'block'
        pending_overload_block_timeout = 0
    ";
    let publish = |payloads: &[&str]| {
        let mut arguments = vec!["publish", "--json"];
        arguments.extend(payloads);
        run(&stage, file, &[], &arguments)
    };
    publish(&["a", "--dedup-key", "k"]).ok();
    assert_eq!(stage.keys(), ["jobs/deduplication/k", "jobs/pending"]);
    let left: u64 = stage.redis(&[b"PTTL", b"jobs/deduplication/k"]);
    assert!((1..=7_500).contains(&left));

    let long = publish(&["1234"]).ends(2);
    assert_eq!(long.error_object()["kind"], "payload_too_large");
    publish(&["b"]).ok();
    // In batches of one, so that the second is sent and the third is not.
    let full = publish(&["c", "d"]).ends(1);
    assert_eq!(full.field("outcome"), ["full"]);
    let message = full.error_object()["message"].to_string();
    assert!(message.contains("was full for 0 ms"), "{message}");
    assert!(
        message.contains("nothing after message 1 was sent"),
        "{message}"
    );

    let drop_oldest =
        "max_pending_length = 2\nkey_separator = '/'\npending_overload_policy = 'drop_oldest'";
    run(&stage, drop_oldest, &[], &["publish", "c"]).ok();
    assert_eq!(stage.length("jobs/pending"), 2);
}

#[test]
fn settings_of_claiming_take_effect() {
    let stage = Stage::new("native");
    let limited = "max_deliveries = 1\ndead_letter_queue = 'graveyard'";
    stage.run(["publish", "a"]).ok();
    run(&stage, limited, &[], &["claim"]).ok();
    stage.expire_leases();
    run(&stage, limited, &[], &["claim"]).ends(3);
    assert_eq!(stage.list("graveyard"), [b"a"]);

    // Redrive and stats look at the same list.
    let stats = run(&stage, limited, &[], &["stats", "--json"]).ok();
    assert_eq!(stats.objects()[0]["dlq"], 1);
    run(&stage, limited, &[], &["redrive"]).ok();
    assert_eq!(stage.length("graveyard"), 0);

    let claimed = run(&stage, "no_lease = true", &[], &["claim", "--json"]).ok();
    assert_eq!(claimed.objects()[0]["lease"]["token"], json!(null));

    let _: u64 = stage.redis(&[b"LPUSH", b"jobs::pending", b"foreign"]);
    let strict = run(
        &stage,
        "strict_envelope_decoding = true",
        &[],
        &["claim", "--json"],
    );
    assert_eq!(strict.ends(1).error_object()["kind"], "malformed_message");
}

#[test]
fn settings_of_settling_take_effect() {
    let stage = Stage::new("native");
    let file = "max_completed_length = 1\nmax_failed_length = 1\nvisibility_timeout = 5000\nconcurrency = 2\nheartbeat = 7";
    for command in ["ack", "ack", "fail"] {
        stage.run(["publish", command]).ok();
        let lease = stage.claim().to_string();
        let renewed = run(&stage, file, &[], &["renew", "--json", "--lease", &lease]).ok();
        assert!(renewed.objects()[0]["deadline_ms"].as_u64().is_some());
        run(&stage, file, &[], &[command, "--lease", &lease]).ok();
    }
    assert_eq!(stage.list("jobs::completed"), [b"ack"]);
    assert_eq!(stage.list("jobs::failed"), [b"fail"]);
    stage.run(["publish", "1", "2"]).ok();
    run(
        &stage,
        file,
        &[],
        &["work", "--until-empty", "--exec", "cat"],
    )
    .ok();
    assert_eq!(stage.length("jobs::completed"), 1);
    // A flag takes the log away again.
    stage.run(["publish", "3"]).ok();
    let arguments = [
        "work",
        "--until-empty",
        "--exec",
        "cat",
        "--max-completed-length",
        "0",
    ];
    run(&stage, file, &[], &arguments).ok();
    assert_ne!(stage.list("jobs::completed"), [b"3"]);
}

#[test]
fn who_takes_leases_away_overrules_what_counts_less() {
    let stage = Stage::new("native");
    let timeout = ("LEASELINE_VISIBILITY_TIMEOUT", "5");
    let leased = "visibility_timeout = 9\nmax_deliveries = 3\ndead_letter_queue = 'd'\nheartbeat = 2\nmax_lease_time = 99";
    for (file, variables, flags, has_lease) in [
        (leased, &[][..], &["--no-lease"][..], false),
        (leased, &[("LEASELINE_NO_LEASE", "true")], &[], false),
        (leased, &[("LEASELINE_NO_LEASE", "false")], &[], true),
        (leased, &[], &["--no-lease=false"], true),
        ("no_lease = true", &[], &[], false),
        ("no_lease = true", &[timeout], &[], true),
        ("no_lease = true", &[], &["--visibility-timeout", "1"], true),
        ("no_lease = true", &[], &["--no-lease=false"], true),
        ("", &[timeout], &["--no-lease"], false),
    ] {
        let _: () = stage.redis(&[b"FLUSHALL"]);
        stage.run(["publish", "x"]).ok();
        let mut arguments = vec!["claim", "--json"];
        arguments.extend(flags);
        let claimed = run(&stage, file, variables, &arguments).ok();
        assert_eq!(
            claimed.objects()[0]["lease"]["token"].is_string(),
            has_lease,
            "{file} {flags:?}"
        );
        let mut work = vec!["work", "--exec", "true", "--until-empty"];
        work.extend(flags);
        run(&stage, file, variables, &work).ok();
    }
    let no_lease = ("LEASELINE_NO_LEASE", "true");
    for (file, variables, flags, text) in [
        ("", &[timeout, no_lease][..], &[][..], "exclude each other"),
        (
            "",
            &[],
            &["--no-lease", "--visibility-timeout", "1"],
            "exclude each other",
        ),
        (
            "no_lease = true\nvisibility_timeout = 9",
            &[],
            &[],
            "exclude each other",
        ),
        (
            "no_lease = true\nmax_deliveries = 3",
            &[],
            &[],
            "needs a visibility timeout",
        ),
        (
            "no_lease = true",
            &[],
            &["--max-deliveries", "3"],
            "needs a visibility timeout",
        ),
        (
            "no_lease = true",
            &[],
            &["--heartbeat", "1"],
            "a heartbeat renews leases",
        ),
        (
            "no_lease = true\nmax_lease_time = 999",
            &[],
            &[],
            "max_lease_time limits leases",
        ),
        (
            "no_lease = true\nheartbeat = 1",
            &[],
            &[],
            "a heartbeat renews leases",
        ),
    ] {
        let mut arguments = vec!["work", "--exec", "true", "--until-empty"];
        arguments.extend(flags);
        let finished = run(&stage, file, variables, &arguments).ends(2);
        assert!(finished.error().contains(text), "{finished:?}");
    }
}

#[test]
fn the_example_in_the_readme_is_accepted_as_a_whole() {
    let stage = Stage::new("native");
    let readme = include_str!("../../../../README.md");
    let (_, rest) = readme.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    run(&stage, example, &[], &["publish", "--json-payload", "{}"]).ok();
    let arguments = ["work", "--until-empty", "--exec", "cat"];
    let worked = run(&stage, example, &[], &arguments).ok();
    assert_eq!(worked.text(), "{}");
    assert_eq!(stage.list("jobs::completed"), [b"{}"]);
    // And it leaves no setting out, but the component that only some engines use.
    let unknown = run(&stage, "nonsense = 1", &[], &["stats"]).ends(2);
    let (_, known) = unknown.error().split_once("expected one of ").unwrap();
    for name in known.split('`').skip(1).step_by(2) {
        let aliases = ["component", "no_lease", "max_delivery_count"];
        let is_set = example
            .lines()
            .any(|line| line.starts_with(&format!("{name} = ")));
        assert!(is_set || aliases.contains(&name), "{name}");
    }
}
