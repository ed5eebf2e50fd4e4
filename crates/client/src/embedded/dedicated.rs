//! A client of the model that may block.

use std::time::Duration;

use leaseline_core::capability::{PipelineReply, Redis, RedisError, Reply};
use leaseline_redis_model::{self as model, ClientId};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Embedded, flatten};

/// A connection to a model on which commands may block. Clones share the model.
///
/// A wait ends by the model's clock. Where that stands still, the call's own deadline ends it, as
/// on a server that does not answer.
#[derive(Clone, Debug)]
pub struct Dedicated(Embedded);

impl Dedicated {
    pub(super) fn new(model: Embedded) -> Self {
        Self(model)
    }
}

impl Redis for Dedicated {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.into());
        let client = Client::new(&self.0);
        let mut answered = client.call(argv);
        loop {
            tokio::select! {
                biased;
                answer = &mut answered => {
                    // The model keeps the other end until it has answered.
                    let reply = answer.map_err(|_| RedisError::Unknown("no answer".into()))?;
                    return flatten(reply)?.map_err(RedisError::Server);
                }
                () = sleep_until(deadline) => return Err(RedisError::Timeout),
                () = sleep(self.0.until_next_deadline()) => self.0.give_up_late_waits(),
            }
        }
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        let mut replies = Vec::with_capacity(commands.len());
        for argv in commands {
            replies.push(match self.execute(argv, timeout_ms).await {
                Err(RedisError::Server(error)) => Err(error),
                reply => Ok(reply?),
            });
        }
        Ok(replies)
    }
}

/// A client for the time of one command.
struct Client<'a> {
    model: &'a Embedded,
    id: ClientId,
}

impl<'a> Client<'a> {
    fn new(model: &'a Embedded) -> Self {
        let id = model.lock().server.connect();
        Self { model, id }
    }

    fn call(&self, argv: &[&[u8]]) -> oneshot::Receiver<model::Reply> {
        let (answer, answered) = oneshot::channel();
        let mut model = self.model.lock();
        model.waits.insert(self.id, answer);
        model.server.submit(self.id, argv);
        model.deliver();
        answered
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let mut model = self.model.lock();
        model.waits.remove(&self.id);
        model.server.disconnect(self.id);
    }
}
