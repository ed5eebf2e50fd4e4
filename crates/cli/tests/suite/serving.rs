use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::refusal;
use crate::stage::{Finished, finish, leaseline, signal};

/// A running `serve`, and where it listens.
fn serve(arguments: &[&str]) -> (Child, String) {
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
    (child, line.trim_end().to_owned())
}

/// Ends it as an operator does.
fn stop(child: Child) -> Finished {
    signal(&child, "-TERM");
    Finished::new(child.wait_with_output().unwrap()).ok()
}

#[test]
fn the_other_commands_work_on_it() {
    let (child, url) = serve(&[]);
    for (arguments, expected) in [
        (&["publish", "a"][..], None),
        (&["work", "--exec", "cat", "--limit", "1"], Some("a")),
    ] {
        let mut command = leaseline(arguments);
        command.env("LEASELINE_REDIS", &url);
        let finished = finish(command, b"").ok();
        assert!(
            expected.is_none_or(|expected| finished.text() == expected),
            "{finished:?}"
        );
    }
    let stopped = stop(child);
    assert!(
        stopped.stderr.contains("never for production"),
        "{stopped:?}"
    );
}

#[test]
fn a_password_is_asked_for() {
    let (child, url) = serve(&["--password", "secret"]);
    let client = redis::Client::open(url.as_str()).unwrap();
    let mut connection = client.get_connection().unwrap();
    let refused = redis::cmd("PING").query::<String>(&mut connection);
    assert_eq!(refused.unwrap_err().code(), Some("NOAUTH"));
    let url = url.replace("redis://", "redis://:secret@");
    let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
    assert_eq!(
        redis::cmd("PING").query(&mut connection),
        Ok("PONG".to_owned())
    );
    stop(child);
}

#[test]
fn a_taken_port_is_reported() {
    let (child, url) = serve(&["--json"]);
    let port = url.trim_end_matches("/\"}").rsplit(':').next().unwrap();
    let message = refusal::refused(&["serve", "--port", port], 1);
    assert!(
        message.starts_with("cannot listen on 127.0.0.1"),
        "{message}"
    );
    stop(child);
}
