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

/// The most leases that one script call renews.
const MAX_CALL: usize = 256;

/// A script call takes no further lease once it has this many bytes of them.
const MAX_CALL_BYTES: usize = 1024 * 1024;

/// A lease with its token, and its place among those that the caller named.
type Renewable<'a> = (usize, &'a Lease, &'a str);

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Moves the deadlines of leases to now plus the visibility timeout, up to 256 of them in one
    /// script call. Renewing twice is renewing once, so a lost reply is harmless. [`Lease::not_after_ms`] limits it.
    pub async fn renew(&mut self, leases: &[Lease]) -> Vec<Result<RenewOutcome, Error>> {
        let mut outcomes: Vec<Result<RenewOutcome, Error>> = Vec::new();
        let mut valid = Vec::new();
        for lease in leases {
            match self.renewable(lease) {
                Ok(token) => {
                    valid.push((outcomes.len(), lease, token));
                    outcomes.push(Ok(RenewOutcome::Stale));
                }
                Err(error) => outcomes.push(Err(error)),
            }
        }
        let batches = batches(&valid);
        let calls: Vec<Invocation<'_>> =
            batches.iter().map(|batch| self.renew_call(batch)).collect();
        let answers = self.caller.call(&calls).await;
        for (batch, called) in batches.into_iter().zip(answers) {
            let answer = called
                .answer
                .and_then(|answer| reply::ints(answer, batch.len()));
            for (order, (at, ..)) in batch.iter().enumerate() {
                outcomes[*at] = match &answer {
                    Ok(deadlines) => Ok(match deadlines[order] {
                        deadline @ 1.. => RenewOutcome::Renewed(deadline.unsigned_abs()),
                        _ => RenewOutcome::Stale,
                    }),
                    Err(error) => Err(error.clone()),
                };
            }
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

    /// The token of a lease that this queue can renew.
    fn renewable<'a>(&self, lease: &'a Lease) -> Result<&'a str, Error> {
        if self.config.visibility_timeout_ms.is_none() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "this queue is configured without leases; set a visibility timeout to renew one",
            ));
        }
        lease.valid_token()
    }

    fn renew_call<'a>(&'a self, leases: &[Renewable<'a>]) -> Invocation<'a> {
        let mut call = Invocation::new(&script::RENEW)
            .key("lease_deadlines", self.keys.lease_deadlines.as_bytes())
            .key("lease_tokens", self.keys.lease_tokens.as_bytes())
            .number("lease_ms", self.config.visibility_timeout_ms.unwrap_or(0));
        for (_, lease, token) in leases {
            call = call
                .arg("lease", lease.stored.as_slice())
                .arg("lease", token.as_bytes())
                .number("lease", lease.not_after_ms.unwrap_or(0));
        }
        call
    }
}

/// As many leases together as one call takes.
fn batches<'l, 'a>(mut leases: &'l [Renewable<'a>]) -> Vec<&'l [Renewable<'a>]> {
    let mut batches = Vec::new();
    while !leases.is_empty() {
        let mut bytes = 0;
        let fits = leases.iter().take(MAX_CALL).take_while(|(_, lease, _)| {
            let before = bytes;
            bytes += lease.stored.len();
            before < MAX_CALL_BYTES
        });
        let (batch, rest) = leases.split_at(fits.count());
        batches.push(batch);
        leases = rest;
    }
    batches
}
