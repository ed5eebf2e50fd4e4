//! Processes of a fleet that run the original.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use crate::crew::{Book, Call, LEASE_SECONDS, MAX_DELIVERIES, PACE, STALL, Shift};
use crate::peer::Library;
use crate::stage::NAME;

/// The program of a process, on its command line.
const PROGRAM: &str = include_str!("worker.py");

const LOOK: Duration = Duration::from_millis(10);

const SIGKILL: i32 = 9;

/// A process. It ends with this in the hardest way.
pub(crate) struct Worker {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts one that is ready. The first of a version renews its leases.
    pub(crate) fn start(library: Library, url: &str, shift: Shift, number: usize) -> Self {
        let mut options = json!({"visibility_timeout_seconds": null, "max_delivery_count": null});
        if shift.leased {
            options = json!({
                "visibility_timeout_seconds": LEASE_SECONDS,
                "max_delivery_count": MAX_DELIVERIES,
            });
            if number == 0 {
                options["heartbeat_interval_seconds"] = Value::from(0.3);
            }
        }
        let arguments = json!({
            "url": url,
            "name": NAME,
            "options": options,
            "threads": shift.held(),
            "spared": shift.spared,
            "pace": PACE.as_secs_f64(),
            "stall": STALL.as_secs_f64(),
        });
        let python = library.python().expect("a stage opens only with a Python");
        let mut process = Command::new(python)
            .args(["-c", PROGRAM, &arguments.to_string()])
            .env("PYTHONUTF8", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let mut output = BufReader::new(process.stdout.take().expect("its output"));
        let mut line = String::new();
        output.read_line(&mut line).expect("Python answers");
        let worker = Self { process, output };
        assert_eq!(line.trim_end(), "ready", "Python fails");
        worker
    }

    /// Whether it has been killed by what it met.
    fn is_killed(&mut self) -> bool {
        let Some(status) = self.process.try_wait().expect("its status") else {
            return false;
        };
        assert_eq!(status.signal(), Some(SIGKILL), "Python fails: {status}");
        true
    }

    /// Lets it finish. True: what it had in hand has killed it.
    fn stop(&mut self) -> bool {
        drop(self.process.stdin.take());
        let status = self.process.wait().expect("its status");
        let killed = status.signal() == Some(SIGKILL);
        assert!(killed || status.success(), "Python fails: {status}");
        killed
    }

    /// The payloads that its handlers were given. It has ended.
    fn handled(&mut self) -> Vec<String> {
        let lines = self.output.by_ref().lines();
        lines.map(|line| line.expect("text")).collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both fail only if the process is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Keeps one at work until it is told to stop. The first ones live as long as `lives` say, at most.
pub(crate) fn employ(
    start: impl Fn() -> Worker,
    mut lives: impl Iterator<Item = Duration>,
    call: &watch::Receiver<Call>,
    book: &Book,
    ready: &UnboundedSender<()>,
) {
    loop {
        let mut worker = start();
        // Nobody is left to hear it once all have started.
        let _ = ready.send(());
        let life = lives.next();
        let mut began = None;
        let killed = loop {
            let call = *call.borrow();
            if worker.is_killed() {
                break true;
            }
            if call == Call::Stop {
                break worker.stop();
            }
            if call == Call::Work && began.is_none() {
                began = Some(Instant::now());
            }
            let over = |life| began.is_some_and(|began| began.elapsed() >= life);
            if life.is_some_and(over) {
                worker.process.kill().expect("it is there");
                worker.process.wait().expect("its status");
                break true;
            }
            std::thread::sleep(LOOK);
        };
        let handled = worker.handled();
        book.write(|tally| {
            tally.by_them.extend(handled);
            tally.killed += usize::from(killed);
        });
        if *call.borrow() == Call::Stop {
            break;
        }
    }
}
