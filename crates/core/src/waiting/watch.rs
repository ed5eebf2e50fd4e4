//! What a waiter asks the server.

use alloc::string::String;
use alloc::vec::Vec;

use super::LONGEST_SLEEP_MS;
use crate::capability::{Redis, RedisError, Value};
use crate::config::Config;
use crate::script::{self, Invocation};

/// The deadline of the question about the queue, with the time to connect.
const OUTLOOK_TIMEOUT_MS: u32 = 5_000;

/// How much later than its time the answer of a wait may come before the connection is given up.
const BLOCK_MARGIN_MS: u64 = 1_000;

/// What there is to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Messages are pending.
    pub pending: bool,
    /// Milliseconds until the earliest lease ends, by the server's clock; 0: it has ended.
    pub due_in_ms: Option<u64>,
}

/// The keys that tell of work: equal for all queue objects that can share a waiter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Watch {
    pending: String,
    lease_deadlines: String,
}

impl Watch {
    /// Those of the queue with this configuration.
    pub fn new(config: &Config) -> Self {
        let keys = config.keys();
        Self {
            pending: keys.pending,
            lease_deadlines: keys.lease_deadlines,
        }
    }

    /// Asks what there is to wait for.
    ///
    /// # Errors
    ///
    /// Those of the capability, and [`RedisError::UnsupportedReply`].
    pub async fn outlook(&self, redis: &impl Redis) -> Result<Outlook, RedisError> {
        let call = Invocation::new(&script::OUTLOOK)
            .key("pending", self.pending.as_bytes())
            .key("lease_deadlines", self.lease_deadlines.as_bytes());
        #[cfg(test)]
        crate::contract::check(&call);
        let by_hash = redis.execute(&call.argv(false), OUTLOOK_TIMEOUT_MS).await;
        let reply = match by_hash {
            Err(RedisError::Server(error)) if error.code == "NOSCRIPT" => {
                redis.execute(&call.argv(true), OUTLOOK_TIMEOUT_MS).await?
            }
            answered => answered?,
        };
        match reply[..] {
            [Value::Int(pending), ref due] => Ok(Outlook {
                pending: pending > 0,
                due_in_ms: match due {
                    Value::Int(due) => Some(u64::try_from(*due).unwrap_or(0)),
                    _ => None,
                },
            }),
            _ => Err(RedisError::UnsupportedReply(
                "an outlook has two values".into(),
            )),
        }
    }

    /// Waits at most `ms` (1 to [`LONGEST_SLEEP_MS`]) for an element of `pending`, and leaves it
    /// where it is. `redis` must allow commands that block. Whether there was one.
    ///
    /// # Errors
    ///
    /// Those of the capability. A connection that is silent for a second longer than it should has
    /// [`RedisError::Timeout`]; a new one is needed then.
    pub async fn block(&self, redis: &impl Redis, ms: u64) -> Result<bool, RedisError> {
        // For a server, 0 is for ever.
        let ms = ms.clamp(1, LONGEST_SLEEP_MS);
        let seconds = alloc::format!("{}.{:03}", ms / 1_000, ms % 1_000);
        let pending = self.pending.as_bytes();
        // From the claim end to the claim end: nothing moves.
        let argv: Vec<&[u8]> = alloc::vec![
            b"BLMOVE",
            pending,
            pending,
            b"RIGHT",
            b"RIGHT",
            seconds.as_bytes(),
        ];
        let deadline = u32::try_from(ms + BLOCK_MARGIN_MS).unwrap_or(u32::MAX);
        let reply = redis.execute(&argv, deadline).await?;
        Ok(!matches!(reply[..], [] | [Value::Nil]))
    }
}
