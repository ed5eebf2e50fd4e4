use serde_json::json;

use crate::engines;
use crate::stage::{Stage, finish, until};

engines! {
    fn the_object_of_stats(stage: Stage) {
        stage.run(["publish", "a", "b", "c", "d"]).ok();
        stage.claim();
        let claimed = stage.claim();
        stage.run(["ack", "--max-completed-length", "9", "--lease", &claimed.to_string()]).ok();
        let claimed = stage.claim();
        stage.run(["fail", "--max-failed-length", "9", "--lease", &claimed.to_string()]).ok();
        let _: u8 = stage.redis(&[b"RPUSH", b"jobs::dlq", b"x", b"y"]);
        let told = stage.run(["stats", "--json"]).ok().objects().remove(0);
        let end = &told["next_lease_end_ms"];
        assert!(end.as_u64().is_some_and(|end| end > 0 && end <= 300_000), "{told}");
        let expected = json!({ "queue": "jobs", "pending": 1, "processing": 1, "delayed": 0, "overdue": 0, "oldest_overdue_ms": null, "next_lease_end_ms": end, "last_lease_end_ms": end, "completed": 1, "failed": 1, "dlq": 2, "oldest_pending_ms": null });
        assert_eq!(told, expected);
        let lines = "queue       jobs\npending     1\nprocessing  1\ndelayed     0\ncompleted   1\nfailed      1\ndlq         2\noverdue     0\n";
        let shown = stage.run(["stats"]).ok();
        let ends = shown.text().strip_prefix(lines).unwrap_or_else(|| panic!("{shown:?}"));
        assert!(ends.starts_with("leases end  in ") && ends.ends_with(" ms the last\n"), "{shown:?}");
    }

    fn stats_tell_what_is_delayed_and_what_is_overdue(stage: Stage) {
        stage.run(["publish", "a", "b"]).ok();
        let later = stage.claim();
        stage.run(["release", "--delay", "3600", "--lease", &later.to_string()]).ok();
        stage.run(["claim", "--visibility-timeout", "0.001"]).ok();
        until("the lease is over", || stage.run(["stats", "--json"]).ok().objects()[0]["overdue"] == 1);
        let stats = stage.run(["stats", "--json"]).ok().objects().remove(0);
        assert_eq!((&stats["processing"], &stats["delayed"]), (&json!(1), &json!(1)));
        assert!(stats["oldest_overdue_ms"].is_u64());
        let text = stage.run(["stats"]).ok();
        assert!(text.text().contains("\noverdue     1, the oldest for "), "{text:?}");
    }

    fn dead_letters_are_redriven_oldest_first(stage: Stage) {
        let _: u8 = stage.redis(&[b"LPUSH", b"jobs::dlq", b"a", b"b", b"c"]);
        assert_eq!(stage.run(["redrive", "--max", "1", "--json"]).ok().objects(), [json!({ "moved": 1 })]);
        let claimed = stage.claim();
        assert_eq!((&claimed["payload"], &claimed["delivery_count"]), (&json!("a"), &json!(1)));
        assert_eq!(stage.run(["redrive"]).ok().text(), "moved 2\n");
        assert_eq!(stage.run(["redrive", "--json"]).ok().objects(), [json!({ "moved": 0 })]);
        assert_eq!(stage.run(["claim", "--max", "2", "--json"]).ok().field("payload"), ["b", "c"]);
    }

    fn messages_are_looked_at_and_stay(stage: Stage) {
        stage.run(["publish", "a", "b", "c"]).ok();
        let claimed = stage.claim();
        let before = stage.dump();
        let pending = stage.run(["peek", "--json"]).ok();
        assert_eq!(pending.field("payload"), ["c", "b"]);
        assert_eq!(pending.objects()[0].as_object().unwrap().len(), 3, "{pending:?}");
        assert_eq!(stage.run(["peek", "--max", "1", "--json"]).ok().field("payload"), ["c"]);
        let held = stage.run(["peek", "--from", "processing", "--json"]).ok().objects().remove(0);
        assert_eq!((&held["payload"], &held["delivery_count"], &held["delayed"]), (&json!("a"), &json!(1), &json!(false)));
        assert_eq!(held["deadline_ms"], claimed["lease"]["deadline_ms"]);
        assert!(held["remaining_ms"].as_i64().unwrap() > 0);
        let text = stage.run(["peek", "--from", "processing"]).ok();
        assert!(text.text().contains(", claimed 1 times\npayload  a\nlease    ends in "), "{text:?}");
        assert_eq!(stage.run(["peek", "--from", "dlq"]).ends(3).text(), "");
        assert_eq!(stage.dump(), before);
    }

    fn logs_and_dead_letters_are_shown_as_they_are(stage: Stage) {
        for list in ["completed", "failed", "dlq"] {
            let key = format!("jobs::{list}");
            let _: u8 = stage.redis(&[b"LPUSH", key.as_bytes(), b"old", b"\xff"]);
            let shown = stage.run(["peek", "--from", list, "--json"]).ok().objects();
            assert_eq!(shown[0], json!({ "message_id": null, "payload_base64": "/w==", "delivery_count": 0 }));
            assert_eq!(shown[1], json!({ "message_id": null, "payload": "old", "delivery_count": 0 }));
        }
    }

    fn what_cannot_be_read_does_not_hide_the_others(stage: Stage) {
        let _: u8 = stage.redis(&[b"LPUSH", b"jobs::pending", b"a", b"\x1eRMQ1:{broken", b"c"]);
        let shown = stage.run(["peek", "--json"]).ends(1);
        assert_eq!(shown.field("payload"), ["c", "a"]);
        assert!(shown.stderr.contains("\"malformed_message\"") && shown.stderr.contains("; claim it"), "{shown:?}");
    }

    fn a_purge_needs_a_yes_and_spares_what_is_held(stage: Stage) {
        stage.run(["publish", "a", "b", "c"]).ok();
        stage.claim();
        let before = stage.dump();
        assert!(stage.run(["purge", "--from", "pending"]).ends(2).error().contains("--yes"));
        assert!(stage.run(["purge", "--from", "processing", "--yes"]).ends(2).error().contains("cannot be purged"));
        stage.run(["purge", "--yes"]).ends(2);
        assert_eq!(stage.dump(), before);
        assert_eq!(stage.run(["purge", "--from", "pending", "--yes", "--json"]).ok().objects(), [json!({ "purged": 2 })]);
        assert_eq!(stage.run(["purge", "--from", "pending", "--yes"]).ok().text(), "purged 0\n");
        let _: u8 = stage.redis(&[b"LPUSH", b"jobs::dlq", b"x"]);
        assert_eq!(stage.run(["purge", "--from", "dlq", "--yes"]).ok().text(), "purged 1\n");
        let stats = stage.run(["stats", "--json"]).ok().objects().remove(0);
        assert_eq!((&stats["pending"], &stats["processing"], &stats["dlq"]), (&json!(0), &json!(1), &json!(0)));
    }
}

