//! Why a command answered an error, with the text that Redis uses.

use crate::Reply;
use crate::arguments::shown;
use crate::wait::Wait;

/// The answer of a command's implementation.
pub(crate) type Answer = Result<Reply, Refusal>;

/// An error reply, named where several commands share it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("WRONGTYPE Operation against a key holding the wrong kind of value")]
    WrongType,
    #[error("ERR syntax error")]
    Syntax,
    #[error("ERR value is not an integer or out of range")]
    NotInteger,
    #[error("ERR value is not a valid float")]
    NotFloat,
    #[error("ERR min or max is not a float")]
    NotRange,
    #[error("ERR value is out of range, must be positive")]
    NotPositive,
    #[error("ERR increment or decrement would overflow")]
    Overflow,
    #[error("ERR increment would produce NaN or Infinity")]
    FloatOverflow,
    #[error("ERR resulting score is not a number (NaN)")]
    NotANumber,
    #[error("ERR no such key")]
    NoSuchKey,
    #[error("ERR Invalid stream ID specified as stream command argument")]
    StreamId,
    #[error("ERR index out of range")]
    IndexOutOfRange,
    #[error("ERR invalid expire time in '{0}' command")]
    ExpireTime(&'static str),
    #[error("ERR wrong number of arguments for '{0}' command")]
    Arity(String),
    #[error("OOM command not allowed when used memory > 'maxmemory'.")]
    OutOfMemory,
    #[error("NOSCRIPT No matching script. Please use EVAL.")]
    NoScript,
    /// A text that only one place uses.
    #[error("{0}")]
    Text(&'static str),
    /// As [`Refusal::Text`], put together when it happened.
    #[error("{}", String::from_utf8_lossy(.0))]
    Line(Vec<u8>),
    /// There is nothing to answer yet. Only a command that was asked whether it may wait answers
    /// this, and only the server that asked sees it.
    #[error("ERR a blocking command was left waiting")]
    Wait(Box<Wait>),
    /// Redis could do it and this model cannot.
    #[error("ERR leaseline-redis-model does not support {0}")]
    Unsupported(String),
}

impl Refusal {
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Refusal::Unsupported(what.into())
    }

    /// A [`Refusal::Line`] of these parts.
    pub(crate) fn line(parts: &[&dyn AsRef<[u8]>]) -> Self {
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_ref()).collect();
        Refusal::Line(parts.concat())
    }

    /// The whole line, code first.
    pub(crate) fn into_line(self) -> Vec<u8> {
        match self {
            Refusal::Line(line) => line,
            other => other.to_string().into_bytes(),
        }
    }

    /// The text after the code, as `EXECABORT` quotes it.
    pub(crate) fn without_code(self) -> Vec<u8> {
        let line = self.into_line();
        match line.strip_prefix(b"ERR ") {
            Some(text) => text.to_vec(),
            None => line,
        }
    }

    /// The words of an unsupported `command option`, quoted from the arguments.
    pub(crate) fn unsupported_option(command: &str, option: &[u8]) -> Self {
        let option = shown(option);
        Refusal::Unsupported(format!("{command} {}", String::from_utf8_lossy(&option)))
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        Reply::Error(refusal.into_line())
    }
}
