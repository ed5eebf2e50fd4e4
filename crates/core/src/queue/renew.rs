//! Renewing leases.

use alloc::vec::Vec;

use super::Queue;
use crate::capability::{Clock, Entropy, Redis};
use crate::error::{Error, ErrorKind};
use crate::event::{Operation, Outcome};
use crate::message::{Lease, RenewOutcome};
use crate::reply;
use crate::script::{self, Invocation};
use crate::token;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Moves the deadlines of leases to now plus the visibility timeout. Renewing twice is
    /// renewing once, so a lost reply is harmless. [`Lease::not_after_ms`] limits it.
    pub async fn renew(&mut self, leases: &[Lease]) -> Vec<Result<RenewOutcome, Error>> {
        let mut outcomes: Vec<Result<RenewOutcome, Error>> = Vec::new();
        let mut positions = Vec::new();
        let mut calls = Vec::new();
        for lease in leases {
            match self.renew_call(lease) {
                Ok(call) => {
                    positions.push(outcomes.len());
                    calls.push(call);
                    outcomes.push(Ok(RenewOutcome::Stale));
                }
                Err(error) => outcomes.push(Err(error)),
            }
        }
        for (at, called) in positions.into_iter().zip(self.caller.call(&calls).await) {
            outcomes[at] =
                called
                    .answer
                    .and_then(reply::single_int)
                    .map(|deadline| match deadline {
                        1.. => RenewOutcome::Renewed(deadline.unsigned_abs()),
                        _ => RenewOutcome::Stale,
                    });
        }
        for (lease, outcome) in leases.iter().zip(&outcomes) {
            let mut event = crate::event::Event::new(
                match outcome {
                    Ok(RenewOutcome::Renewed(_)) => Operation::LeaseRenew,
                    _ => Operation::LeaseRenewFailed,
                },
                match outcome {
                    Ok(RenewOutcome::Renewed(_)) => Outcome::Success,
                    Ok(RenewOutcome::Stale) => Outcome::Skipped,
                    Err(_) => Outcome::Failure,
                },
            );
            event.message_id = lease.message_id();
            event.lease_token_hash = lease.token.as_deref().map(token::hash);
            event.error = outcome.clone().err();
            self.emit(event);
        }
        outcomes
    }

    fn renew_call<'a>(&'a self, lease: &'a Lease) -> Result<Invocation<'a>, Error> {
        let Some(lease_ms) = self.config.visibility_timeout_ms else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "this queue is configured without leases; set a visibility timeout to renew one",
            ));
        };
        let token = lease.valid_token()?;
        Ok(Invocation::new(&script::RENEW)
            .key("lease_deadlines", self.keys.lease_deadlines.as_bytes())
            .key("lease_tokens", self.keys.lease_tokens.as_bytes())
            .arg("stored", lease.stored.as_slice())
            .arg("token", token.as_bytes())
            .number("lease_ms", lease_ms)
            .number("not_after", lease.not_after_ms.unwrap_or(0)))
    }
}
