use serde_json::json;

use crate::engines;
use crate::stage::{Stage, finish};

engines! {
    fn a_lease_can_be_settled_once(stage: Stage) {
        for (command, flag, log) in [
            ("ack", "--max-completed-length", "jobs::completed"),
            ("fail", "--max-failed-length", "jobs::failed"),
        ] {
            for payload in ["kept", "newest"] {
                stage.run(["publish", payload]).ok();
                let claimed = stage.claim();
                let lease = claimed["lease"].to_string();
                let done = stage.run([command, flag, "1", "--json", "--lease", &lease]).ok();
                assert_eq!(done.objects(), [json!({ "outcome": "done", "message_id": claimed["message_id"] })]);
                let stale = stage.run([command, flag, "1", "--json", "--lease", &lease]).ends(1);
                assert_eq!(stale.objects(), [json!({ "outcome": "stale", "message_id": claimed["message_id"] })]);
            }
            assert_eq!(stage.list(log), [b"newest"]);
        }
        assert_eq!(stage.length("jobs::processing"), 0);
    }

    fn the_lease_of_another_claim_is_stale(stage: Stage) {
        stage.run(["publish", "a"]).ok();
        let first = stage.claim();
        stage.expire_leases();
        let second = stage.claim();
        for command in ["ack", "fail", "renew", "release"] {
            let lease = first["lease"].to_string();
            let finished = stage.run([command, "--lease", &lease]).ends(1);
            assert!(finished.text().starts_with("stale "));
        }
        assert_eq!(stage.length("jobs::processing"), 1);
        stage.run(["ack", "--lease", &second["lease"].to_string()]).ok();
        assert_eq!(stage.keys(), ["jobs::processing:lease_token_counter"]);
    }

    fn a_batch_is_settled_in_order(stage: Stage) {
        let lines: Vec<String> = (0..250).map(|n| n.to_string()).collect();
        stage.run_with(["publish", "--lines", "-"], lines.join("\n").as_bytes()).ok();
        let claimed = stage.run(["claim", "--max", "250", "--json"]).ok();
        stage.run(["ack", "--lease", &claimed.objects()[3]["lease"].to_string()]).ok();
        // Whole lines of claim and bare leases, with blank lines between.
        let mut input = String::new();
        for (at, object) in claimed.objects().iter().enumerate() {
            let line = if at % 2 == 0 { object } else { &object["lease"] };
            input.push_str(&format!("{line}\n\n"));
        }
        let renewed = stage.run_with(["renew", "--lease", "-", "--json"], input.as_bytes()).ends(1);
        let settled = stage.run_with(["ack", "--lease", "-", "--json"], input.as_bytes()).ends(1);
        let mut expected = vec!["done"; 250];
        expected[3] = "stale";
        for finished in [renewed, settled] {
            assert_eq!(finished.field("outcome"), expected);
            assert_eq!(finished.field("message_id"), claimed.field("message_id"));
        }
        assert_eq!(stage.keys(), ["jobs::processing:lease_token_counter"]);
    }
}

#[test]
fn a_mistake_in_the_last_lease_changes_nothing() {
    let stage = Stage::new("native");
    stage.run(["publish", "a", "b"]).ok();
    let claimed = stage.run(["claim", "--max", "2", "--json"]).ok();
    let before = stage.dump();
    let input = [&claimed.stdout[..], b"{\"queue\":\"jobs\"}\n"].concat();
    for command in ["ack", "fail", "renew", "release"] {
        let finished = stage.run_with([command, "--lease", "-"], &input).ends(2);
        assert!(
            finished
                .error()
                .starts_with("the lease on line 3 is not valid: missing field")
        );
        assert_eq!(finished.text(), "");
    }
    assert_eq!(stage.dump(), before);
}

#[test]
fn the_queue_is_that_of_the_lease() {
    let stage = Stage::new("native");
    stage.run(["--queue", "other", "publish", "a"]).ok();
    let lease = stage
        .run(["--queue", "other", "claim", "--json"])
        .ok()
        .objects()
        .remove(0)["lease"]
        .to_string();
    let finished = stage
        .run(["--queue", "jobs", "ack", "--lease", &lease])
        .ends(2);
    assert_eq!(
        finished.error(),
        "the lease is of the queue 'other' and not of 'jobs'; correct --queue or LEASELINE_QUEUE, or leave them out"
    );
    let mut command = stage.command(["ack", "--lease", &lease]);
    command.env("LEASELINE_QUEUE", "jobs");
    assert!(
        finish(command, b"")
            .ends(2)
            .error()
            .contains("LEASELINE_QUEUE")
    );
    stage.run(["ack", "--lease", &lease]).ok();
    assert_eq!(stage.keys(), ["other::processing:lease_token_counter"]);
    let mixed = format!("{lease}\n{}", lease.replace("other", "third"));
    let finished = stage
        .run_with(["ack", "--lease", "-"], mixed.as_bytes())
        .ends(2);
    assert!(
        finished.error().starts_with(
            "the lease on line 2 is of the queue 'third' and an earlier one of 'other'"
        )
    );
}

