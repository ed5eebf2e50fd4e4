//! Releasing leases: the message comes back after a delay.

use alloc::format;
use alloc::vec::Vec;

use super::Queue;
use crate::caller::Called;
use crate::capability::{Clock, Entropy, Redis};
use crate::error::{Error, ErrorKind};
use crate::event::{Operation, Outcome};
use crate::message::{ReleaseOutcome, ReleaseRequest};
use crate::reply;
use crate::script::{self, Invocation};
use crate::token;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Gives leases up, each on its own: nobody can claim the message before its delay is over by
    /// the server's clock, and its delivery count stays. The same call again, after a lost reply,
    /// gets the first answer.
    ///
    /// The original library knows no release, so the events are those of a failed message that is
    /// settled: `nack`, and `stale_lease_nack` for a lease that is not current; but no `failed`.
    pub async fn release(
        &mut self,
        requests: &[ReleaseRequest],
    ) -> Vec<Result<ReleaseOutcome, Error>> {
        let started = self.caller.clock.now_ms();
        let mut outcomes: Vec<Result<ReleaseOutcome, Error>> = Vec::new();
        let mut positions = Vec::new();
        let mut calls = Vec::new();
        for request in requests {
            match self.release_call(request) {
                Ok(call) => {
                    positions.push(outcomes.len());
                    calls.push(call);
                    outcomes.push(Ok(ReleaseOutcome::Stale));
                }
                Err(error) => outcomes.push(Err(error)),
            }
        }
        let called = self.caller.call(&calls).await;
        // As after a settlement: only a call that was in doubt still needs its marker.
        let markers: Vec<&[u8]> = calls
            .iter()
            .zip(&called)
            .filter(|(_, called)| !called.ambiguous && called.answer.is_ok())
            .filter_map(|(call, _)| call.marker())
            .collect();
        self.caller.delete(&markers).await;
        for (at, called) in positions.into_iter().zip(called) {
            outcomes[at] = release_outcome(called);
        }
        for (request, outcome) in requests.iter().zip(&mut outcomes) {
            if let (Err(error), Some(id)) = (&mut *outcome, request.lease.message_id()) {
                error.message_id = Some(id);
            }
            self.emit_released(request, outcome, started);
        }
        outcomes
    }

    /// The script call for one release, under a new operation id.
    fn release_call<'a>(&'a self, request: &'a ReleaseRequest) -> Result<Invocation<'a>, Error> {
        self.check_delay(request.delay_ms)?;
        let lease = &request.lease;
        let token = lease.valid_token()?;
        let keys = &self.keys;
        let marker = keys
            .operation_marker(Some(token), &self.mint())
            .into_bytes();
        Ok(Invocation::new(&script::RELEASE)
            .key("processing", keys.processing.as_bytes())
            .key("lease_deadlines", keys.lease_deadlines.as_bytes())
            .key("lease_tokens", keys.lease_tokens.as_bytes())
            .key("lease_token_counter", keys.lease_token_counter.as_bytes())
            .key("claim_refs", keys.claim_refs.as_bytes())
            .key("claim_ids", keys.claim_ids.as_bytes())
            .key("claim_backrefs", keys.claim_backrefs.as_bytes())
            .key("delays", keys.delays.as_bytes())
            .key("marker", marker)
            .arg("stored", lease.stored.as_slice())
            .arg("token", token.as_bytes())
            .number("delay_ms", request.delay_ms)
            .number("marker_ttl_ms", self.marker_ttl_ms()))
    }

    fn emit_released(
        &mut self,
        request: &ReleaseRequest,
        outcome: &Result<ReleaseOutcome, Error>,
        started: u64,
    ) {
        let (operation, applied) = match outcome {
            Ok(ReleaseOutcome::Released(_)) => (Operation::Nack, Outcome::Success),
            Ok(ReleaseOutcome::Stale) => (Operation::Nack, Outcome::Skipped),
            Err(_) => (Operation::CleanupFailed, Outcome::Failure),
        };
        let mut event = self.event(operation, applied, started);
        event.message_id = request.lease.message_id();
        event.lease_token_hash = request.lease.token.as_deref().map(token::hash);
        event.error = outcome.as_ref().err().cloned();
        let mut stale = event.clone();
        self.emit(event);
        if *outcome == Ok(ReleaseOutcome::Stale) {
            stale.operation = Operation::StaleLeaseNack;
            self.emit(stale);
        }
    }
}

fn release_outcome(called: Called) -> Result<ReleaseOutcome, Error> {
    match reply::single_int(called.answer?)? {
        due @ 1.. => Ok(ReleaseOutcome::Released(due.unsigned_abs())),
        // An earlier attempt may have released it, and its marker may have ended since.
        0 if called.ambiguous => Err(Error::new(
            ErrorKind::OutcomeUnknown,
            "a reply was lost and the lease has ended since: the message was released by this call, or its lease expired",
        )),
        0 => Ok(ReleaseOutcome::Stale),
        other => Err(Error::new(
            ErrorKind::Protocol,
            format!("the release script answered {other}; is another program using its name?"),
        )),
    }
}
