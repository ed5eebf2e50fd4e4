//! Why a Redis cannot be opened.

use std::time::Duration;

use leaseline_core::capability::{RedisError, ServerError};
use thiserror::Error;

use crate::address::ACCEPTED_SCHEMES;

/// Why a [`Connector`](crate::Connector) cannot be made, or its Redis cannot be reached.
///
/// No variant ever holds a password or a user name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address does not parse, or asks for something that does not exist.
    #[error("the Redis address is not valid: {reason}")]
    InvalidAddress {
        /// What is wrong with it, without quoting it.
        reason: String,
    },
    /// The address has a scheme that is none of ours.
    #[error("{scheme}:// is not a Redis address; accepted are {ACCEPTED_SCHEMES}")]
    UnknownScheme {
        /// The scheme, without `://`.
        scheme: String,
    },
    /// A plain address leads to a node of a cluster.
    #[error(
        "{address} is a node of a Redis Cluster; write redis+cluster:// (with TLS: rediss+cluster://)"
    )]
    ClusterNode {
        /// Host and port, or the path of the socket.
        address: String,
    },
    /// The address of a cluster leads to a server that is no part of one.
    #[error("{address} is no part of a Redis Cluster; write redis:// (with TLS: rediss://)")]
    NotCluster {
        /// Host and port.
        address: String,
    },
    /// The sentinels have never heard of the service.
    #[error("the sentinels know no service '{service}'; correct the name after the hosts")]
    UnknownService {
        /// The name in the address.
        service: String,
    },
    /// The server that the sentinels call the master says that it is none, as in a failover.
    #[error("{address} is not the master of '{service}' at this moment")]
    NotMaster {
        /// Host and port.
        address: String,
        /// The name in the address.
        service: String,
    },
    /// The server cannot be reached, or closed the connection during the handshake.
    #[error("cannot reach {address}: {reason}")]
    Unreachable {
        /// Host and port, or the path of the socket.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// Connecting took longer than the connect timeout.
    #[error("cannot reach {address}: nothing within {} ms {stage}", after.as_millis())]
    ConnectTimeout {
        /// Host and port, or the path of the socket.
        address: String,
        /// The connect timeout.
        after: Duration,
        /// What was being waited for, in words.
        stage: &'static str,
    },
    /// The TLS handshake failed.
    #[error("cannot reach {address}: TLS: {reason}")]
    Tls {
        /// Host and port.
        address: String,
        /// What rustls said.
        reason: String,
    },
    /// The server wants a password that the address does not have, or refused the one it has.
    #[error("{address} refused the login: {error}; check the user and password in the address")]
    Unauthenticated {
        /// Host and port, or the path of the socket.
        address: String,
        /// The server's own words: `NOAUTH`, `WRONGPASS` or the older `ERR` forms.
        error: ServerError,
    },
    /// The server answered the handshake with an error: too many clients, protected mode, no such
    /// database.
    #[error("{address} refused the connection: {error}")]
    Refused {
        /// Host and port, or the path of the socket.
        address: String,
        /// The server's own words.
        error: ServerError,
    },
    /// Something answered, but not in the Redis protocol.
    #[error("{address} does not speak the Redis protocol (a TLS port needs rediss://)")]
    NotRedis {
        /// Host and port, or the path of the socket.
        address: String,
    },
}

impl From<OpenError> for RedisError {
    /// What a call says when its connection could not be made: the command was never sent. A
    /// refused login keeps the server's code, because waiting does not help against it; nor does it
    /// help against the wrong scheme.
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Unauthenticated { error, .. } => RedisError::Server(error),
            OpenError::ClusterNode { .. } | OpenError::NotCluster { .. } => {
                RedisError::Denied(error.to_string())
            }
            other => RedisError::NotSent(other.to_string()),
        }
    }
}

/// An I/O error in a few words, without the `os error` number.
pub(crate) fn describe_io(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".into(),
        ErrorKind::ConnectionReset => "connection reset".into(),
        ErrorKind::NotFound => "no such socket".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::HostUnreachable => "no route to the host".into(),
        ErrorKind::NetworkUnreachable => "the network is unreachable".into(),
        ErrorKind::TimedOut => "the network timed out".into(),
        ErrorKind::UnexpectedEof => "the connection was closed".into(),
        _ => error.to_string(),
    }
}
