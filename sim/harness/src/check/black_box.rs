//! What clients saw, and nothing else: each call with its outcome, which is ok, refused or unknown;
//! a time-out is unknown. It shares no code with the checkers of the log, so that a mistake in what
//! they read is seen too.

use std::collections::{BTreeMap, BTreeSet};

use leaseline_core::message::{Delivery, Lease, PublishOutcome};
use leaseline_core::{Error, ErrorKind};

use crate::view::Payload;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Published, and the client knows it, since then.
    Accepted { at_us: u64 },
    /// Refused, or a duplicate: it certainly is not there.
    Refused,
    /// Nobody was told.
    Unknown,
}

/// What a client heard of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    Done,
    Stale,
    Unknown,
}

/// The histories of all clients.
#[derive(Debug, Default)]
pub(crate) struct BlackBox {
    published: BTreeMap<Payload, (usize, Fate)>,
    /// Payloads that came out: claimed, or seen among the dead letters.
    out: BTreeSet<Payload>,
    /// Stored message and token to the client that got it first.
    tokens: BTreeMap<(Vec<u8>, String), usize>,
    /// Stored messages that were acknowledged, and at which command the client heard of it.
    acked: BTreeMap<Vec<u8>, u64>,
    /// Where a purge may have removed messages.
    purged: BTreeSet<usize>,
    /// The server forgot what happened since then; several times perhaps, and this is the first.
    lost_since_us: Option<u64>,
}

impl BlackBox {
    pub(crate) fn publishes(&mut self, payload: Payload, queue: usize) {
        self.published.insert(payload, (queue, Fate::Unknown));
    }

    pub(crate) fn published(
        &mut self,
        payload: Payload,
        at_us: u64,
        outcome: &Result<PublishOutcome, Error>,
    ) {
        let fate = match outcome {
            Ok(PublishOutcome::Published) => Fate::Accepted { at_us },
            Ok(PublishOutcome::Duplicate) => Fate::Refused,
            Err(error) if error.kind == ErrorKind::OutcomeUnknown => Fate::Unknown,
            Err(_) => Fate::Refused,
        };
        if let Some((_, known)) = self.published.get_mut(&payload) {
            *known = fate;
        }
    }

    /// A client got a message by a call that began after so many commands. What it knows must be
    /// new, and its own.
    pub(crate) fn claimed(
        &mut self,
        client: usize,
        queue: usize,
        payload: Payload,
        delivery: &Delivery,
        began: u64,
        excused: bool,
    ) -> Result<(), String> {
        let shown = format!("m{}", payload.0);
        match self.published.get(&payload) {
            None => return Err(format!("{shown} was claimed, and nobody published it")),
            Some((of, _)) if *of != queue => {
                return Err(format!("{shown} was claimed from another queue"));
            }
            Some((_, Fate::Refused)) => {
                return Err(format!("{shown} was claimed, and its publish was refused"));
            }
            Some(_) => {}
        }
        self.out.insert(payload);
        let stored = &delivery.lease.stored;
        if excused || self.lost_since_us.is_some() {
            return Ok(());
        }
        if self.acked.get(stored).is_some_and(|heard| *heard <= began) {
            return Err(format!("{shown} was acknowledged and claimed again"));
        }
        if let Some(token) = &delivery.lease.token {
            let key = (stored.clone(), token.clone());
            if let Some(other) = self.tokens.get(&key)
                && (*other != client || !delivery.replayed)
            {
                return Err(format!(
                    "{shown} was given under token {token} to client {other} and to client {client}"
                ));
            }
            self.tokens.insert(key, client);
        }
        Ok(())
    }

    pub(crate) fn settled(
        &mut self,
        lease: &Lease,
        outcome: Settled,
        heard: u64,
    ) -> Result<(), String> {
        if outcome != Settled::Done || self.lost_since_us.is_some() {
            return Ok(());
        }
        if self.acked.insert(lease.stored.clone(), heard).is_some() && lease.token.is_some() {
            return Err(format!(
                "one message was settled twice, the second time under token {:?}",
                lease.token
            ));
        }
        Ok(())
    }

