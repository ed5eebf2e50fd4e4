//! Publishing: plain, deduplicated, delayed, and against a full queue.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Queue;
use crate::caller::Called;
use crate::capability::{Clock, Entropy, Redis};
use crate::config::OverloadPolicy;
use crate::envelope::{self, MAX_STORED_BYTES};
use crate::error::{Error, ErrorKind};
use crate::event::{Operation, Outcome};
use crate::json;
use crate::key::Keys;
use crate::message::{Outgoing, Payload, PublishOutcome, PublishReply};
use crate::reply;
use crate::retry::below;
use crate::script::{self, Invocation};

/// A marker of a deduplicated publish lives at least this long.
const MIN_PUBLISH_MARKER_TTL_MS: u64 = 3_600_000;

/// The first pause of a publish that waits for room.
const FIRST_BLOCK_PAUSE_MS: u64 = 10;

/// The longest pause of a publish that waits for room.
const MAX_BLOCK_PAUSE_MS: u64 = 500;

/// The scripts' answer for a full queue.
const FULL: i64 = -1;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Publishes the messages in order. One reply for each; a failed one does not stop the others.
    pub async fn publish(&mut self, messages: &[Outgoing]) -> Vec<PublishReply> {
        let started = self.caller.clock.now_ms();
        let ids: Vec<String> = messages.iter().map(|_| self.mint()).collect();
        let mut outcomes: Vec<Option<Result<PublishOutcome, Error>>> = Vec::new();
        let mut accepted = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            match self.publish_call(&ids[at], message) {
                Ok(call) => {
                    accepted.push((at, call));
                    outcomes.push(None);
                }
                Err(error) => outcomes.push(Some(Err(error))),
            }
        }

        // A message that waits for room must not be overtaken by the next one, so then they go
        // one by one.
        let batch = if self.config.overload_policy == OverloadPolicy::Block {
            1
        } else {
            usize::MAX
        };
        while !accepted.is_empty() {
            let rest = accepted.split_off(batch.min(accepted.len()));
            let (positions, calls): (Vec<usize>, Vec<Invocation<'_>>) =
                accepted.into_iter().unzip();
            for (at, outcome) in positions.into_iter().zip(self.publish_calls(&calls).await) {
                outcomes[at] = Some(outcome);
            }
            accepted = rest;
        }

        let replies: Vec<PublishReply> = ids
            .into_iter()
            .zip(outcomes.into_iter().flatten())
            .map(|(message_id, outcome)| {
                let outcome = outcome.map_err(|error| error.with_message_id(&message_id));
                PublishReply {
                    message_id,
                    outcome,
                }
            })
            .collect();
        for reply in &replies {
            let mut event = match &reply.outcome {
                Ok(PublishOutcome::Published) => {
                    self.event(Operation::Publish, Outcome::Success, started)
                }
                Ok(PublishOutcome::Duplicate) => {
                    self.event(Operation::PublishDedupHit, Outcome::Skipped, started)
                }
                Err(_) => self.event(Operation::Publish, Outcome::Failure, started),
            };
            event.message_id = Some(reply.message_id.clone());
            event.error = reply.outcome.clone().err();
            self.emit(event);
        }
        replies
    }

    /// The payload as it will be delivered, within its limits.
    fn payload<'a>(&self, message: &'a Outgoing) -> Result<Cow<'a, [u8]>, Error> {
        let payload = match &message.payload {
            Payload::Bytes(bytes) => Cow::Borrowed(bytes.as_slice()),
            Payload::Json(text) => json::canonical(text, self.config.max_payload_depth)?.into(),
        };
        match self.config.max_payload_bytes {
            Some(limit) if payload.len() as u64 > limit => Err(Error::new(
                ErrorKind::PayloadTooLarge,
                format!(
                    "the payload has {} bytes and the limit is {limit}; publish a reference to it, or raise max_payload_bytes",
                    payload.len()
                ),
            )),
            _ => Ok(payload),
        }
    }

    fn check_deduplication(&self, key: &[u8]) -> Result<(), Error> {
        if key.is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the deduplication key is empty; give each message its own, or leave it out",
            ));
        }
        if self.config.overload_policy == OverloadPolicy::DropOldest {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "drop_oldest would remove a message and keep its deduplication key; publish without a key, or use raise or block",
            ));
        }
        Ok(())
    }

    /// The script call for one message, under a new operation id. The checks have the order of the
    /// original's.
    fn publish_call(&self, id: &str, message: &Outgoing) -> Result<Invocation<'static>, Error> {
        if self.drained {
            return Err(Error::new(
                ErrorKind::Drained,
                "the queue object is drained; open a new one to publish",
            ));
        }
        let payload = self.payload(message)?;
        if message.delay_ms > 0 {
            self.check_delay(message.delay_ms)?;
        }
        if let Some(key) = &message.deduplication_key {
            self.check_deduplication(key)?;
        }
        let stored = envelope::encode(id, &payload).ok_or_else(|| {
            Error::new(
                ErrorKind::PayloadTooLarge,
                format!(
                    "the payload has {} bytes, which stored and escaped is more than {MAX_STORED_BYTES}; publish a reference to it",
                    payload.len()
                ),
            )
        })?;
        let operation_id = self.mint();
        let deduplication = message
            .deduplication_key
            .as_ref()
            .map(|user_key| self.keys.deduplication(user_key));
        let ttl = self.config.deduplication_ttl_ms;
        let (marker, marker_ttl) = match &deduplication {
            Some(key) => (
                Keys::publish_marker(key, &operation_id),
                ttl.max(MIN_PUBLISH_MARKER_TTL_MS).max(self.marker_ttl_ms()),
            ),
            None => (
                self.keys.add_marker(&operation_id).into_bytes(),
                self.marker_ttl_ms(),
            ),
        };
        if message.delay_ms > 0 {
            return Ok(self
                .delay_call(marker, deduplication)
                .arg("stored", stored)
                .number("delay_ms", message.delay_ms)
                .number("marker_ttl_ms", marker_ttl)
                .number("deduplication_ttl_ms", ttl));
        }
        let pending = self.keys.pending.clone().into_bytes();
        let call = match deduplication {
            Some(key) => Invocation::new(&script::PUBLISH)
                .key("deduplication", key)
                .key("pending", pending)
                .key("marker", marker)
                .number("deduplication_ttl_ms", ttl)
                .arg("stored", stored)
                .number("marker_ttl_ms", marker_ttl),
            None => Invocation::new(&script::ADD)
                .key("pending", pending)
                .key("marker", marker)
                .key(
                    "delivery_counts",
                    self.keys.delivery_counts.clone().into_bytes(),
                )
                .arg("stored", stored)
                .number("marker_ttl_ms", marker_ttl),
        };
        let cap = self
            .config
            .max_pending_length
            .map(|cap| format!("{cap}"))
            .unwrap_or_default();
        let policy = match self.config.overload_policy {
            OverloadPolicy::Raise => "raise",
            OverloadPolicy::DropOldest => "drop_oldest",
            OverloadPolicy::Block => "block",
        };
        Ok(call
            .arg("max_pending_length", cap.into_bytes())
            .arg("overload_policy", policy.as_bytes()))
    }

    /// The keys of a call that stores a message for later.
    fn delay_call(&self, marker: Vec<u8>, deduplication: Option<Vec<u8>>) -> Invocation<'static> {
        let keys = self.keys.clone();
        let call = Invocation::new(&script::DELAY)
            .key("processing", keys.processing.into_bytes())
            .key("lease_deadlines", keys.lease_deadlines.into_bytes())
            .key("lease_tokens", keys.lease_tokens.into_bytes())
            .key("lease_token_counter", keys.lease_token_counter.into_bytes())
            .key("delays", keys.delays.into_bytes())
            .key("marker", marker);
        match deduplication {
            Some(key) => call.key("deduplication", key),
            None => call,
        }
    }

    /// Runs the calls; a full queue is waited for as configured.
    async fn publish_calls(
        &self,
        calls: &[Invocation<'static>],
    ) -> Vec<Result<PublishOutcome, Error>> {
        let started = self.caller.clock.now_ms();
        let mut called = self.caller.call(calls).await;
        if let ([call], OverloadPolicy::Block) = (calls, self.config.overload_policy) {
            called = self.wait_for_room(call, called, started).await;
        }
        // A call that was never in doubt needs its marker no more. After a lost reply the marker
        // stays until it expires: the lost command may still be on its way to the server.
        let markers: Vec<&[u8]> = calls
            .iter()
            .zip(&called)
            .filter(|(_, called)| {
                !called.ambiguous && matches!(&called.answer, Ok(reply) if !is_full(reply))
            })
            .filter_map(|(call, _)| call.marker())
            .collect();
        self.caller.delete(&markers).await;
        called
            .into_iter()
            .map(|called| self.publish_outcome(called))
            .collect()
    }

    /// The time for it began at `started`: failures do not lengthen it.
    async fn wait_for_room(
        &self,
        call: &Invocation<'static>,
        mut called: Vec<Called>,
        started: u64,
    ) -> Vec<Called> {
        let timeout = self.config.overload_block_timeout_ms;
        let deadline = started.saturating_add(timeout);
        let longest = MAX_BLOCK_PAUSE_MS.min(timeout / 10);
        let mut pause = FIRST_BLOCK_PAUSE_MS;
        while let [
            Called {
                answer: Ok(reply),
                ambiguous,
            },
        ] = called.as_slice()
            && is_full(reply)
        {
            let was_ambiguous = *ambiguous;
            let remaining = deadline.saturating_sub(self.caller.clock.now_ms());
            if remaining == 0 {
                break;
            }
            // Between 0.8 and 1.2 of the pause, so that producers do not return in step.
            let jittered = pause * (80 + below(41, &self.caller.entropy)) / 100;
            self.caller
                .clock
                .sleep_ms(jittered.clamp(1, remaining))
                .await;
            pause = (pause * 2).min(longest.max(1));
            called = self.caller.call(core::slice::from_ref(call)).await;
            if was_ambiguous {
                called.iter_mut().for_each(|called| called.ambiguous = true);
            }
        }
        called
    }

    fn publish_outcome(&self, called: Called) -> Result<PublishOutcome, Error> {
        match reply::single_int(called.answer?)? {
            // For a delayed one it is the time it is due.
            1.. => Ok(PublishOutcome::Published),
            0 => Ok(PublishOutcome::Duplicate),
            FULL => {
                let waited = match self.config.overload_policy {
                    OverloadPolicy::Block => {
                        format!(" for {} ms", self.config.overload_block_timeout_ms)
                    }
                    _ => String::new(),
                };
                let error = Error::new(
                    ErrorKind::Backpressure,
                    format!(
                        "the pending list '{}' was full{waited} (max_pending_length is {}); add consumers, publish later, or raise the limit",
                        self.keys.pending,
                        self.config.max_pending_length.unwrap_or_default()
                    ),
                );
                if !called.ambiguous {
                    return Err(error);
                }
                // A lost attempt may still arrive when there is room.
                Err(Error::new(
                    ErrorKind::OutcomeUnknown,
                    format!("a reply was lost, and since then {}", error.message),
                ))
            }
            other => Err(Error::new(
                ErrorKind::Protocol,
                format!("a publish script answered {other}; is another program using its name?"),
            )),
        }
    }
}

fn is_full(reply: &[crate::capability::Value]) -> bool {
    matches!(reply, [crate::capability::Value::Int(FULL)])
}
