//! Results, on standard output.

use std::fmt;
use std::io::{self, BufWriter, Stdout, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Where results go. Buffered: [`flush`](Self::flush) where somebody may wait for them.
pub(crate) struct Output {
    json: bool,
    stdout: BufWriter<Stdout>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            stdout: BufWriter::new(io::stdout()),
        }
    }

    /// Whether results are JSON objects.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A result as one JSON object on a line.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.stdout, object)
            .map_err(io::Error::from)
            .and_then(|()| self.stdout.write_all(b"\n"))
            .map_err(|error| Failure::output(&error))
    }

    /// A result as a line for people.
    pub(crate) fn line(&mut self, line: impl fmt::Display) -> Result<(), Failure> {
        writeln!(self.stdout, "{line}").map_err(|error| Failure::output(&error))
    }

    /// A result in the form that was asked for.
    pub(crate) fn result(
        &mut self,
        object: &impl Serialize,
        line: impl fmt::Display,
    ) -> Result<(), Failure> {
        if self.json {
            self.object(object)
        } else {
            self.line(line)
        }
    }

    /// Writes out what is buffered.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.stdout.flush().map_err(|error| Failure::output(&error))
    }
}
