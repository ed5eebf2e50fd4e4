//! A Redis capability of any kind, shared by everything that is opened on it.

use leaseline_core::capability::{PipelineReply, Redis, Reply};
use leaseline_core::{Error, ErrorKind};
use leaseline_redis::{Connector, OpenError};

use crate::embedded::Embedded;

/// The URL of the in-process model.
pub const EMBEDDED: &str = "embedded:";

/// A Redis that queues are opened on. Clones share it.
#[derive(Clone, Debug)]
pub struct Connection(leaseline_wasmtime::Connection);

impl Connection {
    /// Wraps a capability: one's own, or one that a test puts in between.
    pub fn new(redis: impl Redis + 'static) -> Self {
        Self(leaseline_wasmtime::Connection::new(redis))
    }

    /// Connects to `redis://`, `rediss://` or `redis+unix://`, or makes an `embedded:` model whose
    /// contents end with it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for an address that cannot be used, [`ErrorKind::Unavailable`]
    /// for a server that cannot be reached, [`ErrorKind::Server`] for one that refuses the
    /// credentials or the connection. No message contains a password.
    pub async fn open(url: &str) -> Result<Self, Error> {
        if url == EMBEDDED {
            return Ok(Self::new(Embedded::new()));
        }
        let connector = Connector::new(url).map_err(open_error)?;
        Ok(Self::new(connector.open().await.map_err(open_error)?))
    }
}

fn open_error(error: OpenError) -> Error {
    let text = error.to_string();
    match error {
        OpenError::InvalidAddress { .. }
        | OpenError::UnknownScheme { .. }
        | OpenError::NotSupportedYet { .. } => Error::new(
            ErrorKind::Configuration,
            format!("{text}; '{EMBEDDED}' needs no server"),
        ),
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

impl Redis for Connection {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.0.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.0.pipeline(commands, timeout_ms).await
    }
}
