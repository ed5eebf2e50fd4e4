//! The two engines: the same core, native or as a component.

use leaseline_core::{Config, Error, Queue};

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

impl Engine {
    pub(crate) fn runtime(self, _: Option<Vec<u8>>) -> Result<(), Error> {
        Ok(())
    }
}

/// Opens instances of one queue.
pub(crate) struct Opener {
    config: Config,
    connection: Connection,
}

impl Opener {
    pub(crate) fn new(config: Config, connection: Connection, _: ()) -> Self {
        Self { config, connection }
    }

    pub(crate) async fn open(&self) -> Result<Instance, Error> {
        let queue =
            Queue::new(self.config.clone(), self.connection.clone(), TokioClock::new(), OsEntropy)?;
        Ok(Instance::Native(Box::new(queue)))
    }
}
