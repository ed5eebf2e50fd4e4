use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::engines;
use crate::stage::Stage;

engines! {
    fn the_object_of_a_claim(stage: Stage) {
        let id = stage.run(["publish", "--json", "hello"]).ok().field("message_id").remove(0);
        let finished = stage.run(["claim", "--json"]).ok();
        let mut object = finished.objects().remove(0);
        let lease = object["lease"].take();
        assert_eq!(object, json!({
            "message_id": id, "payload": "hello", "delivery_count": 1, "replayed": false, "lease": null,
        }));
        let deadline: f64 = stage.redis(&[b"ZSCORE", b"jobs::processing:lease_deadlines", &stage.list("jobs::processing")[0]]);
        assert_eq!(lease["queue"], "jobs");
        assert_eq!(lease["token"], "1");
        assert_eq!(lease["deadline_ms"].as_f64(), Some(deadline));
        assert!(lease["stored_base64"].is_string());
        assert_eq!(lease.as_object().unwrap().len(), 4);
    }

    fn an_empty_queue_is_status_3(stage: Stage) {
        let finished = stage.run(["claim"]).ends(3);
        assert_eq!(finished.text(), "");
        let finished = stage.run(["claim", "--json"]).ends(3);
        assert_eq!((finished.text(), finished.stderr.as_str()), ("", "{\"note\":\"nothing to claim\"}\n"));
        assert!(stage.keys().is_empty());
    }

    fn more_than_one_call_can_take(stage: Stage) {
        let lines: Vec<String> = (0..230).map(|n| n.to_string()).collect();
        stage.run_with(["publish", "--lines", "-"], lines.join("\n").as_bytes()).ok();
        let claimed = stage.run(["claim", "--max", "220", "--json"]).ok();
        assert_eq!(claimed.field("payload"), lines[..220]);
        assert_eq!(stage.run(["claim", "--max", "220", "--json"]).ok().field("payload"), lines[220..]);
    }

    fn a_malformed_message_hides_no_other(stage: Stage) {
        stage.run(["publish", "before"]).ok();
        let _: u8 = stage.redis(&[b"LPUSH", b"jobs::pending", b"\x1eRMQ1:nonsense"]);
        stage.run(["publish", "after"]).ok();
        let finished = stage.run(["claim", "--max", "9", "--json"]).ends(1);
        assert_eq!(finished.field("payload"), ["before", "after"]);
        let error = finished.error_object();
        assert_eq!(error["kind"], "malformed_message");
        assert_eq!(stage.length("jobs::processing"), 3);
        // Its lease comes with the error, so that it can be settled.
        let lease = error["lease"].to_string();
        let settled = stage.run(["fail", "--lease", &lease, "--json"]).ok();
        assert_eq!(settled.field("outcome"), ["done"]);
        assert_eq!(stage.length("jobs::processing"), 2);
    }

    fn a_malformed_message_without_lease_can_be_settled(stage: Stage) {
        for settle in ["ack", "fail"] {
            let _: u8 = stage.redis(&[b"LPUSH", b"jobs::pending", b"\x1eRMQ1:nonsense"]);
            let finished = stage.run(["claim", "--no-lease", "--json"]).ends(1);
            let error = finished.error_object();
            assert_eq!((&error["kind"], &error["lease"]["token"]), (&json!("malformed_message"), &Value::Null));
            // The whole line on standard error goes back, as a line of claims does.
            let settled = stage.run_with([settle, "--lease", "-", "--json"], error.to_string().as_bytes()).ok();
            assert_eq!(settled.field("outcome"), ["done"]);
            assert!(stage.keys().is_empty());
        }
    }

    fn people_are_told_how_to_settle_a_malformed_message(stage: Stage) {
        for flags in [&[][..], &["--no-lease"]] {
            let _: u8 = stage.redis(&[b"LPUSH", b"jobs::pending", b"\x1eRMQ1:nonsense"]);
            let finished = stage.run(["claim"].iter().chain(flags)).ends(1);
            let (_, lease) = finished.error().split_once("; to settle it: leaseline fail --lease '").unwrap();
            stage.run(["fail", "--lease", lease.strip_suffix('\'').unwrap()]).ok();
            assert_eq!(stage.length("jobs::processing"), 0);
        }
    }
}

#[test]
fn waiting_ends_with_a_message_or_with_the_wait() {
    let stage = Stage::new("native");
    let started = Instant::now();
    stage.run(["claim", "--wait", "0.4"]).ends(3);
    assert!(started.elapsed() >= Duration::from_millis(400));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            stage.run(["publish", "late"]).ok();
        });
        let finished = stage
            .run(["claim", "--wait", "20", "--max", "5", "--json"])
            .ok();
        assert_eq!(finished.field("payload"), ["late"]);
    });
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn without_leases_there_is_no_token() {
    let stage = Stage::new("native");
    stage.run(["publish", "a"]).ok();
    let claimed = stage
        .run(["claim", "--no-lease", "--json"])
        .ok()
        .objects()
        .remove(0);
    assert_eq!(
        (&claimed["lease"]["token"], &claimed["lease"]["deadline_ms"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(claimed["delivery_count"], 0);
    let acked = stage
        .run_with(
            ["ack", "--json", "--lease", "-"],
            claimed.to_string().as_bytes(),
        )
        .ok();
    assert_eq!(acked.field("outcome"), ["done"]);
    assert!(stage.keys().is_empty());
}

#[test]
fn the_visibility_timeout_counts_from_now() {
    let stage = Stage::new("native");
    stage.run(["publish", "a"]).ok();
    let claimed = stage
        .run(["claim", "--visibility-timeout", "0.05", "--json"])
        .ok()
        .objects()
        .remove(0);
    let seconds: Vec<u64> = stage.redis(&[b"TIME"]);
    let left =
        claimed["lease"]["deadline_ms"].as_u64().unwrap() as i64 - (seconds[0] * 1000) as i64;
    assert!(left < 1_100);
    std::thread::sleep(Duration::from_millis(60));
    let again = stage.claim();
    assert_eq!(
        (&again["delivery_count"], &again["lease"]["token"]),
        (&json!(2), &json!("2"))
    );
}

#[test]
fn people_get_a_lease_that_goes_back() {
    let stage = Stage::new("native");
    stage.run(["publish", "a\u{1b}[31m\nb"]).ok();
    let finished = stage.run(["claim"]).ok();
    assert!(!finished.text().contains('\u{1b}'));
    assert!(finished.text().contains("payload  a\\u{1b}[31m\\nb\n"));
    let lease = finished
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("lease    "))
        .unwrap();
    stage.run(["ack", "--lease", lease]).ok();
    assert_eq!(stage.length("jobs::processing"), 0);
}
