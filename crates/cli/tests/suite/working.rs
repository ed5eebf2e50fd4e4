use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::engines;
use crate::stage::{Finished, Stage, finish};

/// Runs a command over everything that is pending.
fn work(stage: &Stage, exec: &str, flags: &[&str]) -> Finished {
    stage.run(
        ["work", "--until-empty", "--exec", exec]
            .iter()
            .chain(flags),
    )
}

/// The lines of a file, sorted.
fn sorted(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

engines! {
    fn every_line_is_worked_on_once(stage: Stage) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        let mut lines: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
        stage.run_with(["publish", "--lines", "-"], lines.join("\n").as_bytes()).ok();
        let exec = format!("echo \"$(cat)\" >> {}", file.display());
        let finished = work(stage, &exec, &["--concurrency", "8"]).ok();
        assert_eq!(finished.stderr, "acked 300, failed 0\n");
        lines.sort();
        assert_eq!(sorted(&file), lines);
        assert_eq!(stage.keys(), ["jobs::processing:lease_token_counter"]);
    }

    fn the_command_gets_the_message_and_its_circumstances(stage: Stage) {
        let id = stage.run(["publish", "--json", "two\nlines\n"]).ok().field("message_id").remove(0);
        stage.claim();
        stage.expire_leases();
        let exec = "cat; echo $LEASELINE_MESSAGE_ID $LEASELINE_TOKEN $LEASELINE_DELIVERY_COUNT";
        let finished = work(stage, exec, &[]).ok();
        assert_eq!(finished.text(), format!("two\nlines\n{id} 2 2\n"));
    }

    fn any_other_status_fails_the_message(stage: Stage) {
        stage.run(["publish", "0", "3", "255", "0"]).ok();
        let exec = "read -r x; exit $x";
        let finished = work(stage, exec, &["--json", "--max-failed-length", "9", "--max-completed-length", "1"]).ok();
        assert_eq!(finished.objects(), [json!({ "acked": 2, "failed": 2, "released": 0, "stale": 0, "unsettled": 0 })]);
        let warnings: Vec<&str> = finished.stderr.lines().collect();
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("ended with 3") && warnings[1].contains("ended with 255"));
        assert_eq!(stage.list("jobs::failed"), [&b"255"[..], b"3"]);
        assert_eq!(stage.list("jobs::completed"), [b"0"]);
    }

    fn a_killed_command_leaves_its_message_to_its_lease(stage: Stage) {
        stage.run(["publish", "whole shell", "a part of it"]).ok();
        // A shutdown, the kernel's out-of-memory killer, a crash.
        let exec = "case $(cat) in whole*) kill -9 $$;; *) sh -c 'kill -TERM $$'; exit $?;; esac";
        let finished = work(stage, exec, &["--json"]).ends(1);
        assert_eq!(finished.objects(), [json!({ "acked": 0, "failed": 0, "released": 0, "stale": 0, "unsettled": 2 })]);
        assert!(finished.stderr.contains("by signal 9") && finished.stderr.contains("by signal 15"));
        stage.expire_leases();
        assert_eq!(work(stage, "true", &[]).ok().stderr, "acked 2, failed 0\n");
    }
}

engines! {
    fn a_failed_command_gets_its_message_again(stage: Stage) {
        stage.run(["publish", "poison", "shy"]).ok();
        let exec = "read -r x; test $x = shy -a $LEASELINE_DELIVERY_COUNT = 2";
        let flags = ["--retry-delay", "0", "--max-deliveries", "3", "--json"];
        let finished = work(stage, exec, &flags).ok();
        assert_eq!(finished.objects(), [json!({ "acked": 1, "failed": 0, "released": 4, "stale": 0, "unsettled": 0 })]);
        assert_eq!(finished.stderr.matches("a handler failed, and is tried again later").count(), 4);
        assert_eq!(stage.list("jobs::dlq"), [b"poison"]);
        assert_eq!(stage.keys(), ["jobs::dlq", "jobs::processing:lease_token_counter"]);
    }

    fn a_retry_is_not_made_before_its_delay_is_over(stage: Stage) {
        stage.run(["publish", "a"]).ok();
        let finished = work(stage, "exit 1", &["--retry-delay", "3600"]).ok();
        assert!(finished.stderr.ends_with("acked 0, failed 0, released 1\n"));
        assert_eq!(work(stage, "true", &[]).ok().stderr, "acked 0, failed 0\n");
        stage.expire_leases();
        assert_eq!(work(stage, "true", &[]).ok().stderr, "acked 1, failed 0\n");
    }
}