    pub(crate) fn purges(&mut self, queue: usize) {
        self.purged.insert(queue);
    }

    /// The server went back to what it was then.
    pub(crate) fn truncated(&mut self, at_us: u64) {
        let since = self.lost_since_us.unwrap_or(u64::MAX);
        self.lost_since_us = Some(since.min(at_us));
    }

    pub(crate) fn seen_dead(&mut self, payload: Payload) {
        self.out.insert(payload);
    }

    /// Everything that was accepted has come out, now that the queues are empty. `excused`: by
    /// queue, whether messages may be gone.
    pub(crate) fn finish(&self, excused: &[bool]) -> Result<(), String> {
        for (payload, (queue, fate)) in &self.published {
            let Fate::Accepted { at_us } = fate else {
                continue;
            };
            let lost = self.lost_since_us.is_some_and(|since| *at_us >= since);
            if !self.out.contains(payload)
                && !lost
                && !excused[*queue]
                && !self.purged.contains(queue)
            {
                return Err(format!("m{} was accepted and never came out", payload.0));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(stored: &[u8], token: &str) -> Delivery {
        Delivery {
            message_id: None,
            payload: Ok(Vec::new()),
            lease: Lease {
                stored: stored.to_vec(),
                token: Some(token.into()),
                deadline_ms: None,
                not_after_ms: None,
            },
            delivery_count: 1,
            replayed: false,
        }
    }

    fn accepted() -> BlackBox {
        let mut seen = BlackBox::default();
        seen.publishes(Payload(1), 0);
        seen.published(Payload(1), 5, &Ok(PublishOutcome::Published));
        seen
    }

    #[test]
    fn an_accepted_message_must_come_out() {
        let mut seen = accepted();
        assert!(seen.finish(&[false]).is_err());
        assert!(seen.finish(&[true]).is_ok());
        seen.truncated(6);
        assert!(
            seen.finish(&[false]).is_err(),
            "accepted before what was lost"
        );
        seen.truncated(5);
        assert!(seen.finish(&[false]).is_ok());
    }

    #[test]
    fn an_unknown_publish_may_come_out_and_a_refused_one_may_not() {
        let mut seen = BlackBox::default();
        let claimed =
            |seen: &mut BlackBox| seen.claimed(0, 0, Payload(1), &delivery(b"a", "1"), 0, false);
        assert!(claimed(&mut seen).is_err(), "nobody published it");
        seen.publishes(Payload(1), 0);
        let unknown = Error::new(ErrorKind::OutcomeUnknown, "");
        seen.published(Payload(1), 0, &Err(unknown));
        assert!(claimed(&mut seen).is_ok());
        let refused = Error::new(ErrorKind::Server, "");
        seen.published(Payload(1), 0, &Err(refused));
        assert!(claimed(&mut seen).is_err());
    }

    #[test]
    fn a_token_has_one_owner_and_a_message_one_end() {
        let mut seen = accepted();
        let lease = delivery(b"a", "1").lease;
        let claim = |seen: &mut BlackBox, client, token, began| {
            seen.claimed(client, 0, Payload(1), &delivery(b"a", token), began, false)
        };
        assert!(claim(&mut seen, 0, "1", 0).is_ok());
        assert!(claim(&mut seen, 1, "1", 0).is_err());
        assert!(claim(&mut seen, 1, "2", 0).is_ok());
        assert!(seen.settled(&lease, Settled::Stale, 7).is_ok());
        assert!(seen.settled(&lease, Settled::Done, 8).is_ok());
        assert!(seen.settled(&lease, Settled::Done, 9).is_err());
        assert!(
            claim(&mut seen, 2, "3", 8).is_ok(),
            "it began before the end was known"
        );
        assert!(claim(&mut seen, 2, "4", 9).is_err());
    }
}
