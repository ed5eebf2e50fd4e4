//! What operators do: look at a queue and redrive its dead letters.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::Queue;
use crate::capability::{Clock, Entropy, Redis, RedisError, Value};
use crate::envelope::{self, MAX_STORED_BYTES};
use crate::error::{Error, ErrorKind};
use crate::message::Stats;
use crate::reply;
use crate::script::{self, Invocation};

/// The most dead letters moved by one script call.
const REDRIVE_BATCH: u64 = 100;

/// A script call takes no further letter once it has this many bytes of them.
const MAX_CALL_BYTES: usize = 4 * 1024 * 1024;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// How many messages are where. Nothing is changed, so a lost reply is asked for again.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Server`] if one of the keys holds another type.
    pub async fn stats(&mut self) -> Result<Stats, Error> {
        let keys = &self.keys;
        let call = Invocation::new(&script::STATS)
            .key("pending", keys.pending.as_bytes())
            .key("processing", keys.processing.as_bytes())
            .key("completed", keys.completed.as_bytes())
            .key("failed", keys.failed.as_bytes())
            .key("dead_letters", keys.dead_letters.as_bytes())
            .key("lease_deadlines", keys.lease_deadlines.as_bytes())
            .key("delays", keys.delays.as_bytes());
        let mut stats = Stats::default();
        for called in self.caller.call(core::slice::from_ref(&call)).await {
            stats = reply::stats(called.answer?)?;
        }
        Ok(stats)
    }

    /// Moves at most `max` dead letters, oldest first, back to pending. Each gets a new id and a
    /// new delivery budget; `max_pending_length` does not apply. Gives the number moved.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for a queue without dead letters. A failure after some were
    /// moved is an error too; call again for the rest.
    pub async fn redrive(&mut self, max: u64) -> Result<u64, Error> {
        if self.config.max_delivery_count.is_none() {
            return Err(Error::new(
                ErrorKind::Configuration,
                "a queue without a delivery limit has no dead letters; set max_delivery_count",
            ));
        }
        let mut moved = 0;
        let mut largest = REDRIVE_BATCH;
        while moved < max {
            let wanted = (max - moved).min(largest);
            let letters = match self.oldest_dead_letters(wanted).await {
                // Together they are too large for the host.
                Err(RedisError::TooLarge(_)) if wanted > 1 => {
                    largest = wanted / 2;
                    continue;
                }
                letters => letters?,
            };
            if letters.is_empty() {
                break;
            }
            let batch = self.redrive_letters(letters).await?;
            moved += batch;
            // Nothing moved: another operator was faster, and may be with the next ones too.
            if batch == 0 {
                break;
            }
        }
        Ok(moved)
    }

    async fn oldest_dead_letters(&self, count: u64) -> Result<Vec<Vec<u8>>, RedisError> {
        let first = format!("-{count}");
        let command = vec![
            b"LRANGE".as_slice(),
            self.keys.dead_letters.as_bytes(),
            first.as_bytes(),
            b"-1",
        ];
        let mut letters = Vec::new();
        for answer in self.caller.send(vec![command]).await {
            for value in answer? {
                let Value::Bytes(letter) = value else {
                    let reason = "LRANGE answered no strings";
                    return Err(RedisError::UnsupportedReply(reason.into()));
                };
                letters.push(letter);
            }
        }
        letters.reverse();
        Ok(letters)
    }

    async fn redrive_letters(&self, letters: Vec<Vec<u8>>) -> Result<u64, Error> {
        let operation_id = self.mint();
        let mut call = Invocation::new(&script::REDRIVE)
            .key("dead_letters", self.keys.dead_letters.as_bytes())
            .key("pending", self.keys.pending.as_bytes())
            .key(
                "marker",
                self.keys.redrive_marker(&operation_id).into_bytes(),
            )
            .number("marker_ttl_ms", self.marker_ttl_ms());
        let mut bytes = 0;
        for letter in letters {
            // What could not be unwrapped was buried as the stored message that it is.
            let whole =
                letter.starts_with(envelope::PREFIX) && envelope::decode(&letter, false).is_err();
            let stored = if whole {
                Some(letter.clone())
            } else {
                envelope::encode(&self.mint(), &letter)
            };
            let Some(stored) = stored else {
                if bytes > 0 {
                    break;
                }
                return Err(Error::new(
                    ErrorKind::PayloadTooLarge,
                    format!(
                        "the oldest dead letter has {} bytes, which stored and escaped is more than {MAX_STORED_BYTES}; take it off the tail of '{}' by hand",
                        letter.len(),
                        self.keys.dead_letters
                    ),
                ));
            };
            bytes += letter.len() + stored.len();
            call = call.arg("letter", letter).arg("letter", stored);
            if bytes > MAX_CALL_BYTES {
                break;
            }
        }
        let mut moved = 0;
        for called in self.caller.call(core::slice::from_ref(&call)).await {
            moved = reply::single_int(called.answer?)?.unsigned_abs();
            if !called.ambiguous {
                self.caller
                    .delete(&call.marker().into_iter().collect::<Vec<_>>())
                    .await;
            }
        }
        Ok(moved)
    }
}
