//! A Redis capability of any kind, shared by everything that is opened on it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use leaseline_core::capability::{PipelineReply, Redis, Reply};
use leaseline_core::{Error, ErrorKind, Retry};
use leaseline_redis::{Connector, OpenError};

use crate::embedded::Embedded;

/// The URL of the in-process model.
pub const EMBEDDED: &str = "embedded:";

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`Redis`] in the form that can be a trait object.
trait Erased: Send + Sync {
    fn execute<'a>(&'a self, argv: &'a [&'a [u8]], timeout_ms: u32) -> Boxed<'a, Reply>;
    fn pipeline<'a>(
        &'a self,
        commands: &'a [&'a [&'a [u8]]],
        timeout_ms: u32,
    ) -> Boxed<'a, PipelineReply>;
}

impl<R: Redis> Erased for R {
    fn execute<'a>(&'a self, argv: &'a [&'a [u8]], timeout_ms: u32) -> Boxed<'a, Reply> {
        Box::pin(Redis::execute(self, argv, timeout_ms))
    }

    fn pipeline<'a>(
        &'a self,
        commands: &'a [&'a [&'a [u8]]],
        timeout_ms: u32,
    ) -> Boxed<'a, PipelineReply> {
        Box::pin(Redis::pipeline(self, commands, timeout_ms))
    }
}

/// A Redis that queues are opened on. Clones share it.
#[derive(Clone)]
pub struct Connection {
    redis: Arc<dyn Erased>,
}

impl Connection {
    /// Wraps a capability: one's own, or one that a test puts in between.
    pub fn new(redis: impl Redis + 'static) -> Self {
        Self {
            redis: Arc::new(redis),
        }
    }

    /// Connects to `redis://`, `rediss://` or `redis+unix://`, or makes an `embedded:` model whose
    /// contents end with it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for an address that cannot be used and for refused
    /// credentials, [`ErrorKind::Unavailable`] for a server that cannot be reached. No message
    /// contains a password.
    pub async fn open(url: &str) -> Result<Self, Error> {
        if url == EMBEDDED {
            return Ok(Self::new(Embedded::new()));
        }
        let connector = Connector::new(url).map_err(open_error)?;
        Ok(Self::new(connector.open().await.map_err(open_error)?))
    }
}

fn open_error(error: OpenError) -> Error {
    let (kind, remedy) = match &error {
        OpenError::InvalidAddress { .. }
        | OpenError::UnknownScheme { .. }
        | OpenError::NotSupportedYet { .. } => {
            (ErrorKind::Configuration, "; 'embedded:' needs no server")
        }
        OpenError::Unreachable { .. } | OpenError::ConnectTimeout { .. } => (
            ErrorKind::Unavailable,
            "; start Redis there, or correct the address",
        ),
        _ => (ErrorKind::Server, ""),
    };
    let retry = if kind == ErrorKind::Unavailable {
        Retry::Yes
    } else {
        Retry::No
    };
    Error::new(kind, format!("{error}{remedy}")).with_retry(retry)
}

impl Redis for Connection {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.redis.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.redis.pipeline(commands, timeout_ms).await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
