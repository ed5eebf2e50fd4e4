//! A claim gives back exactly the leases that are over, the oldest deadline to be claimed first, and
//! grants from the claim end in order; what is left is as it was.

use super::{Check, Step, Verdict};
use crate::view::Message;

/// The most leases that one call gives back.
const MOST_RECLAIMS: usize = 100;

#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo;

impl Check for Fifo {
    const PROPERTY: &'static str = "fifo";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let Some(claim) = step.claim() else {
            return Ok(());
        };
        let moved = step.server_ms != step.ended_ms;
        if !step.is_clean() || step.excuse.evicted || step.excuse.torn || moved {
            return Ok(());
        }
        let fresh: Vec<_> = claim
            .grants
            .iter()
            .filter(|grant| !grant.replayed)
            .collect();
        let mode = step
            .command
            .args
            .get(if step.script() == "claim" { 1 } else { 3 });
        let open = step.ids.len() - (claim.grants.len() - fresh.len());
        let takes = mode.is_some_and(|mode| *mode == b"claim") && open > 0;
        let mut line: Vec<Message> = step.before.pending.to_vec();
        if takes && step.script() == "claim_lease" {
            // A lease that this very call has given again is not over.
            let again = |message| {
                claim
                    .grants
                    .iter()
                    .any(|grant| grant.replayed && grant.message == message)
            };
            let over: Vec<Message> = step
                .before
                .deadlines
                .iter()
                .filter(|(message, deadline)| *deadline <= step.server_ms && !again(*message))
                .map(|(message, _)| *message)
                .take(MOST_RECLAIMS)
                .collect();
            if claim.reclaimed != over.len() as u64 {
                return Err(format!(
                    "{} leases are over and {} were given back",
                    over.len(),
                    claim.reclaimed
                ));
            }
            line.extend(over.iter().rev());
        }
        let limit = step.settings.limit().map(u64::from);
        let count = |message| step.before.counts.get(&message).copied().unwrap_or(0);
        let mut grants = fresh.iter();
        let mut next = grants.next();
        let mut given = 0;
        // A call that gives all it may looks no further, also not for what is to be buried.
        while takes && given < open {
            let Some(message) = line.pop() else {
                break;
            };
            if limit.is_some_and(|limit| count(message) >= limit) {
                continue;
            }
            match next {
                Some(grant) if grant.message == message => next = grants.next(),
                _ => {
                    return Err(format!(
                        "{} was next, and {} was given",
                        step.show(message),
                        next.map_or("nothing".into(), |grant| step.show(grant.message))
                    ));
                }
            }
            given += 1;
        }
        if let Some(grant) = next {
            return Err(format!(
                "{} was given and was not at the claim end",
                step.show(grant.message)
            ));
        }
        if takes && line != *step.after.pending {
            return Err("what a claim left pending is not what was there, in its order".into());
        }
        Ok(())
    }
}
