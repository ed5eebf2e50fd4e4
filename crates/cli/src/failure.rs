//! Why a command ends early.

use std::fmt;
use std::io;

use leaseline::{Error, ErrorKind, Retry};
use serde::Serialize;

use crate::lease::LeaseObject;
use crate::status::Status;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line cannot mean anything, or a file it names cannot be read.
    Usage(String),
    /// The system refused something that the command needs.
    Io(String),
    /// A queue call failed.
    Queue(Box<Error>),
    /// A claimed message cannot be read. With the lease it can still be settled.
    Unreadable {
        /// Why not.
        error: Box<Error>,
        /// What settles it.
        lease: Box<LeaseObject>,
    },
    /// Whoever read standard output went away. Nobody is left to be told.
    OutputClosed,
}

/// The JSON form.
#[derive(Serialize)]
struct Object<'a> {
    error: Description<'a>,
}

#[derive(Serialize)]
struct Description<'a> {
    kind: &'a str,
    retry: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<&'a LeaseObject>,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(crate) fn io(message: impl Into<String>) -> Self {
        Self::Io(message.into())
    }

    /// What a failed write to standard output means.
    pub(crate) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::io(format!("cannot write to standard output: {error}")),
        }
    }

    /// The exit status that goes with it.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Usage(_) => Status::Usage,
            Self::Queue(error)
                if matches!(
                    error.kind,
                    ErrorKind::Configuration
                        | ErrorKind::InvalidArgument
                        | ErrorKind::PayloadTooLarge
                ) =>
            {
                Status::Usage
            }
            Self::Io(_) | Self::Queue(_) | Self::Unreadable { .. } | Self::OutputClosed => {
                Status::Failed
            }
        }
    }

    /// Why, in words of whatever origin.
    fn text(&self) -> &str {
        match self {
            Self::Usage(message) | Self::Io(message) => message,
            Self::Queue(error) | Self::Unreadable { error, .. } => &error.message,
            Self::OutputClosed => "standard output was closed",
        }
    }

    /// The object of the JSON form.
    pub(crate) fn json(&self) -> impl Serialize + '_ {
        let lease = match self {
            Self::Unreadable { lease, .. } => Some(&**lease),
            _ => None,
        };
        let (kind, retry, message_id, code) = match self {
            Self::Usage(_) => ("usage", Retry::No, None, None),
            Self::Io(_) | Self::OutputClosed => ("io", Retry::No, None, None),
            Self::Queue(error) | Self::Unreadable { error, .. } => (
                error.kind.name(),
                error.retry,
                error.message_id.as_deref(),
                error.code.as_deref(),
            ),
        };
        let error = Description {
            kind,
            retry: retry.name(),
            message: crate::printable::message(self.text()),
            message_id,
            code,
            lease,
        };
        Object { error }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Queue(Box::new(error))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::printable::message(self.text()))?;
        match self {
            Self::Unreadable { lease, .. } => {
                write!(f, "; to settle it: leaseline fail --lease '{lease}'")
            }
            _ => Ok(()),
        }
    }
}
