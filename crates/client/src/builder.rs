//! Configuring and opening a queue.

use std::fmt;
use std::time::Duration;

use leaseline_core::waiting::Watch;
use leaseline_core::{Config, Error};

use crate::connection::{Connection, EMBEDDED};
use crate::engine::{Engine, Opener};
use crate::pool::{Pool, millis};
use crate::queue::Queue;

/// Events of one call that are counted: more than a batch of a thousand settlements has.
const METERED_EVENTS: u32 = 8_192;

/// A queue about to be opened. Made by [`Queue::builder`].
#[derive(Debug)]
pub struct Builder {
    config: Config,
    address: Address,
    engine: Engine,
    component: Option<Vec<u8>>,
    #[cfg(feature = "metrics")]
    metrics: bool,
}

enum Address {
    Url(String),
    Connection(Connection),
}

/// An address may hold a password.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Without a scheme it is no address, and may be all password.
            Self::Url(url) => f.write_str(url.split_once("://").map_or("?", |(scheme, _)| scheme)),
            Self::Connection(connection) => connection.fmt(f),
        }
    }
}

impl Builder {
    pub(crate) fn new(name: String) -> Self {
        Self {
            config: Config::new(name),
            address: Address::Url(EMBEDDED.into()),
            engine: Engine::default(),
            component: None,
            #[cfg(feature = "metrics")]
            metrics: false,
        }
    }

    /// The Redis to connect to: `redis://`, `rediss://`, `redis+unix://`, `redis+cluster://`,
    /// `redis+sentinel://`, or `embedded:` (the default) for a model in this process whose contents
    /// end with it. On a cluster the name needs a hash tag, such as `{jobs}`.
    pub fn redis(mut self, url: impl Into<String>) -> Self {
        self.address = Address::Url(url.into());
        self
    }

    /// A Redis that is open already, or one's own capability.
    pub fn connection(mut self, connection: Connection) -> Self {
        self.address = Address::Connection(connection);
        self
    }

    /// Where the queue logic runs. Default: as a component.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// A component to run in place of the built-in one. It must be built from the same sources.
    pub fn component(mut self, bytes: Vec<u8>) -> Self {
        self.component = Some(bytes);
        self
    }

    /// How long a claim holds its message. Default 300 s.
    pub fn visibility_timeout(mut self, timeout: Duration) -> Self {
        self.config.visibility_timeout_ms = Some(millis(timeout));
        self
    }

    /// Claims without leases: a consumer that dies keeps its message for good.
    pub fn without_leases(mut self) -> Self {
        self.config.visibility_timeout_ms = None;
        self.config.max_delivery_count = None;
        self
    }

    /// Claims granted before a message is dead-lettered. Default 10.
    pub fn max_delivery_count(mut self, limit: Option<u32>) -> Self {
        self.config.max_delivery_count = limit;
        self
    }

    /// Tells [metrics](crate::metrics) to the recorder that is installed now.
    #[cfg(feature = "metrics")]
    pub fn metrics(mut self) -> Self {
        self.metrics = true;
        self
    }

    #[cfg(feature = "metrics")]
    fn meter(&self) -> Option<crate::Meter> {
        self.metrics
            .then(|| crate::Meter::new(&self.config.name, self.config.event_buffer))
    }

    #[cfg(not(feature = "metrics"))]
    fn meter(&self) -> Option<crate::Meter> {
        None
    }

    /// Changes any setting.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Checks the configuration, connects, and makes the engine ready.
    ///
    /// # Errors
    ///
    /// [`leaseline_core::ErrorKind::Configuration`] for a setting, address or component that
    /// cannot be used; connection errors as in [`Connection::open`].
    pub async fn open(mut self) -> Result<Queue, Error> {
        self.config.cluster |= match &self.address {
            Address::Url(url) => Connection::is_cluster_address(url),
            Address::Connection(connection) => connection.is_cluster(),
        };
        self.config.validate()?;
        let meter = self.meter();
        let connection = match self.address {
            Address::Url(url) => Connection::open(&url).await?,
            Address::Connection(connection) => connection,
        };
        let idle = connection.idle(Watch::new(&self.config));
        let mut config = self.config.clone();
        if meter.is_some() {
            config.event_buffer = config.event_buffer.max(METERED_EVENTS);
        }
        let opener = Opener::new(self.engine, self.component, config, connection).await?;
        let pool = Pool::new(opener, meter);
        pool.warm().await?;
        Ok(Queue::new(pool, idle, self.config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_password() {
        let builder = Builder::new("jobs".into()).redis("rediss://user:s3cret@host/1");
        let text = format!("{builder:?}");
        assert!(
            text.contains("rediss") && !text.contains("s3cret"),
            "{text}"
        );
        let text = format!(
            "{:?}",
            Builder::new("jobs".into()).redis("user:s3cret@host")
        );
        assert!(!text.contains("s3cret"), "{text}");
    }
}