#[test]
fn a_command_need_not_read_the_message() {
    let stage = Stage::new("native");
    stage
        .run_with(["publish", "--file", "-"], &vec![b'x'; 1 << 20])
        .ok();
    assert_eq!(work(&stage, "true", &[]).ok().stderr, "acked 1, failed 0\n");
}

#[test]
fn any_bytes_reach_the_command() {
    let stage = Stage::new("native");
    let payload: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    stage.run_with(["publish", "--file", "-"], &payload).ok();
    assert_eq!(work(&stage, "cat", &[]).ok().stdout, payload);
}

#[test]
fn with_json_standard_output_is_ours() {
    let stage = Stage::new("native");
    stage.run(["publish", "a"]).ok();
    let finished = work(&stage, "cat", &["--json"]).ok();
    assert_eq!(finished.objects().len(), 1);
    assert_eq!(finished.stderr, "a");
}

#[test]
fn the_limit_is_never_passed() {
    let stage = Stage::new("native");
    stage
        .run_with(["publish", "--lines", "-"], "x\n".repeat(20).as_bytes())
        .ok();
    let finished = stage
        .run([
            "work",
            "--exec",
            "true",
            "--limit",
            "7",
            "--concurrency",
            "4",
        ])
        .ok();
    assert_eq!(finished.stderr, "acked 7, failed 0\n");
    assert_eq!(
        (
            stage.length("jobs::pending"),
            stage.length("jobs::processing")
        ),
        (13, 0)
    );
}

#[test]
fn commands_run_side_by_side() {
    let stage = Stage::new("native");
    stage.run(["publish", "a", "b", "c", "d"]).ok();
    let started = Instant::now();
    work(&stage, "sleep 1", &["--concurrency", "4"]).ok();
    assert!(started.elapsed() < Duration::from_millis(3_500));
}

#[test]
fn a_heartbeat_keeps_the_lease_of_a_slow_command() {
    let stage = Stage::new("native");
    stage.run(["publish", "slow"]).ok();
    // The rival looks for expired leases until the command ends.
    let finished = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            stage.run(["claim", "--wait", "2"]).ends(3);
        });
        work(&stage, "sleep 3", &["--visibility-timeout", "0.9"])
    });
    assert_eq!(finished.ok().stderr, "acked 1, failed 0\n");
}

#[test]
fn a_command_is_ended_when_its_lease_has_been_kept_for_its_longest_time() {
    let stage = Stage::new("native");
    stage.run(["publish", "stuck"]).ok();
    let flags = [
        "--visibility-timeout",
        "0.4",
        "--heartbeat",
        "0.1",
        "--max-lease-time",
        "1",
        "--limit",
        "1",
        "--json",
    ];
    let began = Instant::now();
    let finished = work(&stage, "sleep 600", &flags).ends(1);
    assert!(began.elapsed() >= Duration::from_secs(1), "ended too early");
    assert_eq!(finished.objects()[0]["unsettled"], 1);
    assert!(
        finished.stderr.contains("its lease was over"),
        "{finished:?}"
    );
    // One that ends well when it is asked to is acknowledged.
    let finished = work(
        &stage,
        "trap 'exit 0' TERM; while :; do sleep 0.05; done",
        &flags,
    )
    .ok();
    assert_eq!(finished.objects()[0]["acked"], 1);
    let flags = ["--visibility-timeout", "9", "--max-lease-time", "8"];
    let short = work(&stage, "true", &flags).ends(2);
    assert!(
        short.stderr.contains("below the visibility timeout"),
        "{short:?}"
    );
}

