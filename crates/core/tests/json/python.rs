//! The same as Python, live: the first that `LEASELINE_INTEROP_PYTHON` names, or `python3`;
//! without any the test says that it is skipped.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::documents::document;
use crate::random::Random;
use crate::stored;

/// Reads a text a line and answers what a publish stores, or that it is refused; in hexadecimal.
const PROGRAM: &str = r#"
import json, sys

def refuse(constant):
    raise ValueError(constant)  # json.loads takes NaN, which is no JSON

def stored(text):
    value = json.loads(text, parse_constant=refuse)
    if not isinstance(value, dict):
        return None
    json.dumps(value, ensure_ascii=False).encode()  # raises for half a surrogate pair
    return json.dumps(value, sort_keys=True, allow_nan=False)

print(sys.version_info >= (3, 11), flush=True)
for line in sys.stdin:
    try:
        answer = stored(bytes.fromhex(line).decode())
    except ValueError:
        answer = None
    print("refused" if answer is None else answer.encode().hex(), flush=True)
"#;

/// Documents to compare.
const DOCUMENTS: u64 = 40_000;

struct Python {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// `None` where there is no Python 3.11 or later: then its integers have a limit.
    fn start() -> Option<Self> {
        let program = std::env::var_os("LEASELINE_INTEROP_PYTHON")
            .and_then(|pythons| std::env::split_paths(&pythons).next())
            .unwrap_or("python3".into());
        let mut process = Command::new(program)
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut python = Self {
            requests: process.stdin.take()?,
            answers: BufReader::new(process.stdout.take()?),
            process,
        };
        (python.answer()? == "True").then_some(python)
    }

    fn answer(&mut self) -> Option<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned())
    }

    /// What Python stores; `None` if it refuses.
    fn stored(&mut self, text: &str) -> Option<String> {
        writeln!(self.requests, "{}", hex::encode(text)).expect("Python reads");
        let answer = self.answer().expect("Python answers");
        if answer == "refused" {
            return None;
        }
        let bytes = hex::decode(&answer).expect("Python answers in hexadecimal");
        Some(String::from_utf8(bytes).expect("Python answers text"))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // Both fail only if the process is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn random_documents_are_stored_as_python_stores_them() {
    let Some(mut python) = Python::start() else {
        eprintln!("skipped: there is no Python 3.11; `make test` looks for one");
        return;
    };
    let mut accepted = 0;
    for seed in 0..DOCUMENTS {
        let text = document(&Random::new(seed));
        let ours = stored(&text);
        let theirs = python.stored(&text);
        assert_eq!(
            ours.as_ref().ok(),
            theirs.as_ref(),
            "seed {seed}: {text}\n{ours:?}"
        );
        accepted += u64::from(theirs.is_some());
    }
    // Neither all nor none: the comparison would say nothing.
    assert!(
        accepted > DOCUMENTS / 2 && accepted < DOCUMENTS,
        "{accepted}"
    );
}
