//! The shared handle.

use std::fmt;
use std::sync::Arc;

use leaseline_core::capability::{PipelineReply, Redis, Reply};

use crate::backend::{Backend, Servers};
use crate::connector::Connector;
use crate::error::OpenError;
use crate::node::Node;
use crate::policy;

/// A Redis behind one multiplexed connection that all clones share; of a cluster, one for each node
/// that is needed.
///
/// # When a call times out
///
/// Its connection is retired: it gets no further calls, and the next call dials. A silent socket
/// cannot be told from a slow server, and replies come in order, so every later call would wait
/// behind the missing one. Calls already waiting on the retired connection keep it until they have
/// their own reply or deadline, so a slow command costs its neighbours nothing. The new
/// connection's handshake must be answered before anything is sent on it: on a server that hangs,
/// the following calls fail as *not sent* instead of as timed out. At most one connection is dialled
/// at a time, so timeouts cannot start a storm. A call that its caller dropped after a second of
/// complete silence counts the same; one dropped sooner leaves the connection as it is, and its
/// reply is thrown away when it comes.
///
/// A second of silence retires the connection of a call that goes on waiting, too. If the server then
/// answers a new connection and the old one stays silent for another second, the call ends as
/// *unknown*: its socket is half open. While the server answers nobody, it goes on waiting.
///
/// # On a cluster
///
/// A call goes to the node that owns the hash slot of its keys, which must be one; a pipeline goes to
/// one node as a whole. Commands without keys go there too in a pipeline, and alone to any node. A
/// node that answers `MOVED` or `ASK` has not run the command, so it is sent to the node that was
/// named; in a pipeline those that were not run are sent on, in order, behind those that were.
#[derive(Clone)]
pub struct Connection {
    backend: Arc<Backend<Node>>,
}

impl Connection {
    pub(crate) fn new(connector: Connector) -> Self {
        Self {
            backend: Arc::new(Backend::new(connector, Box::new(Node::new), usize::MAX)),
        }
    }

    /// Returns when there is a connection, dialling if need be. Of a cluster, when it is known who
    /// owns which slot.
    ///
    /// # Errors
    ///
    /// Why there is none. Nothing is remembered: the next call dials again.
    pub async fn ready(&self) -> Result<(), OpenError> {
        match &self.backend.servers {
            Servers::One(node) => node.ready().await,
            Servers::Cluster(cluster) => cluster.ready().await,
        }
    }
}

impl Redis for Connection {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        policy::check(argv)?;
        self.backend.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        commands.iter().try_for_each(|argv| policy::check(argv))?;
        self.backend.pipeline(commands, timeout_ms).await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection")
            .field(self.backend.connector())
            .finish()
    }
}
