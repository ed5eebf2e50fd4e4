//! Claiming: open claims first, then new ones, and waiting for messages.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::Queue;
use crate::caller::Answer;
use crate::capability::{Clock, Entropy, Redis, RedisError};
use crate::envelope;
use crate::error::{self, Error, ErrorKind, Retry};
use crate::event::{Event, Operation, Outcome};
use crate::message::{Delivery, Lease};
use crate::reply::{ClaimReply, Claimed};
use crate::script::{self, Invocation};
use crate::token;
use crate::waiting::POLL_INTERVAL_MS;

/// The most messages of one claim.
pub const MAX_CLAIM: u32 = 100;

/// Calls of one claim that found nothing but poison messages, a hundred each.
const MAX_BURIALS: u32 = 100;

/// A claim record of a claim without lease lives this long.
const RECORD_TTL_WITHOUT_LEASE_MS: u64 = 120_000;

/// What a claim script may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Answer recorded claims, then take messages.
    Claim,
    /// Answer recorded claims only.
    Replay,
}

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Claims at most `max` messages (1 to [`MAX_CLAIM`]) and waits at most `wait_ms` for the
    /// first one. An empty list: there was none, or the queue object is drained.
    ///
    /// # Errors
    ///
    /// After a lost reply the claim is repeated under the same ids while the wait lasts, at least
    /// once. If that fails too, the ids stay open and the next claim answers them first.
    pub async fn claim(&mut self, max: u32, wait_ms: u64) -> Result<Vec<Delivery>, Error> {
        if max == 0 || max > MAX_CLAIM {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("a claim takes 1 to {MAX_CLAIM} messages, not {max}"),
            ));
        }
        let started = self.caller.clock.now_ms();
        let claimed = if self.drained {
            Ok(Vec::new())
        } else {
            self.claim_or_recover(max, wait_ms).await
        };
        match &claimed {
            Err(error) => {
                let mut event = self.event(Operation::Claim, Outcome::Failure, started);
                event.error = Some(error.clone());
                event.message_id.clone_from(&error.message_id);
                self.emit(event);
            }
            Ok(deliveries) if deliveries.is_empty() => {
                let event = self.event(Operation::ClaimEmpty, Outcome::Skipped, started);
                self.emit(event);
            }
            Ok(deliveries) => {
                for delivery in deliveries {
                    let outcome = match delivery.payload {
                        Ok(_) => Outcome::Success,
                        Err(_) => Outcome::Failure,
                    };
                    let mut event = self.event(Operation::Claim, outcome, started);
                    event.message_id.clone_from(&delivery.message_id);
                    event.lease_token_hash = delivery.lease.token.as_deref().map(token::hash);
                    event.error = delivery.payload.clone().err();
                    event.delivery_count = Some(delivery.delivery_count);
                    event.replayed = delivery.replayed;
                    self.emit(event);
                }
            }
        }
        claimed
    }

    async fn claim_or_recover(&mut self, max: u32, wait_ms: u64) -> Result<Vec<Delivery>, Error> {
        while self.claim_ids.len() > 0 {
            let open = self.claim_ids.oldest(max as usize);
            let recovered = self.recover(&open, None).await?;
            if !recovered.is_empty() {
                return Ok(recovered);
            }
        }
        self.claim_new(max, wait_ms).await
    }

    /// Answers open claim ids from their records, and closes them. If together they are too large
    /// for the host, the first ones that are not; the others stay open. `unsure` is an attempt at them
    /// that may have run.
    async fn recover(
        &mut self,
        mut ids: &[String],
        unsure: Option<RedisError>,
    ) -> Result<Vec<Delivery>, Error> {
        let answer = loop {
            match self.claim_once(ids, Mode::Replay).await {
                Err(RedisError::TooLarge(_)) if ids.len() > 1 => ids = &ids[..ids.len() / 2],
                Err(error @ RedisError::TooLarge(_)) => {
                    // No host like this one can take it; its lease brings it to the dead letters.
                    self.claim_ids.close(ids);
                    let message = format!("{error}; the claimed message is left to its lease");
                    return Err(
                        Error::new(ErrorKind::PayloadTooLarge, message).with_retry(Retry::Yes)
                    );
                }
                Err(error) if error::is_transient(&error) => {
                    return Err(self.exhausted(ids, error, unsure, 1));
                }
                answer => break answer,
            }
        };
        let reply = self.read(answer, ids.len())?;
        for claimed in &reply.claims {
            let mut event = Event::new(Operation::ClaimReclaim, Outcome::Success);
            event.claim_id = ids.get(claimed.position).cloned();
            self.emit(event);
        }
        self.accept(ids, reply).await
    }

    async fn claim_new(&mut self, max: u32, wait_ms: u64) -> Result<Vec<Delivery>, Error> {
        let deadline = self.caller.clock.now_ms().saturating_add(wait_ms);
        let mut ids = self.open_ids(max);
        let (mut attempts, mut burials) = (0, 0);
        // An attempt that may have run, whatever the later ones did.
        let mut unsure = None;
        loop {
            attempts += 1;
            let answer = self.claim_once(&ids, Mode::Claim).await;
            if let Err(error) = &answer
                && error::is_ambiguous(error)
            {
                unsure = Some(error.clone());
            }
            let failure = match answer {
                Err(error) if error::is_transient(&error) => Some(error),
                // It ran.
                Err(error @ RedisError::TooLarge(_)) => {
                    let ran = RedisError::Unknown(error.to_string());
                    return self.recover(&ids, Some(ran)).await;
                }
                answer => {
                    let reply = self.read(answer, ids.len())?;
                    let buried = reply.side_effects.iter().any(|effect| effect.dead_lettered);
                    let deliveries = self.accept(&ids, reply).await?;
                    if !deliveries.is_empty() {
                        return Ok(deliveries);
                    }
                    if buried && burials < MAX_BURIALS {
                        // The call may have met its limit of looks before it met a live message.
                        burials += 1;
                        ids = self.open_ids(max);
                        attempts = 0;
                        continue;
                    }
                    None
                }
            };
            let last = wait_ms == 0 && attempts == 2;
            if let Some(error) = &failure
                && !last
            {
                self.emit_retry(Operation::RetryAttempt, &ids, error);
            }
            let remaining = deadline.saturating_sub(self.caller.clock.now_ms());
            match failure {
                None if remaining == 0 => return Ok(Vec::new()),
                // A new id for every look: this one is answered. (A duplicate of it that is still
                // on its way would take a message for nobody, until its lease expires.)
                None => ids = self.open_ids(max),
                Some(error) if last => {
                    return Err(self.exhausted(&ids, error, unsure, attempts));
                }
                Some(_) if wait_ms == 0 => continue,
                // From here on only what an attempt has recorded may be taken.
                Some(error) if remaining == 0 => {
                    let recovered = self.recover(&ids, unsure.clone()).await?;
                    if recovered.is_empty() {
                        return Err(self.exhausted(&ids, error, unsure, attempts));
                    }
                    return Ok(recovered);
                }
                Some(_) => {}
            }
            self.caller
                .clock
                .sleep_ms(remaining.min(POLL_INTERVAL_MS))
                .await;
        }
    }

    fn open_ids(&mut self, count: u32) -> Vec<String> {
        let ids: Vec<String> = (0..count).map(|_| self.mint()).collect();
        self.claim_ids.open(ids.iter().cloned());
        ids
    }

    fn emit_retry(&mut self, operation: Operation, ids: &[String], error: &RedisError) {
        let mut event = Event::new(operation, Outcome::Failure);
        event.claim_id = ids.first().cloned();
        event.error = Some(error.clone().into());
        self.emit(event);
    }

    /// The error of a claim whose last attempt failed. `unsure` is one of its attempts that may
    /// have run: it decides the kind, even if the last one certainly did not.
    fn exhausted(
        &mut self,
        ids: &[String],
        last: RedisError,
        unsure: Option<RedisError>,
        attempts: u32,
    ) -> Error {
        self.emit_retry(Operation::RetryExhausted, ids, &last);
        let text = last.to_string();
        let mut error = Error::from(unsure.unwrap_or(last));
        let then = match (error.kind, self.config.visibility_timeout_ms) {
            (ErrorKind::OutcomeUnknown, Some(_)) => {
                "what it took is answered by the next claim of this object, or comes back when its lease expires"
            }
            (ErrorKind::OutcomeUnknown, None) => {
                "what it took is answered by the next claim of this object, or given back by its drain"
            }
            _ => "none of them took anything, try again",
        };
        error.message =
            format!("the claim had no answer in {attempts} attempts, the last one: {text}; {then}");
        error
    }

    /// One attempt at the claim script.
    pub(super) async fn claim_once(&self, ids: &[String], mode: Mode) -> Answer {
        let call = self.claim_call(ids, mode);
        let mut answers = self.caller.attempt(&[&call]).await;
        answers
            .pop()
            .unwrap_or(Err(RedisError::UnsupportedReply("no reply".into())))
    }

    fn claim_call<'a>(&'a self, ids: &'a [String], mode: Mode) -> Invocation<'a> {
        let keys = &self.keys;
        let script = match self.config.visibility_timeout_ms {
            Some(_) => &script::CLAIM_LEASE,
            None => &script::CLAIM,
        };
        let mut call = Invocation::new(script)
            .key("pending", keys.pending.as_bytes())
            .key("processing", keys.processing.as_bytes());
        if let Some(lease_ms) = self.config.visibility_timeout_ms {
            call = call
                .key("lease_deadlines", keys.lease_deadlines.as_bytes())
                .key("lease_tokens", keys.lease_tokens.as_bytes())
                .key("lease_token_counter", keys.lease_token_counter.as_bytes())
                .key("delivery_counts", keys.delivery_counts.as_bytes())
                .key("dead_letters", keys.dead_letters.as_bytes())
                .key("claim_refs", keys.claim_refs.as_bytes())
                .number("lease_ms", lease_ms)
                .number(
                    "max_deliveries",
                    self.config.max_delivery_count.unwrap_or(0).into(),
                );
        }
        call = call
            .key("claim_ids", keys.claim_ids.as_bytes())
            .key("claim_backrefs", keys.claim_backrefs.as_bytes())
            .number(
                "record_ttl_ms",
                self.config
                    .visibility_timeout_ms
                    .unwrap_or(RECORD_TTL_WITHOUT_LEASE_MS),
            )
            .arg(
                "mode",
                if mode == Mode::Claim {
                    b"claim".as_slice()
                } else {
                    b"replay"
                },
            );
        for id in ids {
            call = call
                .key("claim_result", keys.claim_result(id).into_bytes())
                .arg("claim_id", id.as_bytes());
        }
        call
    }

    /// Reads a claim's answer. Ids of a refused claim stay open: it may have been refused midway.
    pub(super) fn read(&self, answer: Answer, ids: usize) -> Result<ClaimReply, Error> {
        match self.config.visibility_timeout_ms {
            Some(_) => ClaimReply::with_lease(answer?, ids),
            None => ClaimReply::without_lease(answer?, ids),
        }
    }

    /// Takes over an answered claim: closes its ids and tells what it did.
    async fn accept(&mut self, ids: &[String], reply: ClaimReply) -> Result<Vec<Delivery>, Error> {
        for effect in reply.side_effects {
            let operation = if effect.dead_lettered {
                Operation::Dlq
            } else {
                Operation::ClaimReclaim
            };
            let mut event = Event::new(operation, Outcome::Success);
            if effect.dead_lettered {
                event.destination = Some(self.keys.dead_letters.clone());
                event.max_delivery_count = self.config.max_delivery_count;
            }
            event.message_id = effect.message_id;
            event.delivery_count = Some(effect.count);
            event.replayed = effect.replayed;
            self.emit(event);
        }
        if let Some((failure, about)) = reply.failure {
            let mut error = Error::from(failure);
            error.kind = ErrorKind::ClaimStoreFailed;
            error.message_id = about;
            if reply.claims.is_empty() {
                // The script has taken back what it wrote; the ids stay open in case it could not.
                return Err(error);
            }
            let mut event = Event::new(Operation::Claim, Outcome::Failure);
            event.message_id.clone_from(&error.message_id);
            event.error = Some(error);
            self.emit(event);
        }
        if self.config.visibility_timeout_ms.is_none() {
            // The hash still has the claim until the message is settled.
            let results: Vec<String> = reply
                .claims
                .iter()
                .filter_map(|claimed| Some(self.keys.claim_result(ids.get(claimed.position)?)))
                .collect();
            let results: Vec<&[u8]> = results.iter().map(String::as_bytes).collect();
            self.caller.delete(&results).await;
        }
        self.claim_ids.close(ids);
        Ok(reply
            .claims
            .into_iter()
            .map(|claimed| self.delivery(claimed))
            .collect())
    }

    fn delivery(&self, claimed: Claimed) -> Delivery {
        let (message_id, payload) =
            match envelope::decode(&claimed.stored, self.config.strict_envelope_decoding) {
                Ok(envelope) => (envelope.id, Ok(envelope.payload)),
                Err(mut error) => {
                    error.message.push_str(
                        "; it stays claimed: settle it by its lease, or let its lease expire",
                    );
                    (None, Err(error))
                }
            };
        Delivery {
            message_id,
            payload,
            lease: Lease {
                stored: claimed.stored,
                token: claimed.token,
                deadline_ms: claimed.deadline_ms,
                not_after_ms: None,
            },
            delivery_count: claimed.delivery_count,
            replayed: claimed.replayed,
        }
    }
}
