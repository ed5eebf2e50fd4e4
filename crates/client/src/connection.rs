//! A Redis capability of any kind, shared by everything that is opened on it.

use std::fmt;
use std::sync::Arc;

use leaseline_core::capability::{PipelineReply, Redis, Reply};
use leaseline_core::waiting::Watch;
use leaseline_core::{Error, ErrorKind};
use leaseline_redis::{Connector, OpenError};

use crate::embedded::Embedded;
use crate::waking::{Idle, Waking};

/// The URL of the in-process model.
pub const EMBEDDED: &str = "embedded:";

/// What `CLIENT LIST` shows for a connection on which a process waits for messages.
const WAITER_NAME: &str = "leaseline-waiter";

/// A Redis that queues are opened on. Clones share it.
#[derive(Clone)]
pub struct Connection {
    redis: leaseline_wasmtime::Connection,
    waking: Arc<Waking>,
    cluster: bool,
}

impl Connection {
    /// Wraps a capability: one's own, or one that a test puts in between. Consumers that sleep on it
    /// poll twice a second; [`waking`](Self::waking) changes that.
    pub fn new(redis: impl Redis + 'static) -> Self {
        Self {
            redis: leaseline_wasmtime::Connection::new(redis),
            waking: Waking::new(None),
            cluster: false,
        }
    }

    /// Lets consumers sleep until there is a message. `open` makes a connection to the same Redis
    /// that allows commands that block, such as [`leaseline_redis::Dedicated`]; it is called once
    /// for each queue on which somebody sleeps, and connects at the first command.
    pub fn waking<R: Redis + 'static>(self, open: impl Fn() -> R + Send + Sync + 'static) -> Self {
        let open = move || leaseline_wasmtime::Connection::new(open());
        Self {
            redis: self.redis,
            waking: Waking::new(Some(Box::new(open))),
            cluster: self.cluster,
        }
    }

    /// Connects to `redis://`, `rediss://`, `redis+unix://`, `redis+cluster://` or
    /// `redis+sentinel://`, or makes an `embedded:` model whose contents end with it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for an address that cannot be used, [`ErrorKind::Unavailable`]
    /// for a server that cannot be reached, [`ErrorKind::Server`] for one that refuses the
    /// credentials or the connection. No message contains a password.
    pub async fn open(url: &str) -> Result<Self, Error> {
        if url == EMBEDDED {
            return Ok(Embedded::new().into());
        }
        Self::dial(url, Connector::new(url)).await
    }

    /// The same, and trusts these certificate authorities (PEM) instead of the public ones.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and [`ErrorKind::Configuration`] if the text holds no usable
    /// certificate.
    pub async fn open_trusting(url: &str, pem: &[u8]) -> Result<Self, Error> {
        if url == EMBEDDED {
            return Ok(Embedded::new().into());
        }
        let connector = Connector::new(url).and_then(|c| c.tls_root_certificates(pem));
        Self::dial(url, connector).await
    }

    async fn dial(url: &str, connector: Result<Connector, OpenError>) -> Result<Self, Error> {
        let connector = connector.map_err(open_error)?;
        let cluster = connector.is_cluster();
        let redis = connector.clone().open().await.map_err(open_error)?;
        let open =
            move || leaseline_wasmtime::Connection::new(connector.clone().dedicated(WAITER_NAME));
        Ok(Self {
            redis: leaseline_wasmtime::Connection::new(redis),
            waking: Waking::shared(url, Box::new(open)),
            cluster,
        })
    }

    /// Whether it is a cluster, where all keys of a queue must share a hash slot
    /// ([`Config::cluster`](leaseline_core::Config::cluster)).
    pub fn is_cluster(&self) -> bool {
        self.cluster
    }

    /// The same of an address, before anything is connected.
    pub fn is_cluster_address(url: &str) -> bool {
        Connector::new(url).is_ok_and(|connector| connector.is_cluster())
    }

    /// How consumers of these keys sleep.
    pub(crate) fn idle(&self, watch: Watch) -> Idle {
        Idle::new(Arc::clone(&self.waking), watch)
    }
}

fn open_error(error: OpenError) -> Error {
    let text = error.to_string();
    match error {
        OpenError::InvalidAddress { .. } | OpenError::UnknownScheme { .. } => Error::new(
            ErrorKind::Configuration,
            format!("{text}; '{EMBEDDED}' needs no server"),
        ),
        OpenError::ClusterNode { .. }
        | OpenError::NotCluster { .. }
        | OpenError::UnknownService { .. } => Error::new(ErrorKind::Configuration, text),
        OpenError::NotMaster { .. } => {
            Error::new(ErrorKind::Unavailable, format!("{text}; try again"))
        }
        OpenError::Unreachable { .. } | OpenError::ConnectTimeout { .. } => Error::new(
            ErrorKind::Unavailable,
            format!("{text}; start Redis there, or correct the address"),
        ),
        // Whether it passes, the server's own code says.
        OpenError::Unauthenticated { error, .. } | OpenError::Refused { error, .. } => {
            let mut error = Error::from(error);
            error.message = text;
            error
        }
        _ => Error::new(ErrorKind::Server, text),
    }
}

impl From<Embedded> for Connection {
    fn from(model: Embedded) -> Self {
        Self::new(model.clone()).waking(move || model.dedicated())
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.redis).finish()
    }
}

impl Redis for Connection {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.redis.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.redis.pipeline(commands, timeout_ms).await
    }
}
