//! Settling leases: acknowledged or failed, with or without a log.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::Queue;
use crate::caller::Called;
use crate::capability::{Clock, Entropy, Redis};
use crate::config::Log;
use crate::envelope;
use crate::error::{Error, ErrorKind};
use crate::event::{Event, Operation, Outcome};
use crate::message::{SettleOutcome, SettleRequest, Settlement};
use crate::reply;
use crate::script::{self, Invocation};
use crate::token;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Settles leases, each on its own. The same call again, after a lost reply, gets the first
    /// answer.
    pub async fn settle(
        &mut self,
        requests: &[SettleRequest],
    ) -> Vec<Result<SettleOutcome, Error>> {
        let started = self.caller.clock.now_ms();
        let mut outcomes: Vec<Result<SettleOutcome, Error>> = Vec::new();
        let mut positions = Vec::new();
        let mut calls = Vec::new();
        for request in requests {
            match self.settle_call(request) {
                Ok(call) => {
                    positions.push(outcomes.len());
                    calls.push(call);
                    outcomes.push(Ok(SettleOutcome::Stale));
                }
                Err(error) => outcomes.push(Err(error)),
            }
        }
        let called = self.caller.call(&calls).await;
        // A call that was never in doubt needs its marker no more; after a lost reply it stays
        // until it expires, since the lost command may still be on its way to the server.
        let markers: Vec<Vec<u8>> = calls
            .iter()
            .zip(&called)
            .filter(|(_, called)| !called.ambiguous && called.answer.is_ok())
            .filter_map(|(call, _)| Some(call.marker()?.to_vec()))
            .collect();
        for (at, called) in positions.into_iter().zip(called) {
            outcomes[at] = settle_outcome(called);
        }
        let mut trimmed = self.clean_up(&markers, requests, &outcomes).await;
        for (request, outcome) in requests.iter().zip(&mut outcomes) {
            if let (Err(error), Some(id)) = (&mut *outcome, request.lease.message_id()) {
                error.message_id = Some(id);
            }
            self.emit_settled(request, outcome, started, &mut trimmed);
        }
        outcomes
    }

    fn log(&self, settlement: Settlement) -> (Log, &str) {
        match settlement {
            Settlement::Ack => (self.config.completed, &self.keys.completed),
            Settlement::Fail => (self.config.failed, &self.keys.failed),
        }
    }

    /// The script call for one settlement, under a new operation id.
    fn settle_call<'a>(&'a self, request: &'a SettleRequest) -> Result<Invocation<'a>, Error> {
        let lease = &request.lease;
        if lease
            .token
            .as_deref()
            .is_some_and(|token| !token::is_valid(token))
        {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the lease's token is not a decimal number; hand back the lease as the claim gave it",
            ));
        }
        let keys = &self.keys;
        let (log, destination) = self.log(request.settlement);
        // What cannot be decoded is kept whole, as the dead-letter list does.
        let payload = (log != Log::Off).then(|| match envelope::decode(&lease.stored, false) {
            Ok(envelope) => envelope.payload,
            Err(_) => lease.stored.clone(),
        });
        let marker = keys
            .operation_marker(lease.token.as_deref(), &self.mint())
            .into_bytes();
        let script = match (&lease.token, &payload) {
            (Some(_), Some(_)) => &script::MOVE_LEASE,
            (Some(_), None) => &script::REMOVE_LEASE,
            (None, Some(_)) => &script::MOVE,
            (None, None) => &script::REMOVE,
        };
        let mut call = Invocation::new(script).key("processing", keys.processing.as_bytes());
        if payload.is_some() {
            call = call.key("destination", destination.as_bytes());
        }
        if lease.token.is_some() {
            call = call
                .key("lease_deadlines", keys.lease_deadlines.as_bytes())
                .key("lease_tokens", keys.lease_tokens.as_bytes())
                .key("delivery_counts", keys.delivery_counts.as_bytes())
                .key("claim_refs", keys.claim_refs.as_bytes());
        }
        call = call
            .key("claim_ids", keys.claim_ids.as_bytes())
            .key("claim_backrefs", keys.claim_backrefs.as_bytes())
            .key("marker", marker);
        if lease.token.is_none() {
            call = call.key("lease_tokens", keys.lease_tokens.as_bytes());
        }
        call = call.arg("stored", lease.stored.as_slice());
        if let Some(payload) = payload {
            call = call.arg("payload", payload);
        }
        if let Some(token) = &lease.token {
            call = call.arg("token", token.as_bytes());
        }
        Ok(call.number("marker_ttl_ms", self.marker_ttl_ms()))
    }

    /// Removes markers that are needed no more and cuts the logs, best effort. Gives the events
    /// of logs that could not be cut.
    async fn clean_up(
        &self,
        markers: &[Vec<u8>],
        requests: &[SettleRequest],
        outcomes: &[Result<SettleOutcome, Error>],
    ) -> Vec<Event> {
        let mut trims: Vec<(&str, String)> = Vec::new();
        for (request, outcome) in requests.iter().zip(outcomes) {
            let (log, destination) = self.log(request.settlement);
            if let (Some(cap), Ok(SettleOutcome::Done)) = (log.cap(), outcome)
                && !trims.iter().any(|(trimmed, _)| *trimmed == destination)
            {
                trims.push((destination, format!("{}", cap - 1)));
            }
        }
        let mut commands: Vec<Vec<&[u8]>> = trims
            .iter()
            .map(|(list, last)| vec![b"LTRIM".as_slice(), list.as_bytes(), b"0", last.as_bytes()])
            .collect();
        if !markers.is_empty() {
            commands.push(
                core::iter::once(b"DEL".as_slice())
                    .chain(markers.iter().map(Vec::as_slice))
                    .collect(),
            );
        }
        if commands.is_empty() {
            return Vec::new();
        }
        let answers = self.caller.send(commands).await;
        trims
            .iter()
            .zip(answers)
            .filter_map(|((list, _), answer)| {
                let mut event = Event::new(Operation::TrimFailed, Outcome::Failure);
                event.destination = Some((*list).into());
                event.error = Some(answer.err()?.into());
                Some(event)
            })
            .collect()
    }

    /// The events of one settlement, in the order of the original. One of a log that could not be
    /// cut is told with the first settlement that went there.
    fn emit_settled(
        &mut self,
        request: &SettleRequest,
        outcome: &Result<SettleOutcome, Error>,
        started: u64,
        trimmed: &mut Vec<Event>,
    ) {
        let (log, destination) = self.log(request.settlement);
        let destination = (log != Log::Off).then(|| String::from(destination));
        let mut template = self.event(Operation::Ack, Outcome::Success, started);
        template.message_id = request.lease.message_id();
        template.lease_token_hash = request.lease.token.as_deref().map(token::hash);
        let emit = |queue: &mut Self, operation, outcome, destination: Option<&String>| {
            let mut event = template.clone();
            event.operation = operation;
            event.outcome = outcome;
            event.destination = destination.cloned();
            queue.emit(event);
        };
        let failed = request.settlement == Settlement::Fail;
        if failed {
            let mut event = template.clone();
            event.operation = Operation::Failed;
            event.outcome = Outcome::Failure;
            event.destination = destination.clone();
            event.reason = request.reason.clone();
            self.emit(event);
        }
        trimmed.retain(|event| {
            let told = *outcome == Ok(SettleOutcome::Done) && event.destination == destination;
            if told {
                self.emit(event.clone());
            }
            !told
        });
        match outcome {
            Err(error) => {
                let mut event = template.clone();
                event.operation = Operation::CleanupFailed;
                event.outcome = Outcome::Failure;
                event.error = Some(error.clone());
                self.emit(event);
            }
            Ok(outcome) => {
                let stale = *outcome == SettleOutcome::Stale;
                let applied = if stale {
                    Outcome::Skipped
                } else {
                    Outcome::Success
                };
                if !failed && destination.is_some() {
                    emit(self, Operation::Completed, applied, destination.as_ref());
                }
                emit(
                    self,
                    if failed {
                        Operation::Nack
                    } else {
                        Operation::Ack
                    },
                    applied,
                    None,
                );
                if stale && request.lease.token.is_some() {
                    let operation = if failed {
                        Operation::StaleLeaseNack
                    } else {
                        Operation::StaleLeaseAck
                    };
                    emit(self, operation, Outcome::Skipped, None);
                }
            }
        }
    }
}

fn settle_outcome(called: Called) -> Result<SettleOutcome, Error> {
    match reply::single_int(called.answer?)? {
        1 => Ok(SettleOutcome::Done),
        // The message is alive under another claim: no attempt of ours settled it.
        0 => Ok(SettleOutcome::Stale),
        -1 if called.ambiguous => Err(Error::new(
            ErrorKind::OutcomeUnknown,
            "a reply was lost and the lease has ended since: the message is gone: settled by this call or by a later claim, or dead-lettered",
        )),
        -1 => Ok(SettleOutcome::Stale),
        other => Err(Error::new(
            ErrorKind::Protocol,
            format!("a settlement script answered {other}; is another program using its name?"),
        )),
    }
}
