//! What an address can lead to.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The transport and its destination.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// Plain TCP.
    Tcp { host: String, port: u16 },
    /// TLS over TCP.
    Tls { host: String, port: u16 },
    /// A socket file.
    Unix(PathBuf),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } | Self::Tls { host, port } if host.contains(':') => {
                write!(f, "[{host}]:{port}")
            }
            Self::Tcp { host, port } | Self::Tls { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Target {
    /// Another server that is reached the same way.
    pub(crate) fn beside(&self, host: &str, port: u16) -> Self {
        let host = host.to_owned();
        match self {
            Self::Tls { .. } => Self::Tls { host, port },
            Self::Tcp { .. } | Self::Unix(_) => Self::Tcp { host, port },
        }
    }

    /// Its host, if it has one.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            Self::Tcp { host, .. } | Self::Tls { host, .. } => Some(host),
            Self::Unix(_) => None,
        }
    }
}

/// A user name (or none) and a password. Has no `Display`, and its `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) user: Option<String>,
    pub(crate) password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(hidden)")
    }
}

/// What one connection leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// A server that is no part of a cluster.
    Alone(Target),
    /// A node of a cluster.
    Member(Target),
    /// Whichever server is the master at the time of dialling.
    Master(Arc<Sentinels>),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone(target) | Self::Member(target) => target.fmt(f),
            Self::Master(sentinels) => write!(f, "the master of {}", sentinels.service),
        }
    }
}

/// Who is asked for a master, and for which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentinels {
    /// At least one.
    pub(crate) targets: Vec<Target>,
    pub(crate) service: String,
    /// Those of the sentinels themselves.
    pub(crate) credentials: Option<Credentials>,
}

/// How many servers there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    One(Endpoint),
    /// A cluster, by some of its nodes; at least one.
    Cluster(Vec<Target>),
}
