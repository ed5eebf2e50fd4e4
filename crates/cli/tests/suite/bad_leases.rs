//! Leases that are none, and more of them than anybody means.

use std::fs;

use crate::refusal::refused;
use crate::stage::{Finished, Stage, leaseline};

#[test]
fn leases() {
    for lease in [
        "",
        "nonsense",
        "{",
        "[]",
        "{}",
        r#"{"queue":"jobs","stored_base64":"!","token":"1","deadline_ms":1}"#,
        r#"{"queue":"jobs","stored_base64":"eA==","token":1,"deadline_ms":1}"#,
        r#"{"queue":"jobs","stored_base64":"eA==","token":"x","deadline_ms":1}"#,
        r#"{"queue":"jobs","stored_base64":"eA==","deadline_ms":1}"#,
    ] {
        for command in ["ack", "fail", "renew", "release"] {
            let message = refused(&[command, "--lease", lease], 2);
            assert!(message.starts_with("the lease is not valid: "), "{message}");
            assert!(message.ends_with("give it as `claim --json` printed it"));
        }
    }
    let deep = "[".repeat(100_000);
    assert!(refused(&["ack", "--lease", &deep], 2).contains("recursion limit"));
}

#[test]
fn leases_without_end() {
    let zeros = fs::File::open("/dev/zero").unwrap();
    let output = leaseline(["ack", "--lease", "-"])
        .stdin(zeros)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let finished = Finished::new(output);
    assert!(
        finished
            .error()
            .starts_with("line 1 of standard input is longer than any lease")
    );
}

#[test]
fn the_largest_message_goes_back_in_its_whole_line() {
    let stage = Stage::new("native");
    // Almost what a stored message may have.
    let payload = vec![b'x'; (16 << 20) - 8192];
    stage.run_with(["publish", "--file", "-"], &payload).ok();
    let claimed = stage.run(["claim", "--json"]).ok();
    stage
        .run_with(["ack", "--lease", "-"], &claimed.stdout)
        .ok();
    assert_eq!(stage.length("jobs::processing"), 0);
}
