//! The two engines: the same core, native or as a component.

use std::sync::Arc;

use leaseline_core::{Config, Error, ErrorKind, Queue};
use tokio::sync::OnceCell;

use crate::connection::Connection;
use crate::instance::Instance;
use crate::native::{OsEntropy, TokioClock};

/// Where the queue logic runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// As a WebAssembly component in this process.
    #[default]
    Component,
    /// As native code.
    Native,
}

/// Opens instances of one queue.
pub(crate) struct Opener {
    config: Config,
    connection: Connection,
    runtime: Option<Arc<Runtime>>,
}
