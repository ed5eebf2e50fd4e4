//! Which queue, where, and how it is run.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use leaseline::{Config, Connection, EMBEDDED, Engine, Error, ErrorKind, Queue, Retry};
use serde::Deserialize;

use crate::failure::Failure;
use crate::messages::Messages;
use crate::settings::{File as SettingsFile, Shared, take};

/// What help calls the options that every command has.
pub(crate) const HEADING: &str = "Options of every command";

/// The queue that a command concerns when none is named.
const DEFAULT_QUEUE: &str = "jobs";

/// The pause between two attempts to reach a server.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

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

    /// Certificate authorities (PEM) to trust instead of the public ones, for rediss://
    #[arg(long, value_name = "FILE", global = true, env = "LEASELINE_TLS_CA")]
    tls_ca: Option<PathBuf>,

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
        take(&mut self.tls_ca, &file.tls_ca);
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
        let config = self.config(name, configure)?;
        let connection = self.connection().await?;
        self.opened(connection, config, messages).await
    }

    /// The same for a worker, which may be started before its server: waits for it within the retry
    /// budget.
    pub(crate) async fn open_patiently(
        &self,
        name: &str,
        configure: impl FnOnce(&mut Config),
        messages: &Messages,
    ) -> Result<Queue, Failure> {
        let config = self.config(name, configure)?;
        let budget = Duration::from_millis(config.retry_budget_ms);
        let connection = self.connection_within(budget, messages).await?;
        self.opened(connection, config, messages).await
    }

    fn config(&self, name: &str, configure: impl FnOnce(&mut Config)) -> Result<Config, Error> {
        let mut config = Config::new(name);
        self.shared.apply(&mut config);
        config.cluster = Connection::is_cluster_address(self.redis());
        configure(&mut config);
        config.validate().map_err(|mut error| {
            error.message = in_our_names(error.message);
            if let Some(path) = &self.file {
                error.message = format!(
                    "{}; some settings are from {}",
                    error.message,
                    path.display()
                );
            }
            error
        })?;
        Ok(config)
    }

    async fn opened(
        &self,
        connection: Connection,
        config: Config,
        messages: &Messages,
    ) -> Result<Queue, Failure> {
        let queue = self.open_on(connection, config).await?;
        // Who asked for the model knows.
        if self.redis.is_none() {
            messages.warning(
                "no Redis: using a model in this process, whose contents end with it; give --redis",
            );
        }
        Ok(queue)
    }

    /// Connects to Redis.
    pub(crate) async fn connection(&self) -> Result<Connection, Failure> {
        let path = match &self.tls_ca {
            Some(path) if self.redis().starts_with("rediss") => path,
            _ => return Ok(Connection::open(self.redis()).await?),
        };
        let pem = std::fs::read(path).map_err(|error| {
            let path = path.display();
            Failure::usage(format!("cannot read {path}: {error}; correct --tls-ca"))
        })?;
        Ok(Connection::open_trusting(self.redis(), &pem).await?)
    }

    async fn connection_within(
        &self,
        budget: Duration,
        messages: &Messages,
    ) -> Result<Connection, Failure> {
        let began = Instant::now();
        let mut told = false;
        loop {
            match self.connection().await {
                Err(Failure::Queue(error))
                    if error.retry == Retry::Yes && began.elapsed() < budget =>
                {
                    if !std::mem::replace(&mut told, true) {
                        messages.warning(&format!("{error}; trying again until --retry-budget"));
                    }
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                opened => return opened,
            }
        }
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

/// A message about a configuration with the names that settings have here.
fn in_our_names(message: String) -> String {
    const NAMES: [(&str, &str); 9] = [
        ("max_delivery_count", "max_deliveries"),
        ("deduplication_ttl_ms", "dedup_ttl"),
        (
            "overload_block_timeout_ms",
            "pending_overload_block_timeout",
        ),
        ("visibility_timeout_ms", "visibility_timeout"),
        ("retry_budget_ms", "retry_budget"),
        ("retry_initial_delay_ms", "retry_initial_delay"),
        ("retry_max_delay_ms", "retry_max_delay"),
        ("command_timeout_ms", "command_timeout"),
        ("drop_oldest", "drop-oldest"),
    ];
    NAMES.iter().fold(message, |message, (theirs, ours)| {
        message.replace(theirs, ours)
    })
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
