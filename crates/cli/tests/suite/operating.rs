use serde_json::json;

use crate::engines;
use crate::stage::until;

engines! {
    fn the_object_of_stats(stage: Stage) {
        stage.run(["publish", "a", "b", "c", "d"]).ok();
        stage.claim();
        let claimed = stage.claim();
        stage.run(["ack", "--max-completed-length", "9", "--lease", &claimed.to_string()]).ok();
        let claimed = stage.claim();
        stage.run(["fail", "--max-failed-length", "9", "--lease", &claimed.to_string()]).ok();
        let _: u8 = stage.redis(&[b"RPUSH", b"jobs::dlq", b"x", b"y"]);
        let expected = json!({ "queue": "jobs", "pending": 1, "processing": 1, "delayed": 0, "overdue": 0, "oldest_overdue_ms": null, "completed": 1, "failed": 1, "dlq": 2, "oldest_pending_ms": null });
        assert_eq!(stage.run(["stats", "--json"]).ok().objects(), [expected]);
        let lines = "queue       jobs\npending     1\nprocessing  1\ndelayed     0\ncompleted   1\nfailed      1\ndlq         2\noverdue     0\n";
        assert_eq!(stage.run(["stats"]).ok().text(), lines);
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
}
