//! Claims without lease whose replies are lost for good: nothing brings their messages back, and
//! only the process that claimed knows under which id.

use std::process::{Child, Stdio};
use std::time::Duration;

use leaseline_redis::testing::{Cut, Fault, Rule};
use serde_json::Value;

use crate::engines;
use crate::lost_replies::Line;
use crate::stage::{Finished, Stage, finish, signal, until};

/// A message in a queue whose server knows the claim script, so that the replies that will be
/// lost are those of claims.
fn publish(stage: &Stage) {
    stage.run(["publish", "a"]).ok();
    stage.run(["claim", "--no-lease"]).ok();
    let _: () = stage.redis(&[b"FLUSHALL"]);
    stage.run(["publish", "b"]).ok();
}

/// Loses the replies of all scripts.
fn lose_all(line: &Line<'_>) {
    line.proxy.inject(lost(1).and_every_later());
}

fn lost(call: u64) -> Rule {
    Rule::nth(call, Fault::LoseReply(Cut::Reset)).of(["EVALSHA", "EVAL"])
}

/// A worker that has claimed, cannot know what, and was asked to stop.
fn stopped_worker(stage: &Stage, line: &Line<'_>) -> Child {
    let child = stage
        .command(["work", "--no-lease", "--exec", "cat", "--json"])
        .env("LEASELINE_REDIS", line.proxy.url())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the message is claimed", || {
        stage.length("jobs::processing") == 1
    });
    signal(&child, "-TERM");
    child
}

engines! {
    fn a_claim_gives_back(stage: Stage) {
        publish(stage);
        let line = Line::new(stage);
        for call in [1, 2] {
            line.proxy.inject(lost(call));
        }
        let mut command = stage.command(["claim", "--no-lease"]);
        command.env("LEASELINE_REDIS", line.proxy.url());
        let finished = finish(command, b"").ends(1);
        assert!(!finished.error().contains("processing list"), "{finished:?}");
        assert_eq!(stage.keys(), ["jobs::pending"]);
        assert_eq!(stage.length("jobs::pending"), 1);
    }

    fn a_worker_gives_back(stage: Stage) {
        publish(stage);
        let line = Line::new(stage);
        lose_all(&line);
        let child = stopped_worker(stage, &line);
        // Its last claim has failed by now, and it tries to give back.
        std::thread::sleep(Duration::from_millis(1_500));
        line.proxy.clear();
        let finished = Finished::new(child.wait_with_output().unwrap()).ok();
        assert_eq!(finished.objects()[0]["acked"], 0);
        assert_eq!(stage.keys(), ["jobs::pending"]);
        assert_eq!(stage.length("jobs::pending"), 1);
    }
}

#[test]
fn what_cannot_be_given_back_is_told() {
    let stage = Stage::new("native");
    publish(&stage);
    let line = Line::new(&stage);
    lose_all(&line);
    let child = stopped_worker(&stage, &line);
    let finished = Finished::new(child.wait_with_output().unwrap()).ends(1);
    let last: Value = serde_json::from_str(finished.stderr.lines().last().unwrap()).unwrap();
    let warning = last["warning"].as_str().unwrap();
    assert!(warning.contains("processing list"), "{warning}");
    assert_eq!(finished.objects()[0]["acked"], 0);
}
