//! One server or a cluster of them, behind either kind of connection.

use std::sync::Arc;
use std::time::Duration;

use leaseline_core::capability::{PipelineReply, RedisError, Reply};
use redis::Value as Tree;
use tokio::time::Instant;

use crate::address::{Endpoint, Layout};
use crate::cluster::Cluster;
use crate::command::Batch;
use crate::connector::Connector;
use crate::reply;

/// Something that leads to one server.
pub(crate) trait Exchange: Send + Sync + 'static {
    /// Sends the commands once, and waits once for all their replies.
    fn exchange(
        &self,
        batch: &Batch,
        deadline: Instant,
    ) -> impl Future<Output = Result<Vec<Tree>, RedisError>> + Send;
}

/// Makes what leads to a server.
pub(crate) type Open<E> = Box<dyn Fn(Arc<Connector>, Endpoint) -> E + Send + Sync>;

pub(crate) struct Backend<E> {
    connector: Arc<Connector>,
    pub(crate) servers: Servers<E>,
}

pub(crate) enum Servers<E> {
    One(E),
    Cluster(Cluster<E>),
}

impl<E: Exchange> Backend<E> {
    pub(crate) fn new(connector: Connector, open: Open<E>, members: usize) -> Self {
        let connector = Arc::new(connector);
        let servers = match &connector.address.layout {
            Layout::One(endpoint) => Servers::One(open(connector.clone(), endpoint.clone())),
            Layout::Cluster(seeds) => {
                let seeds = seeds.clone();
                Servers::Cluster(Cluster::new(connector.clone(), seeds, open, members))
            }
        };
        Self { connector, servers }
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(crate) async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        let mut trees = self.run(&[argv], timeout_ms).await?;
        match trees.pop() {
            Some(tree) => reply::single(tree, self.connector.max_reply_bytes),
            None => Err(RedisError::UnsupportedReply("no reply to a command".into())),
        }
    }

    pub(crate) async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let trees = self.run(commands, timeout_ms).await?;
        reply::pipeline(trees, self.connector.max_reply_bytes)
    }

    async fn run(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> Result<Vec<Tree>, RedisError> {
        if timeout_ms == 0 {
            return Err(RedisError::NotSent("the deadline was zero".into()));
        }
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.into());
        match &self.servers {
            Servers::One(server) => server.exchange(&Batch::of(commands), deadline).await,
            Servers::Cluster(cluster) => cluster.run(commands, deadline).await,
        }
    }
}
