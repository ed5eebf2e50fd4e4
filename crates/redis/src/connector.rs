//! Where to connect, and how.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustls::RootCertStore;

use crate::address::{Address, Layout};
use crate::connection::Connection;
use crate::dedicated::Dedicated;
use crate::error::OpenError;
use crate::tls;

/// An address with options, from which connections are opened.
///
/// `Display` and `Debug` show transport, host, port and database, never user or password.
#[derive(Clone)]
pub struct Connector {
    pub(crate) address: Address,
    pub(crate) connect_timeout: Duration,
    pub(crate) max_reply_bytes: u64,
    roots: Option<Arc<RootCertStore>>,
}

impl Connector {
    /// How long dialling may take, with TLS and login, unless set otherwise.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

    /// The largest reply that is handed on, unless set otherwise: 64 MiB.
    pub const DEFAULT_MAX_REPLY_BYTES: u64 = 64 * 1024 * 1024;

    /// Parses `redis://[USER[:PASSWORD]@]HOST[:PORT][/DB]`, the same with `rediss://` for TLS, or
    /// `redis+unix:///PATH[?db=DB&user=USER&pass=PASSWORD]`. A password alone is written
    /// `:PASSWORD@`. Nothing is connected yet.
    ///
    /// `redis+cluster://[USER:PASSWORD@]HOST[:PORT],…` is a cluster, of which some nodes suffice.
    /// `redis+sentinel://[USER:PASSWORD@]HOST[:PORT],…/SERVICE[/DB]` is the master of a service,
    /// with the login of the master before the hosts, which are the sentinels; their own login is
    /// `?sentinel_user=USER&sentinel_password=PASSWORD`. Both exist with `rediss` too.
    ///
    /// # Errors
    ///
    /// [`OpenError::InvalidAddress`] or [`OpenError::UnknownScheme`].
    pub fn new(url: &str) -> Result<Self, OpenError> {
        Ok(Self {
            address: Address::parse(url)?,
            connect_timeout: Self::DEFAULT_CONNECT_TIMEOUT,
            max_reply_bytes: Self::DEFAULT_MAX_REPLY_BYTES,
            roots: None,
        })
    }

    /// Sets how long dialling may take, from the name lookup to the login.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Sets the largest reply that is handed on, in bytes on the wire; the replies of a pipeline
    /// count together. A larger one is dropped and reported with its size.
    ///
    /// The limit protects whoever receives the reply. redis-rs has read it into memory by then,
    /// so it does not bound this process against the server.
    #[must_use]
    pub fn max_reply_bytes(mut self, limit: u64) -> Self {
        self.max_reply_bytes = limit;
        self
    }

    /// Trusts these certificate authorities (PEM) instead of the public ones, for `rediss://`.
    ///
    /// # Errors
    ///
    /// [`OpenError::InvalidAddress`] if the text holds no usable certificate.
    pub fn tls_root_certificates(mut self, pem: &[u8]) -> Result<Self, OpenError> {
        self.roots = Some(Arc::new(tls::roots_from_pem(pem)?));
        Ok(self)
    }

    /// Whether the address is that of a cluster, where all keys of a queue must share a hash slot.
    pub fn is_cluster(&self) -> bool {
        matches!(self.address.layout, Layout::Cluster(_))
    }

    /// Connects and logs in, so that a wrong address or password is noticed now.
    ///
    /// # Errors
    ///
    /// Any of [`OpenError`], with the reason in words for the operator.
    pub async fn open(self) -> Result<Connection, OpenError> {
        let connection = self.lazy();
        connection.ready().await?;
        Ok(connection)
    }

    /// A connection that is dialled by its first call.
    pub fn lazy(self) -> Connection {
        Connection::new(self)
    }

    /// A connection of its own for commands that block. `name` is what `CLIENT LIST` shows; no
    /// spaces. It is dialled by its first call.
    pub fn dedicated(self, name: &'static str) -> Dedicated {
        Dedicated::new(self, name)
    }

    pub(crate) fn roots(&self) -> Arc<RootCertStore> {
        self.roots
            .clone()
            .unwrap_or_else(|| Arc::new(tls::public_roots()))
    }
}

impl FromStr for Connector {
    type Err = OpenError;

    fn from_str(url: &str) -> Result<Self, OpenError> {
        Self::new(url)
    }
}

impl fmt::Display for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector")
            .field("address", &format_args!("{}", self.address))
            .field("connect_timeout", &self.connect_timeout)
            .field("max_reply_bytes", &self.max_reply_bytes)
            .finish_non_exhaustive()
    }
}
