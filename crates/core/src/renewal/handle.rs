//! What the owner of a renewal may do, and in which order.

use alloc::string::ToString;
use core::fmt;

use super::Token;
use crate::error::{Error, ErrorKind};

/// A start that a handle refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleError {
    /// It was started before.
    SingleUse,
    /// It was stopped before it was started.
    Closed,
}

impl fmt::Display for HandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SingleUse => {
                "lease renewal handles are single-use; make another handle for the lease"
            }
            Self::Closed => "lease renewal handle is closed; make another handle for the lease",
        })
    }
}

impl core::error::Error for HandleError {}

impl From<HandleError> for Error {
    fn from(error: HandleError) -> Self {
        Self::new(ErrorKind::InvalidArgument, error.to_string())
    }
}

/// What a stop has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopStep {
    /// Nothing: there was nothing to stop, or it has been stopped.
    Nothing,
    /// Send the stop of this renewal, then [`Handle::stopped`] or [`Handle::not_stopped`].
    Send(Token),
    /// Another stop is on its way: send nothing. One that waits waits for that one.
    Join(Token),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fresh,
    Starting(Token),
    Running(Token),
    Closing(Token),
    Closed,
}

/// The state of a handle: single-use, and stoppable as often as one likes.
///
/// Unlike in the original, a start that failed for whatever reason leaves it fresh.
#[derive(Debug)]
pub struct Handle {
    state: State,
    entered: bool,
}

impl Default for Handle {
    fn default() -> Self {
        Self {
            state: State::Fresh,
            entered: false,
        }
    }
}

impl Handle {
    /// A start begins under a new token; it ends with [`started`](Self::started) or
    /// [`not_started`](Self::not_started).
    ///
    /// # Errors
    ///
    /// The handle was started or stopped before. The token is not used then.
    pub fn start(&mut self, token: Token) -> Result<(), HandleError> {
        if self.entered {
            return Err(HandleError::SingleUse);
        }
        if self.state == State::Closed {
            return Err(HandleError::Closed);
        }
        self.entered = true;
        self.state = State::Starting(token);
        Ok(())
    }

    /// The worker has registered it. A stop may have come first.
    pub fn started(&mut self) {
        if let State::Starting(token) = self.state {
            self.state = State::Running(token);
        }
    }

    /// The worker could not be told, or has not answered in time.
    pub fn not_started(&mut self) {
        self.entered = false;
        if let State::Starting(_) = self.state {
            self.state = State::Fresh;
        }
    }

    /// A stop begins.
    pub fn stop(&mut self) -> StopStep {
        match self.state {
            State::Fresh | State::Closed => {
                self.state = State::Closed;
                StopStep::Nothing
            }
            State::Starting(token) | State::Running(token) => {
                self.state = State::Closing(token);
                StopStep::Send(token)
            }
            State::Closing(token) => StopStep::Join(token),
        }
    }

    /// The stop was sent, or is complete, or its time is over.
    pub fn stopped(&mut self) {
        self.state = State::Closed;
    }

    /// The stop could not be sent; it may be tried again.
    pub fn not_stopped(&mut self) {
        if let State::Closing(token) = self.state {
            self.state = State::Running(token);
        }
    }

    /// The renewal of a handle that was started and not stopped.
    pub fn token(&self) -> Option<Token> {
        match self.state {
            State::Starting(token) | State::Running(token) | State::Closing(token) => Some(token),
            State::Fresh | State::Closed => None,
        }
    }
}
