//! What the queue logic asks of its host: a Redis, a monotonic clock and random bytes.
//!
//! The traits are written once, as futures. A native host awaits them on its runtime; inside the
//! component the imports block, so every future is ready at the first poll; a simulator polls
//! them in virtual time.

use alloc::string::String;
use alloc::vec::Vec;
use core::future::Future;

use thiserror::Error;

/// One element of a flattened reply.
///
/// Nested replies are flattened in preorder by the capability, because WIT has no recursive types
/// and edge runtimes flatten too. Every script of Leaseline therefore answers a flat array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A nil bulk string or a nil array.
    Nil,
    /// An integer; a boolean arrives as 0 or 1.
    Int(i64),
    /// A status line such as `OK`.
    Status(String),
    /// A bulk string; a double arrives as its text.
    Bytes(Vec<u8>),
}

/// The server refused a command: its reply began with `-`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{code} {message}")]
pub struct ServerError {
    /// The first word, such as `WRONGTYPE`, `NOSCRIPT` or `OOM`.
    pub code: String,
    /// The text after the code.
    pub message: String,
}

impl ServerError {
    /// Splits an error line (without its leading `-`) at the first space.
    pub fn from_line(line: &str) -> Self {
        let (code, message) = line.split_once(' ').unwrap_or((line, ""));
        Self {
            code: code.into(),
            message: message.into(),
        }
    }
}

/// Why a command has no usable reply.
///
/// The difference between [`NotSent`](Self::NotSent) and [`Unknown`](Self::Unknown) decides
/// whether a call may have taken effect, so a capability that cannot tell must say `Unknown`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RedisError {
    /// No byte of the command left this host: it certainly did not run.
    #[error("the command was not sent: {0}")]
    NotSent(String),
    /// The connection failed after the command may have left: it may have run.
    #[error("the reply was lost: {0}")]
    Unknown(String),
    /// The deadline passed before the reply arrived: the command may have run.
    #[error("no reply within the deadline")]
    Timeout,
    /// The server refused the command.
    #[error(transparent)]
    Server(ServerError),
    /// The capability's own policy refused the command (a blocking command, an unknown label).
    #[error("refused by the host: {0}")]
    Denied(String),
    /// The reply was larger than the capability allows (its size in bytes); the command ran.
    #[error("the reply of {0} bytes is larger than the host allows")]
    TooLarge(u64),
    /// The reply cannot be flattened (a map, a push message, nonsense); the command ran.
    #[error("the reply cannot be read: {0}")]
    UnsupportedReply(String),
}

/// The reply of one command, flattened.
pub type Reply = Result<Vec<Value>, RedisError>;

/// The replies of a pipeline in order, or why the whole pipeline has none.
pub type PipelineReply = Result<Vec<Result<Vec<Value>, ServerError>>, RedisError>;

/// A Redis, named by the host. The deadline is enforced by the implementation.
pub trait Redis: Send + Sync {
    /// Sends one command (`argv[0]` is its name) and waits at most `timeout_ms` for the reply.
    fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> impl Future<Output = Reply> + Send;

    /// Sends the commands in one go, in order, and waits at most `timeout_ms` for all replies.
    /// Other clients' commands may run in between.
    fn pipeline(
        &self,
        commands: &[&[&[u8]]],
        timeout_ms: u32,
    ) -> impl Future<Output = PipelineReply> + Send;
}

/// Monotonic time. Nothing in the queue depends on wall-clock time outside Redis.
pub trait Clock: Send + Sync {
    /// Milliseconds since an arbitrary point; never goes back.
    fn now_ms(&self) -> u64;

    /// Waits for `ms` milliseconds.
    fn sleep_ms(&self, ms: u64) -> impl Future<Output = ()> + Send;
}

/// Unpredictable bytes, for the ids of messages, claims and operations.
pub trait Entropy: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}
