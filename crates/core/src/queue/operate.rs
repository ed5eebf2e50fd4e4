//! What operators do: look at a queue and redrive its dead letters.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::Queue;
use crate::capability::{Clock, Entropy, Redis, Value};
use crate::envelope;
use crate::error::{Error, ErrorKind};
use crate::message::Stats;
use crate::reply;
use crate::script::{self, Invocation};

/// The most dead letters moved by one script call.
const REDRIVE_BATCH: u64 = 100;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// The lengths of the queue's lists.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Server`] if one of the keys holds another type.
    pub async fn stats(&mut self) -> Result<Stats, Error> {
        let keys = &self.keys;
        let lengths = [
            ("LLEN", &keys.pending),
            ("LLEN", &keys.processing),
            ("LLEN", &keys.completed),
            ("LLEN", &keys.failed),
            ("LLEN", &keys.dead_letters),
            ("HLEN", &keys.lease_tokens),
            ("HLEN", &keys.claim_refs),
        ];
        let commands = lengths
            .map(|(command, key)| vec![command.as_bytes(), key.as_bytes()])
            .into();
        let mut counts = [0; 7];
        for (count, answer) in counts.iter_mut().zip(self.caller.send(commands).await) {
            *count = reply::single_int(answer?)?.unsigned_abs();
        }
        let [
            pending,
            held,
            completed,
            failed,
            dead_letters,
            leases,
            claims,
        ] = counts;
        // A lease that belongs to a claim has a reference to the claim's record.
        let delayed = leases.saturating_sub(claims).min(held);
        Ok(Stats {
            pending,
            processing: held - delayed,
            delayed,
            completed,
            failed,
            dead_letters,
        })
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
        while moved < max {
            let wanted = (max - moved).min(REDRIVE_BATCH);
            let letters = self.oldest_dead_letters(wanted).await?;
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

    async fn oldest_dead_letters(&self, count: u64) -> Result<Vec<Vec<u8>>, Error> {
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
                match value {
                    Value::Bytes(letter) => letters.push(letter),
                    _ => {
                        return Err(Error::new(
                            ErrorKind::Protocol,
                            "LRANGE answered no strings",
                        ));
                    }
                }
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
        for letter in letters {
            // A letter that still is a stored message (it could not be unwrapped) goes back as it is.
            let stored = if letter.starts_with(envelope::PREFIX) {
                letter.clone()
            } else if let Some(stored) = envelope::encode(&self.mint(), &letter) {
                stored
            } else {
                // The letters before it are moved; it stays for someone who can take it.
                break;
            };
            call = call.arg("letter", letter).arg("letter", stored);
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
