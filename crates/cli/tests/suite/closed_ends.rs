//! Output that nobody reads or that has no room, input that is not there, and help.

use std::fs::OpenOptions;
use std::process::Stdio;

use crate::stage::{Finished, Stage, finish, leaseline};

#[test]
fn whoever_goes_away_from_a_claim_is_told_what_is_claimed() {
    let stage = Stage::new("native");
    stage
        .run_with(["publish", "--lines", "-"], "x\n".repeat(3000).as_bytes())
        .ok();
    let mut child = stage
        .command(["claim", "--max", "3000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let finished = Finished::new(child.wait_with_output().unwrap()).ends(1);
    assert!(
        finished
            .stderr
            .contains("100 messages were claimed by then"),
        "{finished:?}"
    );
    assert!(
        finished.stderr.contains("when their leases expire"),
        "{finished:?}"
    );
}

#[test]
fn a_closed_pipe_is_no_reason_to_complain() {
    let stage = Stage::new("native");
    let mut child = stage
        .command(["stats"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let finished = Finished::new(child.wait_with_output().unwrap());
    assert_eq!((finished.status, finished.stderr.as_str()), (1, ""));
}

#[test]
fn what_was_published_is_told_where_the_results_cannot_be() {
    let stage = Stage::new("native");
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let child = stage
        .command(["publish", "a", "b", "c", "--batch", "2"])
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let finished = Finished::new(child.wait_with_output().unwrap()).ends(1);
    let told = "up to message 2: published 2, duplicate 0; nothing after it was sent";
    assert!(finished.stderr.contains(told), "{finished:?}");
    assert_eq!(stage.length("jobs::pending"), 2);
}

#[test]
fn a_full_disk_is_an_error() {
    let stage = Stage::new("native");
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let child = stage
        .command(["stats"])
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let finished = Finished::new(child.wait_with_output().unwrap()).ends(1);
    assert!(
        finished
            .error()
            .starts_with("cannot write to standard output")
    );
}

#[test]
fn a_full_disk_is_an_error_for_help_too() {
    for arguments in [&["help"][..], &["--help"], &["work", "-h"], &["--version"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = leaseline(arguments).stdout(full).output().unwrap();
        let finished = Finished::new(output).ends(1);
        assert!(
            finished
                .error()
                .starts_with("cannot write to standard output")
        );
    }
}

#[test]
fn a_closed_standard_error_is_survived() {
    let mut child = leaseline(["claim", "--engine", "native"])
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn help_shows_no_secret() {
    for arguments in [
        vec!["--help"],
        vec!["publish", "--help"],
        vec!["work", "-h"],
    ] {
        let mut command = leaseline(&arguments);
        command.env("LEASELINE_REDIS", "redis://u:s3cret@h");
        let finished = finish(command, b"").ok();
        assert!(finished.text().contains("LEASELINE_REDIS"));
        assert!(!finished.text().contains("s3cret"));
    }
    let finished = finish(leaseline([""; 0]), b"").ends(2);
    assert!(finished.stderr.contains("Usage: leaseline"));
    assert!(
        finish(leaseline(["--version"]), b"")
            .ok()
            .text()
            .starts_with("leaseline 0.")
    );
}

#[test]
fn global_flags_may_stand_anywhere() {
    let stage = Stage::new("native");
    for arguments in [
        ["--json", "--queue", "q", "stats"],
        ["stats", "--json", "--queue", "q"],
        ["--queue", "q", "stats", "--json"],
    ] {
        assert_eq!(stage.run(arguments).ok().field("queue"), ["q"]);
    }
    let mut command = stage.command(["stats", "--json"]);
    command.env("LEASELINE_QUEUE", "from-environment");
    assert_eq!(
        finish(command, b"").ok().field("queue"),
        ["from-environment"]
    );
}

#[test]
fn without_redis_the_model_is_used_and_it_says_so() {
    for engine in ["native", "component"] {
        let finished = finish(leaseline(["publish", "a", "--engine", engine]), b"").ok();
        assert!(finished.text().starts_with("published "));
        assert!(
            finished
                .stderr
                .starts_with("warning: no Redis: using a model in this process")
        );
        assert_eq!(finished.stderr.lines().count(), 1);
        let asked = ["publish", "a", "--engine", engine, "--redis", "embedded:"];
        assert_eq!(finish(leaseline(asked), b"").ok().stderr, "");
    }
}