#[test]
fn no_lease_is_status_3() {
    let stage = Stage::new("native");
    for input in ["", "\n \n"] {
        assert_eq!(
            stage
                .run_with(["ack", "--lease", "-"], input.as_bytes())
                .ends(3)
                .text(),
            ""
        );
    }
}

#[test]
fn renewing_moves_the_deadline() {
    let stage = Stage::new("native");
    stage.run(["publish", "a", "b"]).ok();
    let claimed = stage.claim();
    let finished = stage
        .run([
            "renew",
            "--visibility-timeout",
            "3600",
            "--json",
            "--lease",
            &claimed.to_string(),
        ])
        .ok();
    let object = finished.objects().remove(0);
    assert_eq!(
        (&object["outcome"], &object["message_id"]),
        (&json!("done"), &claimed["message_id"])
    );
    let deadline = |value: &serde_json::Value| value["deadline_ms"].as_u64().unwrap();
    assert!(deadline(&object) > deadline(&claimed["lease"]) + 3_200_000);

    let without = stage.run(["claim", "--no-lease", "--json"]).ok();
    let finished = stage
        .run_with(["renew", "--lease", "-"], &without.stdout)
        .ends(2);
    assert!(finished.error().contains("no deadline to renew"));
}

engines! {
    /// Every command is a process of its own, so nothing but Redis knows of the delay.
    fn a_released_message_comes_back_after_its_delay(stage: Stage) {
        stage.run(["publish", "a"]).ok();
        let first = stage.claim();
        let lease = first["lease"].to_string();
        let released = stage.run(["release", "--json", "--delay", "0.5", "--lease", &lease]).ok().objects().remove(0);
        let due = released["due_ms"].as_u64().unwrap();
        assert_eq!(released, json!({ "outcome": "done", "message_id": first["message_id"], "due_ms": due }));
        let stale = stage.run(["ack", "--json", "--lease", &lease]).ends(1);
        assert_eq!(stale.objects(), [json!({ "outcome": "stale", "message_id": first["message_id"] })]);

        let second = stage.run(["claim", "--wait", "20", "--json"]).ok().objects().remove(0);
        let time: Vec<String> = stage.redis(&[b"TIME"]);
        let [seconds, micros] = [0, 1].map(|at| time[at].parse::<u64>().unwrap());
        assert!(seconds * 1_000 + micros / 1_000 >= due);
        assert_eq!((&second["payload"], &second["delivery_count"]), (&json!("a"), &json!(2)));
        stage.run(["ack", "--lease", &second.to_string()]).ok();
        assert_eq!(stage.keys(), ["jobs::processing:lease_token_counter"]);
    }

    fn messages_are_released_in_a_batch(stage: Stage) {
        let lines: Vec<String> = (0..250).map(|n| n.to_string()).collect();
        stage.run_with(["publish", "--lines", "-"], lines.join("\n").as_bytes()).ok();
        let claimed = stage.run(["claim", "--max", "250", "--json"]).ok();
        let released = stage.run_with(["release", "--delay", "3600", "--lease", "-", "--json"], &claimed.stdout).ok();
        assert_eq!(released.field("message_id"), claimed.field("message_id"));
        stage.run(["claim"]).ends(3);
        let released = stage.run_with(["release", "--lease", "-"], &claimed.stdout).ends(1);
        assert!(released.text().starts_with("stale "));
    }
}

#[test]
fn a_message_without_lease_cannot_be_released() {
    let stage = Stage::new("native");
    stage.run(["publish", "a"]).ok();
    let claimed = stage.run(["claim", "--no-lease", "--json"]).ok();
    let before = stage.dump();
    let finished = stage
        .run_with(["release", "--lease", "-"], &claimed.stdout)
        .ends(2);
    assert!(finished.error().contains("cannot be released"));
    assert_eq!(stage.dump(), before);
}
