//! The two engines: the same core, native or as a component.

use leaseline_component::SOURCE_DIGEST;
use leaseline_core::{Config, Error, ErrorKind, Queue};
use leaseline_wasmtime::{Ctx, QueueInstance, Runtime, SystemEntropy, TokioClock};
use tokio::sync::OnceCell;

use crate::connection::Connection;
use crate::instance::Instance;
use crate::pool::Tries;

/// The label under which a component finds its Redis.
const LABEL: &str = "redis";

/// Where the queue logic runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// As a WebAssembly component in this process.
    #[default]
    Component,
    /// As native code.
    Native,
}

/// The component that this crate was built with is compiled once for a process.
static BUNDLED: OnceCell<Runtime> = OnceCell::const_new();

/// Opens instances of one queue.
pub(crate) struct Opener {
    config: Config,
    connection: Connection,
    /// Absent: native.
    runtime: Option<Runtime>,
}

impl Opener {
    /// `component` replaces the bundled one.
    pub(crate) async fn new(
        engine: Engine,
        component: Option<Vec<u8>>,
        config: Config,
        connection: Connection,
    ) -> Result<Self, Error> {
        let runtime = match (engine, component) {
            (Engine::Native, None) => None,
            (Engine::Native, Some(_)) => {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    "the native engine runs no component; leave the component out, or use the component engine",
                ));
            }
            (Engine::Component, None) => {
                Some(BUNDLED.get_or_try_init(|| compile(None)).await?.clone())
            }
            (Engine::Component, Some(bytes)) => Some(compile(Some(bytes)).await?),
        };
        Ok(Self {
            config,
            connection,
            runtime,
        })
    }

    pub(crate) async fn open(&self, tries: Tries) -> Result<Instance, Error> {
        let mut config = self.config.clone();
        if tries == Tries::Once {
            config.retry_budget_ms = 0;
        }
        let connection = self.connection.clone();
        match &self.runtime {
            None => {
                let queue = Queue::new(config, connection, TokioClock::new(), SystemEntropy)?;
                Ok(Instance::Native(Box::new(queue)))
            }
            Some(runtime) => {
                let ctx = Ctx::builder().redis(LABEL, connection).build();
                let instance = QueueInstance::open(runtime, ctx, LABEL, &config).await;
                let instance = instance.map_err(|error| error.into_queue_error())?;
                Ok(Instance::Component(Box::new(instance)))
            }
        }
    }
}

/// Compiles off the runtime's threads: it takes tenths of a second.
async fn compile(component: Option<Vec<u8>>) -> Result<Runtime, Error> {
    let compiled = tokio::task::spawn_blocking(move || match component {
        Some(bytes) => Runtime::with_digest(&bytes, SOURCE_DIGEST),
        None => Runtime::bundled(),
    });
    compiled
        .await
        .map_err(|_| {
            Error::new(
                ErrorKind::Unavailable,
                "the component's compilation was cut off",
            )
        })?
        .map_err(|error| Error::new(ErrorKind::Configuration, error.to_string()))
}
