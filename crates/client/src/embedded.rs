//! The Redis of `embedded:`: the in-process model behind the capability.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leaseline_core::capability::{PipelineReply, Redis, RedisError, Reply, ServerError, Value};
use leaseline_redis_model::{self as model, Clock, Options, Profile, Server};

/// A Redis in this process. Clones share it; its contents end with the last one.
#[derive(Clone)]
pub struct Embedded {
    server: Arc<Mutex<Server>>,
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
            server: Arc::new(Mutex::new(Server::new(options))),
        }
    }

    /// Moves a still clock.
    pub fn advance(&self, duration: Duration) {
        self.lock().advance(duration);
    }

    fn lock(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
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
        flatten(self.lock().execute(argv))?.map_err(RedisError::Server)
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], _: u32) -> PipelineReply {
        commands
            .iter()
            .map(|argv| flatten(self.lock().execute(argv)))
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
