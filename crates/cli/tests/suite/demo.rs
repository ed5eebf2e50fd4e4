use std::time::{Duration, Instant};

use crate::engines;
use crate::stage::{finish, leaseline};

/// What the issue promises is shown.
const PROMISED: [&str; 8] = [
    "a message is published",
    "the duplicate is refused, one message is pending",
    "the reply of the claim is lost",
    "the claim is replayed, with the message and the token of the lost reply",
    "after the lease another worker gets the same message",
    "the stale acknowledgement is refused and changes nothing",
    "at its delivery limit a poison message is dead-lettered, not delivered",
    "redriven, it is delivered with a new delivery count",
];

#[test]
fn it_needs_nothing_and_is_quick() {
    for engine in ["component", "native"] {
        let started = Instant::now();
        let finished = finish(leaseline(["demo", "--engine", engine]), b"").ok();
        assert!(started.elapsed() < Duration::from_secs(10));
        for claim in PROMISED {
            assert!(
                finished.text().contains(&format!("  held    {claim}\n")),
                "{claim}"
            );
        }
        assert!(!finished.text().contains("FAILED"));
        assert_eq!(finished.stderr, "");
        assert!(
            finished
                .text()
                .lines()
                .last()
                .unwrap()
                .contains(&format!("engine: {engine}"))
        );
    }
}

#[test]
fn the_component_is_the_default_and_is_named() {
    let finished = finish(leaseline(["demo", "--json"]), b"").ok();
    let objects = finished.objects();
    let (end, checks) = objects.split_last().unwrap();
    assert!(checks.len() >= PROMISED.len());
    assert!(
        checks
            .iter()
            .all(|check| check["held"] == true && check["check"].is_string())
    );
    assert_eq!(
        (&end["engine"], &end["failed"]),
        (&"component".into(), &0.into())
    );
    assert!(end["component_bytes"].as_u64().unwrap() < 400_000);
    assert_eq!(end["component_sources"].as_str().unwrap().len(), 64);
}

engines! {
    fn on_a_real_server_it_leaves_nothing(stage: Stage) {
        stage.run(["publish", "somebody's"]).ok();
        let before = stage.dump();
        let started = Instant::now();
        let finished = stage.run(["demo"]).ok();
        assert!(started.elapsed() < Duration::from_secs(10));
        assert!(finished.text().contains(" on your Redis\n"));
        assert_eq!(stage.dump(), before);
    }
}
