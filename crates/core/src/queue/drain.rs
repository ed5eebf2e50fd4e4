//! Draining: no more publishes and claims on this object, and no open claim left behind.

use alloc::string::String;

use super::Queue;
use super::claim::Mode;
use crate::capability::{Clock, Entropy, Redis, RedisError};
use crate::error::{self, Error, ErrorKind};
use crate::event::{Operation, Outcome};
use crate::script::{self, Invocation};

/// The pause before open claims are tried again.
const RETRY_PAUSE_MS: u64 = 250;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Refuses further publishes and claims on this object, and resolves its open claims within
    /// `timeout_ms`: leased ones are left to expire, others are given back to pending. True: no
    /// claim is open; false: call again.
    ///
    /// If the whole queue is idle (nothing in flight, no delivery counts), the token counter is
    /// dropped as the original does, and tokens start again at 1. Whoever compares tokens across
    /// messages must not drain.
    ///
    /// # Errors
    ///
    /// A failure that will not pass by itself. The claims it concerns stay open.
    pub async fn drain(&mut self, timeout_ms: u64) -> Result<bool, Error> {
        let started = self.caller.clock.now_ms();
        let deadline = started.saturating_add(timeout_ms);
        if self.drained && self.claim_ids.len() == 0 {
            self.drop_counter().await;
            self.emit_drain(Outcome::Skipped, started, timeout_ms, None);
            return Ok(true);
        }
        self.drained = true;
        self.emit_drain(Outcome::Start, started, timeout_ms, None);
        match self.resolve_claims(deadline).await {
            Ok(None) => {
                self.drop_counter().await;
                self.emit_drain(Outcome::Success, started, timeout_ms, None);
                Ok(true)
            }
            Ok(Some(unresolved)) => {
                self.emit_drain(Outcome::Failure, started, timeout_ms, Some(unresolved));
                Ok(false)
            }
            Err(error) => {
                self.emit_drain(Outcome::Failure, started, timeout_ms, Some(error.clone()));
                Err(error)
            }
        }
    }

    /// `None`: no claim is open any more. Otherwise why one still is.
    async fn resolve_claims(&mut self, deadline: u64) -> Result<Option<Error>, Error> {
        let mut failure = None;
        if self.config.visibility_timeout_ms.is_some() {
            // Whatever these claims hold comes back when its lease expires.
            self.claim_ids.take();
            return Ok(None);
        }
        while let Some(id) = self.claim_ids.oldest(1).pop() {
            if self.caller.clock.now_ms() >= deadline {
                let late = || {
                    Error::new(
                        ErrorKind::OutcomeUnknown,
                        "the time was over before every open claim was resolved; drain again",
                    )
                };
                return Ok(Some(failure.map_or_else(late, Error::from)));
            }
            match self.give_back(&id).await {
                Ok(()) => self.claim_ids.close(&[id]),
                Err(error) if error::is_transient(&error) => {
                    failure = Some(error);
                    let remaining = deadline.saturating_sub(self.caller.clock.now_ms());
                    self.caller
                        .clock
                        .sleep_ms(remaining.min(RETRY_PAUSE_MS))
                        .await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Gives the message of an open claim without lease, if it has one, back to pending.
    async fn give_back(&self, id: &String) -> Result<(), RedisError> {
        let answer = self
            .claim_once(core::slice::from_ref(id), Mode::Replay)
            .await?;
        let reply = self
            .read(Ok(answer), 1)
            .map_err(|error| RedisError::UnsupportedReply(error.message))?;
        let Some(claimed) = reply.claims.into_iter().next() else {
            return Ok(());
        };
        let keys = &self.keys;
        let marker = keys.operation_marker(None, &self.mint()).into_bytes();
        let call = Invocation::new(&script::RETURN)
            .key("processing", keys.processing.as_bytes())
            .key("pending", keys.pending.as_bytes())
            .key("claim_ids", keys.claim_ids.as_bytes())
            .key("claim_backrefs", keys.claim_backrefs.as_bytes())
            .key("marker", marker)
            .key("claim_result", keys.claim_result(id).into_bytes())
            .arg("stored", claimed.stored)
            .arg("claim_id", id.as_bytes())
            .number("marker_ttl_ms", self.marker_ttl_ms());
        let mut answers = self.caller.attempt(&[&call]).await;
        answers
            .pop()
            .unwrap_or(Err(RedisError::UnsupportedReply("no reply".into())))?;
        self.caller
            .delete(&call.marker().into_iter().collect::<alloc::vec::Vec<_>>())
            .await;
        Ok(())
    }

    async fn drop_counter(&self) {
        if self.config.visibility_timeout_ms.is_none() {
            return;
        }
        let keys = &self.keys;
        let call = Invocation::new(&script::CLEANUP)
            .key("processing", keys.processing.as_bytes())
            .key("lease_deadlines", keys.lease_deadlines.as_bytes())
            .key("lease_tokens", keys.lease_tokens.as_bytes())
            .key("delivery_counts", keys.delivery_counts.as_bytes())
            .key("lease_token_counter", keys.lease_token_counter.as_bytes());
        // Once, and whatever comes of it: the counter is only left over.
        self.caller.attempt(&[&call]).await;
    }

    fn emit_drain(
        &mut self,
        outcome: Outcome,
        started: u64,
        timeout_ms: u64,
        error: Option<Error>,
    ) {
        let mut event = self.event(Operation::Drain, outcome, started);
        event.timeout_ms = Some(timeout_ms);
        event.pending_claim_ids = u32::try_from(self.claim_ids.len()).ok();
        event.error = error;
        self.emit(event);
    }
}
