//! What Redis answers to a request that it cannot read, before it hangs up.

use thiserror::Error;

/// Why a request cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum ProtocolError {
    #[error("too big inline request")]
    InlineTooLong,
    #[error("unbalanced quotes in request")]
    UnbalancedQuotes,
    #[error("too big mbulk count string")]
    CountTooLong,
    #[error("too big bulk count string")]
    LengthTooLong,
    #[error("invalid multibulk length")]
    Count,
    #[error("unauthenticated multibulk length")]
    UnauthenticatedCount,
    #[error("expected '$', got '{0}'")]
    NotBulk(char),
    #[error("invalid bulk length")]
    Length,
    #[error("unauthenticated bulk length")]
    UnauthenticatedLength,
}

impl ProtocolError {
    /// The reply on the wire.
    pub(super) fn to_reply(self) -> Vec<u8> {
        format!("-ERR Protocol error: {self}\r\n").into_bytes()
    }
}
