//! A process that runs the original library.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Names Pythons that have the original library, as `PATH` would.
const VARIABLE: &str = "LEASELINE_INTEROP_PYTHON";

/// The program, on the command line of the process: it needs no file of its own at run time.
const PROGRAM: &str = include_str!("peer.py");

/// A version of the original library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// The oldest that shares queues with this library.
    V8_3_0,
    /// Without `deduplication` and the `enable_…_queue` switches, on redis-py 8.
    V11_0_1,
}

impl Library {
    /// In the order in which `scripts/interop-python.sh` prints them.
    pub(crate) const ALL: [Self; 2] = [Self::V8_3_0, Self::V11_0_1];

    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::V8_3_0 => "8.3.0",
            Self::V11_0_1 => "11.0.1",
        }
    }

    /// A Python that has it. `None`, with a word of explanation, where there is none to test
    /// against; if there is any, all must be there.
    pub(crate) fn python(self) -> Option<PathBuf> {
        let Some(pythons) = std::env::var_os(VARIABLE) else {
            eprintln!(
                "skipped: {VARIABLE} is not set; `make test` sets it where it finds Python 3.12"
            );
            return None;
        };
        let pythons: Vec<_> = std::env::split_paths(&pythons).collect();
        assert_eq!(
            pythons.len(),
            Self::ALL.len(),
            "{VARIABLE} must be what scripts/interop-python.sh prints"
        );
        let place = Self::ALL.iter().position(|library| *library == self)?;
        Some(pythons[place].clone())
    }
}

/// A queue object of the original library, in a process of its own that ends with this.
pub(crate) struct Peer {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// A message that the process holds.
#[derive(Debug)]
pub(crate) struct Held {
    number: u64,
    pub(crate) payload: Vec<u8>,
}

impl Peer {
    /// Opens the queue `name`; `options` are arguments of the original's constructor, in the words
    /// of 8.3.0.
    pub(crate) fn open(library: Library, url: &str, name: &str, options: Value) -> Self {
        let python = library.python().expect("a stage opens only with a Python");
        let mut process = Command::new(python)
            .args(["-c", PROGRAM])
            // Requests are UTF-8 whatever the locale is.
            .env("PYTHONUTF8", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let mut peer = Self {
            requests: process.stdin.take().expect("its input"),
            answers: BufReader::new(process.stdout.take().expect("its output")),
            process,
        };
        let open = json!({"do": "open", "url": url, "name": name, "options": options});
        assert_eq!(peer.ask(open).result, library.version());
        peer
    }

    /// Publishes text or a mapping; false for a duplicate.
    pub(crate) fn publish(&mut self, message: impl Into<Value>) -> bool {
        self.ask(json!({"do": "publish", "message": message.into()}))
            .is_true()
    }

    /// Publishes the mapping that a text of JSON says; the error is the name of the original's.
    pub(crate) fn publish_json(&mut self, text: &str) -> Result<(), String> {
        match self.ask(json!({"do": "publish_json", "text": text})).result {
            Value::Bool(true) => Ok(()),
            Value::String(error) => Err(error),
            other => panic!("{text}: {other}"),
        }
    }

    /// Publishes under a deduplication key.
    pub(crate) fn publish_once(&mut self, message: &str, key: &str) -> bool {
        self.ask(json!({"do": "publish", "message": message, "key": key}))
            .is_true()
    }

    /// The bytes that a publish under this id would store.
    pub(crate) fn envelope(&mut self, id: &str, payload: &str) -> Vec<u8> {
        let answer = self.ask(json!({"do": "envelope", "id": id, "payload": payload}));
        bytes(&answer.result)
    }

    /// Takes the next message, waiting at most the original's five seconds, and holds it.
    pub(crate) fn claim(&mut self) -> Option<Held> {
        let answer = self.ask(json!({"do": "claim"})).result;
        let number = answer.get("claim")?.as_u64().expect("a number");
        Some(Held {
            number,
            payload: bytes(&answer["payload"]),
        })
    }

    /// Takes the next message and fails to read it: what the original says of it. It keeps the lease.
    pub(crate) fn claim_unreadable(&mut self) -> String {
        let answer = self.answer(&json!({"do": "claim"}));
        let error = answer["error"].as_str();
        error.expect("it cannot be read").to_owned()
    }

    /// Gives all dead letters another chance, and their number; not with 8.3.0.
    pub(crate) fn redrive(&mut self) -> u64 {
        let answer = self.ask(json!({"do": "redrive"})).result;
        answer.as_u64().expect("a number")
    }

    /// Ends a message as a handler that returns does; true unless the lease was stale.
    pub(crate) fn ack(&mut self, held: &Held) -> bool {
        self.ask(json!({"do": "ack", "claim": held.number}))
            .settled("ack")
    }

    /// Ends a message as a handler that raises does; true unless the lease was stale.
    pub(crate) fn fail(&mut self, held: &Held) -> bool {
        self.ask(json!({"do": "fail", "claim": held.number}))
            .settled("nack")
    }

    /// Acknowledges a message that anyone has claimed.
    pub(crate) fn remove(&mut self, stored: &[u8], token: Option<&str>) -> bool {
        self.ask(json!({"do": "remove", "stored": hex::encode(stored), "token": token}))
            .is_true()
    }

    /// Renews a lease that anyone holds.
    pub(crate) fn renew(&mut self, stored: &[u8], token: &str) -> bool {
        self.ask(json!({"do": "renew", "stored": hex::encode(stored), "token": token}))
            .is_true()
    }

    /// Drains the queue object.
    pub(crate) fn drain(&mut self) -> bool {
        self.ask(json!({"do": "drain"})).is_true()
    }

    /// Ends the process in the hardest way, with whatever it holds.
    pub(crate) fn kill(self) {}

    fn answer(&mut self, request: &Value) -> Value {
        writeln!(self.requests, "{request}").expect("Python reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("Python answers");
        serde_json::from_str(&line).expect("Python answers JSON")
    }

    fn ask(&mut self, request: Value) -> Answer {
        let mut answer = self.answer(&request);
        assert_eq!(answer["error"], Value::Null, "Python failed at {request}");
        let events = answer["events"].as_array().expect("events");
        let events = events
            .iter()
            .map(|event| event.as_str().expect("text").to_owned())
            .collect();
        Answer {
            result: answer["result"].take(),
            events,
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Both fail only if the process is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Answer {
    result: Value,
    events: Vec<String>,
}

impl Answer {
    fn is_true(&self) -> bool {
        self.result.as_bool().expect("true or false")
    }

    /// Whether the settlement took effect, as its event tells.
    fn settled(&self, operation: &str) -> bool {
        let happened = |event: String| self.events.contains(&event);
        let success = happened(format!("{operation}/success"));
        let stale = happened(format!("stale_lease_{operation}/skipped"));
        assert!(
            success != stale,
            "neither settled nor stale: {:?}",
            self.events
        );
        success
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().expect("hexadecimal text")).expect("hexadecimal text")
}
