//! What handles tell the worker.

use std::sync::Arc;

use leaseline_core::renewal::{Start, Token};
use tokio::runtime::Handle;

use crate::extend::{AnyLease, Group};
use crate::notice::{Callback, Notice};

/// A renewal as the worker knows it.
pub(crate) struct Entry {
    pub(crate) group: Arc<dyn Group>,
    pub(crate) lease: AnyLease,
    pub(crate) notice: Arc<Notice>,
    pub(crate) on_lost: Option<Callback>,
    /// Its requests run where it was started: there its connections live.
    pub(crate) runtime: Handle,
    /// A waited stop waits for its request.
    pub(crate) stopping: bool,
}

/// In the order in which they were sent.
pub(crate) enum Command {
    Start(Start, Entry),
    Stop {
        token: Token,
        wait: bool,
        notice: Arc<Notice>,
    },
}
