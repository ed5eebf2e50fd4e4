use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::engines;
use crate::stage::{Stage, signal, until};

engines! {
    fn a_killed_worker_loses_no_message(stage: Stage) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        let lines = || -> Vec<String> {
            let text = fs::read_to_string(&file).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        };
        let all: BTreeSet<String> = (1..=1000).map(|n| n.to_string()).collect();
        let input: String = all.iter().map(|line| format!("{line}\n")).collect();
        stage.run_with(["publish", "--lines", "-"], input.as_bytes()).ok();

        let exec = format!("echo \"$(cat)\" >> {}", file.display());
        let work = ["work", "--exec", &exec, "--concurrency", "8", "--until-empty", "--visibility-timeout", "1.5"];
        let mut first = stage.command(work).spawn().unwrap();
        until("the work is well under way", || lines().len() >= 200);
        first.kill().unwrap();
        first.wait().unwrap();
        let before = lines().len();
        assert!(before < 1000, "killed in the middle");

        // --until-empty does not wait for the leases of others: they must have ended.
        std::thread::sleep(std::time::Duration::from_millis(1_600));
        stage.run(work).ok();
        assert_eq!(lines().into_iter().collect::<BTreeSet<_>>(), all);
        assert_eq!(stage.keys(), ["jobs::processing:lease_token_counter"]);
    }
}

#[test]
fn a_worker_that_is_started_before_its_server_waits_for_it() {
    let mut stage = Stage::new("native");
    stage.server.kill9();
    let mut child = stage
        .command(["work", "--exec", "cat", "--limit", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    lines.read_line(&mut said).unwrap();
    assert!(said.contains("trying again"), "{said}");
    stage.server.restart();
    stage.run(["publish", "hello"]).ok();
    let worked = child.wait_with_output().unwrap();
    assert_eq!(worked.stdout, b"hello");
}

#[test]
fn a_worker_that_waits_for_its_server_can_be_stopped() {
    let mut stage = Stage::new("native");
    stage.server.kill9();
    let mut child = stage
        .command(["work", "--exec", "cat"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
