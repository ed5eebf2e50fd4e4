//! The shared handle.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::capability::{PipelineReply, Redis, RedisError, Reply};
use redis::aio::MultiplexedConnection;
use tokio::time::{Instant, timeout_at};

use crate::command;
use crate::connector::Connector;
use crate::error::OpenError;
use crate::link::Flight;
use crate::policy;
use crate::reply;
use crate::slot::Slot;

/// A Redis behind one multiplexed connection that all clones share.
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
#[derive(Clone)]
pub struct Connection {
    slot: Arc<Slot>,
}

impl Connection {
    pub(crate) fn new(connector: Connector) -> Self {
        Self {
            slot: Slot::new(connector),
        }
    }

    /// Returns when there is a connection, dialling if need be.
    ///
    /// # Errors
    ///
    /// Why there is none. Nothing is remembered: the next call dials again.
    pub async fn ready(&self) -> Result<(), OpenError> {
        self.slot.link().await.map(drop)
    }

    /// Sends once and waits once. `send` is called only when there is a connection.
    async fn call<T, F>(
        &self,
        timeout_ms: u32,
        send: impl FnOnce(MultiplexedConnection) -> F + Send,
    ) -> Result<T, RedisError>
    where
        F: Future<Output = redis::RedisResult<T>> + Send,
    {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.into());
        if timeout_ms == 0 {
            return Err(RedisError::NotSent("the deadline was zero".into()));
        }
        let link = match timeout_at(deadline, self.slot.link()).await {
            Ok(link) => link?,
            Err(_) => {
                let target = &self.slot.connector().address.target;
                let reason = format!("the deadline passed while connecting to {target}");
                return Err(RedisError::NotSent(reason));
            }
        };
        let waiting = Waiting {
            slot: &self.slot,
            flight: Flight::new(link),
            over: false,
        };
        match timeout_at(deadline, waiting.flight.link().exchange(send)).await {
            Ok(Ok(reply)) => {
                waiting.end();
                Ok(reply)
            }
            Ok(Err(failure)) => {
                let outcome = waiting.flight.judge(&failure);
                waiting.end_and_retire();
                Err(outcome)
            }
            Err(_) => {
                waiting.end_and_retire();
                Err(RedisError::Timeout)
            }
        }
    }
}

impl Redis for Connection {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        policy::check(argv)?;
        let command = command::pack(argv);
        let send = |mut sender: MultiplexedConnection| async move {
            sender.send_packed_command(&command).await
        };
        let tree = self.call(timeout_ms, send).await?;
        reply::single(tree, self.slot.connector().max_reply_bytes)
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        commands.iter().try_for_each(|argv| policy::check(argv))?;
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let pipeline = command::pack_all(commands);
        let count = commands.len();
        let send = |mut sender: MultiplexedConnection| async move {
            sender.send_packed_commands(&pipeline, 0, count).await
        };
        let trees = self.call(timeout_ms, send).await?;
        reply::pipeline(trees, self.slot.connector().max_reply_bytes)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection")
            .field(self.slot.connector())
            .finish()
    }
}

/// Notices when the caller drops a call that was waiting.
struct Waiting<'a> {
    slot: &'a Slot,
    flight: Flight,
    over: bool,
}

impl Waiting<'_> {
    fn end(mut self) {
        self.over = true;
    }

    fn end_and_retire(mut self) {
        self.over = true;
        self.slot.retire(self.flight.link());
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.over && self.flight.is_suspicious() {
            self.slot.retire(self.flight.link());
        }
    }
}
