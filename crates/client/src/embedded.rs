//! The Redis of `embedded:`: the in-process model behind the capability.

mod dedicated;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leaseline_core::capability::{PipelineReply, Redis, RedisError, Reply, ServerError, Value};
use leaseline_redis_model::{self as model, ClientId, Clock, Options, Profile, Server};
use tokio::sync::oneshot;

pub use dedicated::Dedicated;

/// A Redis in this process. Clones share it; its contents end with the last one.
#[derive(Clone)]
pub struct Embedded {
    model: Arc<Mutex<Model>>,
}

struct Model {
    server: Server,
    /// Who waits for an answer.
    waits: HashMap<ClientId, oneshot::Sender<model::Reply>>,
}

impl Model {
    /// Hands out what clients got.
    fn deliver(&mut self) {
        for (client, reply) in self.server.take_replies() {
            if let Some(answer) = self.waits.remove(&client) {
                // Whoever waited may have gone away.
                let _ = answer.send(reply);
            }
        }
    }
}

impl Embedded {
    /// An empty server on the wall clock.
    pub fn new() -> Self {
        Self::with_clock(Clock::Wall)
    }

    /// An empty server whose time stands still until it is moved with [`advance`](Self::advance).
    /// It starts at `unix_time`.
    pub fn with_still_clock(unix_time: Duration) -> Self {
        let micros = u64::try_from(unix_time.as_micros()).unwrap_or(u64::MAX);
        Self::with_clock(Clock::Virtual(micros))
    }

    fn with_clock(clock: Clock) -> Self {
        let options = Options {
            profile: Profile::Redis72,
            clock,
        };
        Self {
            model: Arc::new(Mutex::new(Model {
                server: Server::new(options),
                waits: HashMap::new(),
            })),
        }
    }

    /// Moves a still clock.
    pub fn advance(&self, duration: Duration) {
        let mut model = self.lock();
        model.server.advance(duration);
        model.deliver();
    }

    /// A connection to the same model on which commands may block.
    pub fn dedicated(&self) -> Dedicated {
        Dedicated::new(self.clone())
    }

    fn run(&self, argv: &[&[u8]]) -> model::Reply {
        let mut model = self.lock();
        let reply = model.server.execute(argv);
        model.deliver();
        reply
    }

    /// The time until the first wait ends, at least a moment: the model's clock may stand still.
    fn until_next_deadline(&self) -> Duration {
        let model = self.lock();
        let now_ms = model.server.time_us() / 1_000;
        let deadline_ms = model.server.next_deadline_ms();
        let deadline_ms = deadline_ms.and_then(|deadline| u64::try_from(deadline).ok());
        let ms = deadline_ms.unwrap_or(u64::MAX).saturating_sub(now_ms);
        Duration::from_millis(ms).clamp(Duration::from_millis(1), Duration::from_secs(3_600))
    }

    fn give_up_late_waits(&self) {
        let mut model = self.lock();
        model.server.give_up_late_waits();
        model.deliver();
    }

    fn lock(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Embedded {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").finish_non_exhaustive()
    }
}

impl Redis for Embedded {
    async fn execute(&self, argv: &[&[u8]], _: u32) -> Reply {
        flatten(self.run(argv))?.map_err(RedisError::Server)
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], _: u32) -> PipelineReply {
        commands
            .iter()
            .map(|argv| flatten(self.run(argv)))
            .collect()
    }
}

/// A reply of the model as the capability gives it.
fn flatten(reply: model::Reply) -> Result<Result<Vec<Value>, ServerError>, RedisError> {
    if let Some(line) = reply.error() {
        return Ok(Err(ServerError::from_line(&line)));
    }
    let mut values = Vec::new();
    append(reply, &mut values)?;
    Ok(Ok(values))
}

fn append(reply: model::Reply, values: &mut Vec<Value>) -> Result<(), RedisError> {
    values.push(match reply {
        model::Reply::Nil | model::Reply::NilArray => Value::Nil,
        model::Reply::Integer(number) => Value::Int(number),
        model::Reply::Status(text) => Value::Status(String::from_utf8_lossy(&text).into_owned()),
        model::Reply::Bulk(bytes) => Value::Bytes(bytes),
        model::Reply::Array(items) => {
            return items.into_iter().try_for_each(|item| append(item, values));
        }
        // Flattened, it would look like data.
        model::Reply::Error(line) => {
            let line = String::from_utf8_lossy(&line);
            return Err(RedisError::UnsupportedReply(format!(
                "an error inside an array: {line}"
            )));
        }
        other => {
            return Err(RedisError::UnsupportedReply(format!(
                "a reply that RESP2 does not have: {other:?}"
            )));
        }
    });
    Ok(())
}
