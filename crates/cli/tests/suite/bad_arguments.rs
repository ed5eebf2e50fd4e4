//! Arguments that cannot be meant, and payloads that are too large: nothing is published.

use crate::engines;
use crate::refusal::refused;
use crate::stage::{Finished, Stage, finish, leaseline};

/// Each duration of a lease, with each bad row of the rule for durations that the queue's settings
/// share, and what is refused for being no interval of this lease.
#[test]
fn durations_of_leases() {
    const FLAGS: [(&[&str], &str); 5] = [
        (&["claim"], "--visibility-timeout"),
        (&["renew", "--lease", "-"], "--visibility-timeout"),
        (&["work", "--exec", "true"], "--visibility-timeout"),
        (&["work", "--exec", "true"], "--heartbeat"),
        (&["work", "--exec", "true"], "--max-lease-time"),
    ];
    for (command, flag) in FLAGS {
        for (value, text) in [
            ("NaN", "it must be finite"),
            ("inf", "it must be finite"),
            ("-inf", "it must be finite"),
            ("-1", "it must be non-negative"),
            ("-0.5", "it must be non-negative"),
            ("-0", "it must be above 0"),
            ("0", "it must be above 0"),
            ("316224000.1", "it cannot exceed 316224000 seconds"),
            ("true", "it must be a number"),
            ("30s", "it must be a number"),
            ("", "it must be a number"),
        ] {
            let given = format!("{flag}={value}");
            let mut arguments = command.to_vec();
            arguments.push(&given);
            let message = refused(&arguments, 2);
            assert!(message.contains(text), "{given}: {message}");
            assert!(
                message.contains("give seconds up to 316224000"),
                "{message}"
            );
        }
    }
}

/// The bounds of a heartbeat and of the longest time are those of its lease.
#[test]
fn durations_of_leases_that_do_not_go_together() {
    let stage = Stage::new("native");
    for (flag, text) in [
        ("--heartbeat=15", "is not below half the visibility timeout"),
        ("--max-lease-time=29.9", "is below the visibility timeout"),
    ] {
        let arguments = ["work", "--exec", "true", "--visibility-timeout=30", flag];
        let finished = stage.run(arguments).ends(2);
        assert!(finished.error().contains(text), "{finished:?}");
    }
}

#[test]
fn arguments() {
    for arguments in [
        &["claim", "--max", "0"][..],
        &["claim", "--wait", "NaN"],
        &["claim", "--wait=-1"],
        &["claim", "--visibility-timeout", "inf"],
        &["claim", "--visibility-timeout", "0"],
        &["claim", "--visibility-timeout", "1e12"],
        &["claim", "--no-lease", "--visibility-timeout", "1"],
        &["claim", "--no-lease", "--max-deliveries", "3"],
        &["claim", "--max-deliveries", "-1"],
        &["work"],
        &["work", "--exec", "true", "--concurrency", "0"],
        &["work", "--exec", "true", "--limit", "0"],
        &[
            "work",
            "--exec",
            "true",
            "--visibility-timeout",
            "2",
            "--heartbeat",
            "1",
        ],
        &["work", "--exec", "true", "--no-lease", "--heartbeat", "1"],
        &["work", "--exec", "true", "--no-lease", "--retry-delay", "1"],
        &["work", "--exec", "true", "--retry-delay", "soon"],
        &["publish"],
        &["publish", "-x"],
        &["publish", "a", "--batch", "0"],
        &["publish", "a", "--dedup-key", ""],
        &["publish", "a", "b", "--dedup-key", "k"],
        &["publish", "--lines", "-", "--dedup-key", "k"],
        &["publish", "--lines", "-", "--file", "-"],
        &["publish", "--lines", "/no/such/file"],
        &["publish", "--lines", "/"],
        &["publish", "a", "--file", "/no/such/file"],
        &["publish", "a", "--dedup-ttl", "1"],
        &["publish", "a", "--max-pending-length", "0"],
        &["publish", "a", "--pending-overload-policy", "block"],
        &[
            "publish",
            "a",
            "--dedup-key",
            "k",
            "--max-pending-length",
            "1",
            "--pending-overload-policy",
            "drop-oldest",
        ],
        &["redrive", "--max", "0"],
        &["stats", "--engine", "steam"],
        &["stats", "extra"],
        &["nonsense"],
        &["ack"],
        &["release"],
        &["release", "--lease", "-", "--delay", "-1"],
        &["release", "--lease", "-", "--delay", "316224001"],
    ] {
        let plain: Finished = finish(
            leaseline(["--engine", "native"].iter().chain(arguments)),
            b"",
        )
        .ends(2);
        let last = plain.stderr.lines().last().unwrap();
        assert!(last.starts_with("error: "), "{plain:?}");
        assert!(
            plain.stderr.lines().count() <= 2,
            "at most the note on the model before it: {plain:?}"
        );
    }
}

#[test]
fn a_mistake_beside_good_messages_publishes_none() {
    let stage = Stage::new("native");
    for arguments in [
        ["publish", "a", "--file", "/no/such/file"],
        ["publish", "a", "--lines", "/no/such/file"],
    ] {
        stage.run(arguments).ends(2);
    }
    assert!(stage.keys().is_empty());
}

engines! {
    fn payloads_over_the_limit(stage: Stage) {
        let long = vec![b'x'; 17 << 20];
        // Shorter, but every byte takes six when stored.
        let escaped = vec![1; 6 << 20];
        for input in [&long, &escaped] {
            for from in ["--file", "--lines"] {
                let finished = stage.run_with(["publish", from, "-", "--json"], input).ends(2);
                let error = finished.error_object();
                assert_eq!(error["kind"], "payload_too_large");
                assert_eq!(error["retry"], "no");
                assert!(error["message"].as_str().unwrap().contains("publish a reference to it"));
            }
        }
        assert!(stage.keys().is_empty());
    }
}
