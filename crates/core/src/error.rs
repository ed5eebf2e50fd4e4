//! One error type: what happened, whether to try again, and what to do.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::capability::{RedisError, ServerError};

/// What went wrong, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration breaks a rule; nothing was sent.
    Configuration,
    /// An argument breaks a rule; nothing was sent.
    InvalidArgument,
    /// The payload is larger than the configured limit; nothing was sent.
    PayloadTooLarge,
    /// A JSON payload is deeper than the limit; nothing was sent.
    PayloadTooDeep,
    /// A stored message starts like an envelope and is none, or a payload is not what its reader
    /// expects.
    MalformedMessage,
    /// The queue is full; nothing was written.
    Backpressure,
    /// The queue object was drained; nothing was sent.
    Drained,
    /// Redis could not be reached; the call did not run.
    Unavailable,
    /// The reply was lost or late; the call may have run.
    OutcomeUnknown,
    /// Redis answered with an error.
    Server,
    /// A claim could not be recorded; its message is in pending as before.
    ClaimStoreFailed,
    /// The host refused the command.
    Denied,
    /// Redis or the host answered something that the queue does not understand.
    Protocol,
}

impl ErrorKind {
    /// The name in command-line output and logs, such as `outcome_unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::InvalidArgument => "invalid_argument",
            Self::PayloadTooLarge => "payload_too_large",
            Self::PayloadTooDeep => "payload_too_deep",
            Self::MalformedMessage => "malformed_message",
            Self::Backpressure => "backpressure",
            Self::Drained => "drained",
            Self::Unavailable => "unavailable",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Server => "server",
            Self::ClaimStoreFailed => "claim_store_failed",
            Self::Denied => "denied",
            Self::Protocol => "protocol",
        }
    }
}

/// Whether the same call may be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retry {
    /// It had no effect and may succeed later.
    Yes,
    /// It had no effect and will fail again.
    No,
    /// It may have had its effect: repeat it only with the same ids, or look first.
    Unknown,
}

impl Retry {
    /// `yes`, `no` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// A failure of a queue call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Whether the same call may be made again.
    pub retry: Retry,
    /// One sentence on what happened and what to do.
    pub message: String,
    /// The first word of the server's error line, for [`ErrorKind::Server`] and
    /// [`ErrorKind::ClaimStoreFailed`].
    pub code: Option<String>,
    /// The message concerned, where known.
    pub message_id: Option<String>,
}

impl Error {
    /// An error with the retry advice that its kind usually has.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let retry = match kind {
            ErrorKind::Backpressure | ErrorKind::Unavailable | ErrorKind::ClaimStoreFailed => {
                Retry::Yes
            }
            ErrorKind::OutcomeUnknown | ErrorKind::Protocol => Retry::Unknown,
            _ => Retry::No,
        };
        Self {
            kind,
            retry,
            message: message.into(),
            code: None,
            message_id: None,
        }
    }

    /// The same error with other retry advice.
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The same error about one message.
    pub fn with_message_id(mut self, id: impl Into<String>) -> Self {
        self.message_id = Some(id.into());
        self
    }

    /// The same error with the first word of the server's error line.
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Error {}

/// Server errors that pass by themselves: the command did not run, and the same command may run
/// later. The list is that of the original library's retry policy, with `BUSY`, which it leaves
/// to its Redis client.
fn passes(error: &ServerError) -> bool {
    matches!(
        error.code.as_str(),
        "LOADING"
            | "READONLY"
            | "CLUSTERDOWN"
            | "MASTERDOWN"
            | "TRYAGAIN"
            | "NOSCRIPT"
            | "BUSY"
            | "MAXCLIENTS"
    ) || (error.code == "ERR" && error.message.starts_with("max number of clients"))
}

/// What an operator can do about a server error.
fn remedy(error: &ServerError) -> &'static str {
    match error.code.as_str() {
        "WRONGTYPE" => {
            "one of the queue's keys holds another type, which `leaseline doctor` names; use another queue name or separator, or remove the foreign key"
        }
        "OOM" => "the server is at maxmemory; free memory or raise the limit, then try again",
        "MISCONF" => "the server cannot save to its disk; make room there, then try again",
        "NOREPLICAS" => "the server has too few replicas; bring them back, then try again",
        "NOAUTH" | "WRONGPASS" => "check the user and password in the Redis URL",
        "NOPERM" => "grant the user the commands and keys of the queue",
        "READONLY" => "this server is a replica; connect to the primary",
        "CROSSSLOT" => "put a hash tag into the queue's name, such as {jobs}",
        _ if error.message.starts_with("value is not an integer") => {
            "a counter of the queue holds something else, which `leaseline doctor` names; remove the foreign value"
        }
        _ if passes(error) => "try again",
        _ => "look at the server's log",
    }
}

impl From<ServerError> for Error {
    fn from(error: ServerError) -> Self {
        // These are refused before anything is written, so the call may be made again, but not
        // in a tight loop: they are not in `passes`.
        let refused = ["OOM", "MISCONF", "NOREPLICAS"].contains(&error.code.as_str());
        let retry = if refused || passes(&error) {
            Retry::Yes
        } else {
            Retry::No
        };
        Self::new(
            ErrorKind::Server,
            format!("Redis answered {error}; {}", remedy(&error)),
        )
        .with_retry(retry)
        .with_code(error.code)
    }
}

impl From<RedisError> for Error {
    fn from(error: RedisError) -> Self {
        let text = error.to_string();
        match error {
            RedisError::Server(server) => server.into(),
            RedisError::NotSent(_) => Self::new(
                ErrorKind::Unavailable,
                format!("{text}; nothing was changed, try again"),
            ),
            RedisError::Unknown(_) | RedisError::Timeout => Self::new(
                ErrorKind::OutcomeUnknown,
                format!("{text}; the call may have taken effect, look before you repeat it"),
            ),
            RedisError::Denied(_) => Self::new(ErrorKind::Denied, text),
            RedisError::TooLarge(_) | RedisError::UnsupportedReply(_) => {
                Self::new(ErrorKind::Protocol, text)
            }
        }
    }
}

/// Whether the command may have run, or may run yet.
pub(crate) fn is_ambiguous(error: &RedisError) -> bool {
    matches!(error, RedisError::Unknown(_) | RedisError::Timeout)
}

/// Whether a command that failed so may be sent again under the same id.
pub(crate) fn is_transient(error: &RedisError) -> bool {
    match error {
        RedisError::NotSent(_) | RedisError::Unknown(_) | RedisError::Timeout => true,
        RedisError::Server(server) => passes(server),
        RedisError::Denied(_) | RedisError::TooLarge(_) | RedisError::UnsupportedReply(_) => false,
    }
}
