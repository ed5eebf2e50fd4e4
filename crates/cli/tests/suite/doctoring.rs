use serde_json::{Value, json};

use crate::engines;
use crate::stage::Stage;

/// The finding of one check.
fn finding(stage: &Stage, check: &str) -> Option<Value> {
    let findings = stage.run(["doctor", "--json"]).objects();
    findings
        .into_iter()
        .find(|finding| finding["check"] == check)
}

engines! {
    fn a_look_changes_nothing_and_tells_the_worst_first(stage: Stage) {
        stage.run(["publish", "a", "b"]).ok();
        stage.claim();
        let before = stage.dump();
        let findings = stage.run(["doctor", "--json"]).ok().objects();
        let rank = |finding: &Value| ["problem", "warning", "note", "ok"].iter().position(|name| finding["verdict"] == *name).unwrap();
        assert!(findings.windows(2).all(|pair| rank(&pair[0]) <= rank(&pair[1])), "{findings:?}");
        assert!(findings.len() > 8);
        assert_eq!(stage.dump(), before);
        let text = stage.run(["doctor"]).ok();
        assert!(text.text().contains("ok       version: "), "{text:?}");
        assert!(text.text().contains("queue: jobs: 1 pending, 1 in processing, 0 delayed"), "{text:?}");
    }

    fn what_is_wrong_with_a_queue_is_found(stage: Stage) {
        stage.run(["publish", "a", "b", "c"]).ok();
        stage.claim();
        assert_eq!(finding(stage, "expired leases"), None);
        stage.expire_leases();
        assert_eq!(finding(stage, "expired leases").unwrap()["verdict"], "warning");
        stage.run(["claim", "--no-lease"]).ok();
        let stuck = finding(stage, "messages without a lease").unwrap();
        assert_eq!((&stuck["verdict"], &stuck["found"]), (&json!("warning"), &json!("1 of the newest 2 in processing")));
        let _: u8 = stage.redis(&[b"LPUSH", b"jobs::dlq", b"x"]);
        assert_eq!(finding(stage, "dead letters").unwrap()["found"], "1");
    }

    fn a_foreign_key_is_a_problem(stage: Stage) {
        let _: () = stage.redis(&[b"SET", b"jobs::processing:delays", b"foreign"]);
        let finished = stage.run(["doctor", "--json"]).ends(1);
        let worst = &finished.objects()[0];
        assert_eq!((&worst["check"], &worst["verdict"]), (&json!("keys"), &json!("problem")));
        assert!(worst["found"].as_str().unwrap().ends_with("jobs::processing:delays"), "{worst}");
    }
}

#[test]
fn a_token_counter_that_is_none_is_a_problem() {
    let stage = Stage::new("native");
    let counter = b"jobs::processing:lease_token_counter";
    let _: () = stage.redis(&[b"SET", counter, b"foreign"]);
    stage.run(["publish", "a"]).ok();
    let claim = stage.run(["claim"]).ends(1);
    assert!(claim.error().contains("leaseline doctor"), "{claim:?}");
    let found = finding(&stage, "token counter").unwrap();
    assert_eq!(found["verdict"], "problem");
}

#[test]
fn the_doctor_needs_a_server() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_leaseline"));
    command.arg("doctor").env_remove("LEASELINE_REDIS");
    let finished = crate::stage::finish(command, b"").ends(2);
    assert!(finished.error().contains("--redis"), "{finished:?}");
}
