//! What goes wrong with an instance.

use leaseline_core::{Error, ErrorKind, Retry};
use wasmtime::Trap;

use crate::ctx::TooManyHostCalls;

/// Why a call of an instance has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// The queue answered with an error. The instance is well.
    #[error(transparent)]
    Queue(Error),
    /// The component was stopped in the middle of the call. Whether the call had its effect is
    /// unknown, and the instance is dead.
    #[error("the component was stopped: {cause}; the call may have taken effect ({detail})")]
    Trapped {
        /// What stopped it.
        cause: TrapCause,
        /// What wasmtime says.
        detail: String,
    },
    /// An earlier call trapped, or its future was dropped before it ended. Nothing was done; take
    /// a fresh instance.
    #[error("the instance is dead after a trap or a dropped call; nothing was done")]
    Dead,
    /// No instance could be made. Nothing was done.
    #[error("the component could not be instantiated: {0}")]
    NotInstantiated(String),
    /// The pool was closed. Nothing was done.
    #[error("the pool of instances is closed; nothing was done")]
    PoolClosed,
}

/// What stopped a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrapCause {
    /// It needed more than [`Limits::memory_bytes`](crate::Limits::memory_bytes).
    #[error("it is out of memory")]
    Memory,
    /// It computed for longer than [`Limits::compute`](crate::Limits::compute).
    #[error("it computed for too long")]
    Compute,
    /// It called its host more often than [`Limits::host_calls`](crate::Limits::host_calls).
    #[error("it called its host too often")]
    HostCalls,
    /// A bug in the component, or one of [`Limits`](crate::Limits) that wasmtime reports no other
    /// way, such as `transfer_bytes`.
    #[error("it crashed")]
    Crash,
}

impl InstanceError {
    /// Sorts what wasmtime reports.
    pub(crate) fn trapped(error: &wasmtime::Error, refused_memory: bool) -> Self {
        let cause = if error.is::<TooManyHostCalls>() {
            TrapCause::HostCalls
        } else if error.downcast_ref() == Some(&Trap::Interrupt) {
            TrapCause::Compute
        } else if refused_memory {
            TrapCause::Memory
        } else {
            TrapCause::Crash
        };
        Self::Trapped {
            cause,
            detail: error.root_cause().to_string(),
        }
    }

    /// The error as the queue would put it, for callers that treat native and component engines
    /// alike.
    pub fn into_queue_error(self) -> Error {
        let message = self.to_string();
        match self {
            Self::Queue(error) => error,
            Self::Trapped { .. } => Error::new(ErrorKind::OutcomeUnknown, message),
            Self::Dead | Self::NotInstantiated(_) => Error::new(ErrorKind::Unavailable, message),
            Self::PoolClosed => Error::new(ErrorKind::Unavailable, message).with_retry(Retry::No),
        }
    }
}

impl From<Error> for InstanceError {
    fn from(error: Error) -> Self {
        Self::Queue(error)
    }
}
