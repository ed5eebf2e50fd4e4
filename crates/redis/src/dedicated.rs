//! A connection that is not shared, and so may block.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::capability::{PipelineReply, Redis, RedisError, Reply};
use redis::aio::MultiplexedConnection;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::command;
use crate::connector::Connector;
use crate::dial::dial;
use crate::link::{Flight, Link};
use crate::policy;
use crate::reply;

/// A connection of its own for commands that block, such as `BLMOVE`. Everything else that
/// [`Connection`](crate::Connection) refuses is refused here too.
///
/// It is dialled by its first call. Calls come one after the other. One without a reply, because
/// its deadline passed, the connection was lost or its caller went away, closes the connection,
/// and the next one dials; nothing waits behind a command that blocks.
pub struct Dedicated {
    connector: Arc<Connector>,
    name: &'static str,
    link: Mutex<Option<Arc<Link>>>,
}

impl Dedicated {
    pub(crate) fn new(connector: Connector, name: &'static str) -> Self {
        Self {
            connector: Arc::new(connector),
            name,
            link: Mutex::default(),
        }
    }

    async fn call<T, F>(
        &self,
        timeout_ms: u32,
        send: impl FnOnce(MultiplexedConnection) -> F + Send,
    ) -> Result<T, RedisError>
    where
        F: Future<Output = redis::RedisResult<T>> + Send,
    {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.into());
        let not_sent = || RedisError::NotSent("the deadline passed while connecting".into());
        let mut place = timeout_at(deadline, self.link.lock())
            .await
            .map_err(|_| not_sent())?;
        // Out of its place until there is a reply: whatever ends this call also closes it.
        let link = match place.take().filter(|link| link.is_open()) {
            Some(link) => link,
            None => {
                let dialling = dial(Arc::clone(&self.connector), self.name);
                timeout_at(deadline, dialling)
                    .await
                    .map_err(|_| not_sent())??
            }
        };
        let flight = Flight::new(Arc::clone(&link));
        match timeout_at(deadline, link.exchange(send)).await {
            Ok(Ok(reply)) => {
                *place = Some(link);
                Ok(reply)
            }
            Ok(Err(failure)) => Err(flight.judge(&failure)),
            Err(_) => Err(RedisError::Timeout),
        }
    }
}

impl Redis for Dedicated {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        policy::check_dedicated(argv)?;
        let command = command::pack(argv);
        let send = |mut sender: MultiplexedConnection| async move {
            sender.send_packed_command(&command).await
        };
        let tree = self.call(timeout_ms, send).await?;
        reply::single(tree, self.connector.max_reply_bytes)
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        commands
            .iter()
            .try_for_each(|argv| policy::check_dedicated(argv))?;
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let pipeline = command::pack_all(commands);
        let count = commands.len();
        let send = |mut sender: MultiplexedConnection| async move {
            sender.send_packed_commands(&pipeline, 0, count).await
        };
        let trees = self.call(timeout_ms, send).await?;
        reply::pipeline(trees, self.connector.max_reply_bytes)
    }
}

impl fmt::Debug for Dedicated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dedicated").field(&self.connector).finish()
    }
}