#[test]
fn a_poison_message_is_dead_lettered() {
    let stage = Stage::new("native");
    stage.run(["publish", "poison"]).ok();
    for _ in 0..2 {
        stage.run(["claim", "--max-deliveries", "2"]).ok();
        stage.expire_leases();
    }
    let finished = work(&stage, "cat", &["--max-deliveries", "2"]).ok();
    assert_eq!(
        (finished.text(), finished.stderr.as_str()),
        ("", "acked 0, failed 0\n")
    );
    assert_eq!(stage.list("jobs::dlq"), [b"poison"]);
}

#[test]
fn a_command_that_cannot_be_run_loses_no_message() {
    let stage = Stage::new("native");
    stage.run(["publish", "a", "b", "c"]).ok();
    // Past the first look, which sees only plain first words.
    for exec in ["X=1 no-such-command", "cat | /dev/null"] {
        let finished = stage.run(["work", "--exec", exec, "--json"]).ends(1);
        assert_eq!(
            finished.objects(),
            [json!({ "acked": 0, "failed": 0, "released": 0, "stale": 0, "unsettled": 1 })]
        );
        let last: serde_json::Value =
            serde_json::from_str(finished.stderr.lines().last().unwrap()).unwrap();
        assert!(
            last["error"]["message"]
                .as_str()
                .unwrap()
                .starts_with("the command of --exec could not be run")
        );
        stage.expire_leases();
    }
    assert_eq!(work(&stage, "true", &[]).ok().stderr, "acked 3, failed 0\n");
}

engines! {
    /// The command breaks the queue, so that the next claim fails for good.
    fn what_was_done_is_told_before_the_error(stage: Stage) {
        let exec = format!("redis-cli -p {} set jobs::pending foreign >&2", stage.server.port());
        for flags in [&[][..], &["--no-lease"]] {
            stage.run(["publish", "a"]).ok();
            let finished = stage.run(["work", "--exec", &exec].iter().chain(flags)).ends(1);
            let lines: Vec<&str> = finished.stderr.lines().collect();
            assert_eq!(lines[..2], ["OK", "acked 1, failed 0"], "{finished:?}");
            assert!(lines[2].starts_with("error: Redis answered WRONGTYPE") && lines.len() == 3, "{finished:?}");
            let _: u8 = stage.redis(&[b"DEL", b"jobs::pending"]);
        }
        // On one pipe, to see the order.
        stage.run(["publish", "a"]).ok();
        let command = stage.command(["work", "--json", "--exec", &exec]);
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(command.get_program()).args(command.get_args());
        shell.env("LEASELINE_REDIS", stage.server.url());
        let finished = finish(shell, b"").ends(1);
        let lines: Vec<&str> = finished.text().lines().collect();
        assert!(lines[1].starts_with("{\"acked\":1,"), "{finished:?}");
        assert!(lines[2].starts_with("{\"error\":"), "{finished:?}");
    }
}

#[test]
fn a_malformed_message_stays_under_its_lease() {
    let stage = Stage::new("native");
    let _: u8 = stage.redis(&[b"LPUSH", b"jobs::pending", b"\x1eRMQ1:nonsense"]);
    stage.run(["publish", "good"]).ok();
    let finished = work(&stage, "true", &[]).ends(1);
    assert!(
        finished
            .stderr
            .ends_with("acked 1, failed 0, unsettled 1\n")
    );
    assert_eq!(stage.length("jobs::processing"), 1);
}

#[test]
fn a_message_id_of_another_producer_may_be_anything() {
    let stage = Stage::new("native");
    for id in ["\\u0000", &"x".repeat(200_000), "a b$(exit 1)"] {
        let stored = format!("\x1eRMQ1:{{\"id\":\"{id}\",\"payload\":\"p\"}}");
        let _: u8 = stage.redis(&[b"LPUSH", b"jobs::pending", stored.as_bytes()]);
    }
    let finished = work(&stage, "echo \"${LEASELINE_MESSAGE_ID-none}\"", &[]).ok();
    assert_eq!(finished.text(), "none\nnone\na b$(exit 1)\n");
}

#[test]
fn without_leases_no_token_and_no_heartbeat() {
    let stage = Stage::new("native");
    stage.run(["publish", "a"]).ok();
    let finished = work(&stage, "echo ${LEASELINE_TOKEN-none}", &["--no-lease"]).ok();
    assert_eq!(finished.text(), "none\n");
    assert!(stage.keys().is_empty());
}
