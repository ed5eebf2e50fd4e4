use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::refusal;
use crate::stage::{Finished, finish, leaseline, signal};

/// A running `serve`. It is killed when this is dropped.
pub(crate) struct Service {
    /// `None` once it was stopped.
    child: Option<Child>,
    line: String,
}

impl Service {
    /// Starts one on a free port.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = leaseline(["serve", "--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self {
            child: Some(child),
            line: line.trim_end().to_owned(),
        }
    }

    /// What it printed: where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.line
    }

    /// Ends it as an operator does.
    pub(crate) fn stop(mut self) -> Finished {
        let child = self.child.take().unwrap();
        signal(&child, "-TERM");
        Finished::new(child.wait_with_output().unwrap()).ok()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Both fail only if the process is gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn the_other_commands_work_on_it() {
    let service = Service::start(&[]);
    for (arguments, expected) in [
        (&["publish", "a"][..], None),
        (&["work", "--exec", "cat", "--limit", "1"], Some("a")),
    ] {
        let mut command = leaseline(arguments);
        command.env("LEASELINE_REDIS", service.url());
        let finished = finish(command, b"").ok();
        assert!(
            expected.is_none_or(|expected| finished.text() == expected),
            "{finished:?}"
        );
    }
    let stopped = service.stop();
    assert!(
        stopped.stderr.contains("never for production"),
        "{stopped:?}"
    );
}

#[test]
fn a_password_is_asked_for() {
    let service = Service::start(&["--password", "secret"]);
    let client = redis::Client::open(service.url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    let refused = redis::cmd("PING").query::<String>(&mut connection);
    assert_eq!(refused.unwrap_err().code(), Some("NOAUTH"));
    let url = service.url().replace("redis://", "redis://:secret@");
    let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
    assert_eq!(
        redis::cmd("PING").query(&mut connection),
        Ok("PONG".to_owned())
    );
    service.stop();
}

#[test]
fn a_taken_port_is_reported() {
    let service = Service::start(&["--json"]);
    let port = service
        .url()
        .trim_end_matches("/\"}")
        .rsplit(':')
        .next()
        .unwrap();
    let message = refusal::refused(&["serve", "--port", port], 1);
    assert!(
        message.starts_with("cannot listen on 127.0.0.1"),
        "{message}"
    );
    service.stop();
}
