//! Which queue, where, and how it is run.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use leaseline::config::Log;
use leaseline::{Config, Connection, EMBEDDED, Engine, Error, ErrorKind, Queue};

use crate::arguments::Leasing;
use crate::failure::Failure;
use crate::messages::Messages;

/// What help calls the options that every command has.
pub(crate) const HEADING: &str = "Options of every command";

/// The queue that a command concerns when none is named.
const DEFAULT_QUEUE: &str = "jobs";

/// Far more than any component of ours.
const MAX_COMPONENT_BYTES: u64 = 64 << 20;

/// Which queue, where, and how it is run: the same for every command.
#[derive(Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Target {
    /// redis://, rediss:// or redis+unix:// with credentials, or embedded: [default: embedded:]
    ///
    /// embedded: is a model of Redis in this process, whose contents end with it. Unlike the
    /// command line, the environment variable does not show credentials to other users.
    // A default value and an environment value would be shown by --help.
    #[arg(
        long,
        value_name = "URL",
        global = true,
        env = "LEASELINE_REDIS",
        hide_env_values = true
    )]
    redis: Option<String>,

    /// The queue's name [default: jobs]
    #[arg(long, value_name = "NAME", global = true, env = "LEASELINE_QUEUE")]
    queue: Option<String>,

    /// Where the queue logic runs: as a WebAssembly component, or as native code
    #[arg(
        long,
        value_name = "ENGINE",
        global = true,
        default_value = "component"
    )]
    engine: EngineName,

    /// A component to run instead of the built-in one; not used by the native engine
    #[arg(long, value_name = "FILE", global = true, env = "LEASELINE_COMPONENT")]
    component: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    Component,
    Native,
}

impl Target {
    /// The queue that was named on the command line or in the environment.
    pub(crate) fn named_queue(&self) -> Option<&str> {
        self.queue.as_deref()
    }

    /// The queue that was named, or the default one.
    pub(crate) fn queue(&self) -> &str {
        self.named_queue().unwrap_or(DEFAULT_QUEUE)
    }

    /// The address of Redis.
    pub(crate) fn redis(&self) -> &str {
        self.redis.as_deref().unwrap_or(EMBEDDED)
    }

    /// Whether the queue is in a model in this process.
    pub(crate) fn is_embedded(&self) -> bool {
        self.redis() == EMBEDDED
    }

    /// The engine.
    pub(crate) fn engine(&self) -> Engine {
        match self.engine {
            EngineName::Component => Engine::Component,
            EngineName::Native => Engine::Native,
        }
    }

    /// The component that was named, if the engine needs one.
    pub(crate) fn component(&self) -> Result<Option<Vec<u8>>, Failure> {
        match self.component_path() {
            Some(path) => read_component(path).map(Some),
            None => Ok(None),
        }
    }

    fn component_path(&self) -> Option<&Path> {
        match self.engine {
            EngineName::Component => self.component.as_deref(),
            EngineName::Native => None,
        }
    }

    /// Opens the queue with this name.
    pub(crate) async fn open(
        &self,
        name: &str,
        configure: impl FnOnce(&mut Config),
        messages: &Messages,
    ) -> Result<Queue, Failure> {
        let mut config = Config::new(name);
        configure(&mut config);
        config.validate()?;
        let connection = Connection::open(self.redis()).await?;
        let queue = self.open_on(connection, config).await?;
        if self.is_embedded() {
            messages.note(
                "no Redis: using a model in this process, whose contents end with it; give --redis",
            );
        }
        Ok(queue)
    }

    /// Opens a queue on a connection.
    pub(crate) async fn open_on(
        &self,
        connection: Connection,
        config: Config,
    ) -> Result<Queue, Failure> {
        let mut builder = Queue::builder(config.name.clone())
            .connection(connection)
            .engine(self.engine())
            .configure(|settings| *settings = config);
        if let Some(bytes) = self.component()? {
            builder = builder.component(bytes);
        }
        builder.open().await.map_err(|error| self.blame(error))
    }

    /// With a good configuration and an open connection it is the component that cannot be used.
    fn blame(&self, mut error: Error) -> Failure {
        if let Some(path) = self.component_path()
            && error.kind == ErrorKind::Configuration
        {
            error.message = unusable(path, &error.message);
        }
        error.into()
    }
}

impl Leasing {
    /// Puts the choices into a configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        if self.no_lease {
            config.visibility_timeout_ms = None;
            config.max_delivery_count = None;
        } else if let Some(timeout) = self.visibility_timeout {
            config.visibility_timeout_ms = Some(milliseconds(timeout));
        }
        if let Some(limit) = self.max_deliveries {
            config.max_delivery_count = (limit > 0).then_some(limit);
        }
    }
}

/// A duration that came from the command line, and so has no more than milliseconds.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The log that is kept at this length.
pub(crate) fn log(length: Option<u64>) -> Log {
    length.map_or(Log::Off, Log::Capped)
}

/// What is wrong with a component file.
fn unusable(path: &Path, reason: &str) -> String {
    format!("cannot use the component {}: {reason}", path.display())
}

fn read_component(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_COMPONENT_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            Failure::usage(unusable(path, &format!("{error}; correct --component")))
        })?;
    if bytes.len() as u64 > MAX_COMPONENT_BYTES {
        let reason = "it is larger than 64 MiB; give the bytes of leaseline.wasm";
        return Err(Failure::usage(unusable(path, reason)));
    }
    Ok(bytes)
}
