//! Messages for people, on standard error. In JSON form they are objects too, so that standard
//! error can be read by a program.

use std::io::{self, Write};

use indicatif::ProgressBar;
use serde_json::json;

use crate::failure::Failure;
use crate::printable;

/// Where messages go. Clones write to the same place.
#[derive(Clone)]
pub(crate) struct Messages {
    json: bool,
    /// A line on the terminal that must not be torn by a message.
    bar: Option<ProgressBar>,
}

impl Messages {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, bar: None }
    }

    /// The same, around a progress line.
    pub(crate) fn around(&self, bar: ProgressBar) -> Self {
        Self {
            json: self.json,
            bar: Some(bar),
        }
    }

    /// Something worth knowing.
    pub(crate) fn note(&self, text: &str) {
        if self.json {
            self.write(&json!({ "note": printable::message(text) }).to_string());
        } else {
            self.write(&format!("note: {}", printable::message(text)));
        }
    }

    /// Something that went wrong without ending the command.
    pub(crate) fn warning(&self, text: &str) {
        if self.json {
            self.write(&json!({ "warning": printable::message(text) }).to_string());
        } else {
            self.write(&format!("warning: {}", printable::message(text)));
        }
    }

    /// Why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        if matches!(failure, Failure::OutputClosed) {
            return;
        }
        if self.json {
            self.write(&serde_json::to_string(&failure.json()).unwrap_or_default());
        } else {
            self.write(&format!("error: {failure}"));
        }
    }

    /// The last word of a command whose standard output belongs to others.
    pub(crate) fn summary(&self, text: &str) {
        self.write(text);
    }

    fn write(&self, line: &str) {
        // In one piece, so that lines of concurrent writers do not mix. A closed standard error
        // leaves nobody to tell.
        let write = || drop(io::stderr().write_all(format!("{line}\n").as_bytes()));
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}