/// The rights that the README names.
#[test]
fn a_user_of_its_own_needs_few_rights() {
    let stage = Stage::new("native");
    let rights = include_str!("../../../../README.md");
    let start = rights
        .find("ACL SETUSER worker")
        .expect("the README's rights");
    let (rights, _) = rights[start..].split_once("\n```").expect("their end");
    let words: Vec<&[u8]> = rights
        .split_whitespace()
        .filter(|word| *word != "\\")
        .map(str::as_bytes)
        .collect();
    let _: String = stage.redis(&words);
    let url = stage
        .server
        .url()
        .replace("redis://", "redis://worker:password@");
    let run = |arguments: &[&str]| {
        let mut command = stage.command(arguments);
        command.env("LEASELINE_REDIS", &url);
        finish(command, b"")
    };
    run(&["publish", "a", "b", "c"]).ok();
    run(&["publish", "--dedup-key", "k", "d"]).ok();
    run(&["publish", "--delay", "60", "e"]).ok();
    run(&[
        "work",
        "--exec",
        "exit 1",
        "--limit",
        "2",
        "--max-failed-length",
        "9",
    ])
    .ok();
    let claimed = run(&["claim", "--max", "2", "--json"]).ok();
    let lines: Vec<&str> = claimed.text().lines().collect();
    for step in ["renew", "release", "stats", "redrive", "doctor"] {
        let lease = ["renew", "release"].contains(&step);
        let arguments: &[&str] = match lease {
            true => &[step, "--lease", lines[0]],
            false => &[step],
        };
        run(arguments).ok();
    }
    run(&["peek", "--from", "processing"]).ok();
    run(&["ack", "--lease", lines[1]]).ok();
    run(&["purge", "--from", "failed", "--yes"]).ok();
    let denied: Vec<redis::Value> = stage.redis(&[b"ACL", b"LOG"]);
    assert!(denied.is_empty(), "{denied:?}");
}
