//! Which queue, where, and how it is run.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use leaseline::{Config, Connection, EMBEDDED, Engine, Error, ErrorKind, Queue};
use serde::Deserialize;

use crate::failure::Failure;
use crate::messages::Messages;
use crate::settings::{File as SettingsFile, Shared, take};

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
    /// redis:// (rediss:// with TLS), redis+unix://, redis+cluster:// or redis+sentinel://, or
    /// embedded: [default: embedded:]
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
    /// [default: component]
    #[arg(long, value_name = "ENGINE", global = true, env = "LEASELINE_ENGINE")]
    engine: Option<EngineName>,

    /// A component to run instead of the built-in one; not used by the native engine
    #[arg(long, value_name = "FILE", global = true, env = "LEASELINE_COMPONENT")]
    component: Option<PathBuf>,

    /// What holds for every queue that is opened.
    #[command(flatten)]
    pub(crate) shared: Shared,

    /// Where settings that are not on the command line may come from.
    #[arg(skip)]
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EngineName {
    Component,
    Native,
}

impl Target {
    /// Takes from a configuration file what is not given.
    pub(crate) fn fill(&mut self, file: &SettingsFile, path: Option<&Path>) {
        take(&mut self.redis, &file.redis);
        take(&mut self.queue, &file.queue);
        take(&mut self.engine, &file.engine);
        take(&mut self.component, &file.component);
        self.shared.fill(file);
        self.file = path.map(Path::to_path_buf);
    }

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
        self.named_engine().unwrap_or_default()
    }

    /// The engine that was named.
    pub(crate) fn named_engine(&self) -> Option<Engine> {
        self.engine.map(|engine| match engine {
            EngineName::Component => Engine::Component,
            EngineName::Native => Engine::Native,
        })
    }

    /// The component that was named, if the engine needs one.
    pub(crate) fn component(&self) -> Result<Option<Vec<u8>>, Failure> {
        match self.component_path() {
            Some(path) => read_component(path).map(Some),
            None => Ok(None),
        }
    }

    fn component_path(&self) -> Option<&Path> {
        match self.engine() {
            Engine::Component => self.component.as_deref(),
            Engine::Native => None,
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
        self.shared.apply(&mut config);
        config.cluster = Connection::is_cluster_address(self.redis());
        configure(&mut config);
        config.validate().map_err(|mut error| {
            if let Some(path) = &self.file {
                error.message = format!(
                    "{}; some settings are from {}",
                    error.message,
                    path.display()
                );
            }
            error
        })?;
        let connection = Connection::open(self.redis()).await?;
        let queue = self.open_on(connection, config).await?;
        // Who asked for the model knows.
        if self.redis.is_none() {
            messages.warning(
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
