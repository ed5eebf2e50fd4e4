use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::engines;
use crate::stage::{Finished, Stage, signal, until};

/// A worker in the middle of a message.
struct Busy {
    child: Child,
    folder: TempDir,
}

impl Busy {
    /// Two messages, and a worker whose command waits for the file `go` and then writes `done`.
    fn new(stage: &Stage) -> Self {
        Self::with(stage, &[])
    }

    fn with(stage: &Stage, flags: &[&str]) -> Self {
        stage.run(["publish", "a", "b"]).ok();
        let folder = tempfile::tempdir().unwrap();
        let exec = format!(
            "cd {} && : > started && while ! test -e go; do sleep 0.05; done; : > done",
            folder.path().display()
        );
        let mut command = stage.command(["work", "--exec", &exec].iter().chain(flags));
        // A group of its own, as a shell gives to a job.
        let child = command
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let busy = Self { child, folder };
        until("the command runs", || busy.file("started").exists());
        busy
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets the command finish, and waits for the worker.
    fn end(self) -> Finished {
        fs::write(self.file("go"), "").unwrap();
        let finished = Finished::new(self.child.wait_with_output().unwrap());
        assert!(
            self.folder.path().join("done").exists(),
            "the command finished"
        );
        finished
    }
}

engines! {
    fn a_signal_lets_the_running_command_finish(stage: Stage) {
        let busy = Busy::new(stage);
        signal(&busy.child, "-TERM");
        std::thread::sleep(Duration::from_millis(300));
        let finished = busy.end().ok();
        assert!(finished.stderr.ends_with("acked 1, failed 0\n"), "{finished:?}");
        assert_eq!((stage.length("jobs::pending"), stage.length("jobs::processing")), (1, 0));
    }
}

#[test]
fn an_interrupt_from_the_terminal_spares_the_command() {
    let stage = Stage::new("native");
    let busy = Busy::new(&stage);
    // To the whole group, as a terminal does.
    let group = format!("-{}", busy.child.id());
    assert!(
        Command::new("kill")
            .args(["-INT", "--", &group])
            .status()
            .unwrap()
            .success()
    );
    std::thread::sleep(Duration::from_millis(300));
    let finished = busy.end().ok();
    assert!(
        finished.stderr.ends_with("acked 1, failed 0\n"),
        "{finished:?}"
    );
}

#[test]
fn what_ignores_its_end_is_killed() {
    let stage = Stage::new("native");
    stage.run(["publish", "a"]).ok();
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    // Its child ignores the signal too.
    let exec = format!("trap '' TERM; echo $$ > {}; sleep 600", started.display());
    let child = stage
        .command(["work", "--exec", &exec, "--drain-timeout", "0.2"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let group = || fs::read_to_string(&started).unwrap_or_default();
    until("the command runs", || group().ends_with('\n'));
    signal(&child, "-TERM");
    Finished::new(child.wait_with_output().unwrap()).ends(1);
    let group = format!("-{}", group().trim());
    until("nothing of the command is left", || {
        let left = Command::new("kill").args(["-0", "--", &group]).output();
        !left.unwrap().status.success()
    });
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let stage = Stage::new("native");
    let mut busy = Busy::new(&stage);
    signal(&busy.child, "-TERM");
    std::thread::sleep(Duration::from_millis(300));
    assert!(busy.child.try_wait().unwrap().is_none());
    let started = Instant::now();
    signal(&busy.child, "-TERM");
    let done = busy.file("done");
    let finished = Finished::new(busy.child.wait_with_output().unwrap()).ends(1);
    assert!(started.elapsed() < Duration::from_secs(5), "{finished:?}");
    assert!(!done.exists(), "the command was ended too");
    // Its message is not lost.
    stage.expire_leases();
    assert_eq!(
        stage
            .run(["claim", "--max", "9", "--json"])
            .ok()
            .objects()
            .len(),
        2
    );
}

engines! {
    fn commands_have_the_time_of_the_drain_timeout(stage: Stage) {
        let busy = Busy::with(stage, &["--drain-timeout", "60"]);
        signal(&busy.child, "-TERM");
        let finished = busy.end().ok();
        assert!(finished.stderr.ends_with("acked 1, failed 0\n"), "{finished:?}");
        assert_eq!((stage.length("jobs::pending"), stage.length("jobs::processing")), (1, 0));
    }

    fn a_command_that_outlives_the_drain_timeout_is_ended(stage: Stage) {
        let busy = Busy::with(stage, &["--json", "--drain-timeout", "0.2"]);
        signal(&busy.child, "-TERM");
        let finished = Finished::new(busy.child.wait_with_output().unwrap()).ends(1);
        assert_eq!(finished.objects(), [json!({ "acked": 0, "failed": 0, "released": 0, "stale": 0, "unsettled": 1 })]);
        assert!(finished.stderr.contains("drain timeout is over"), "{finished:?}");
        // Its message is neither lost nor failed.
        assert_eq!((stage.length("jobs::pending"), stage.length("jobs::processing")), (1, 1));
        stage.expire_leases();
        assert_eq!(stage.run(["claim", "--max", "9", "--json"]).ok().objects().len(), 2);
        std::fs::write(busy.folder.path().join("go"), "").unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert!(!busy.folder.path().join("done").exists(), "the command was ended too");
    }
}

#[test]
fn a_drain_timeout_of_nothing_ends_it_at_the_first_signal() {
    let stage = Stage::new("native");
    let busy = Busy::with(&stage, &["--drain-timeout", "0", "--no-lease"]);
    signal(&busy.child, "-INT");
    let finished = Finished::new(busy.child.wait_with_output().unwrap()).ends(1);
    assert!(finished.stderr.contains("without a lease"), "{finished:?}");
    assert_eq!(stage.length("jobs::processing"), 1);
}

#[test]
fn an_idle_worker_stops_soon() {
    let stage = Stage::new("native");
    let child = stage
        .command(["work", "--exec", "true"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-INT");
    let started = Instant::now();
    Finished::new(child.wait_with_output().unwrap()).ok();
    assert!(started.elapsed() < Duration::from_secs(5));
}
