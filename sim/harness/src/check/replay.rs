//! The same id gets the same answer. A claim id whose claim is still current is answered with its
//! message and token, whatever came between; an operation whose marker is there is answered as at
//! first and changes nothing.

use std::collections::BTreeMap;

use super::{Answer, Check, Step, Verdict};
use crate::view::{Id, Message};

#[derive(Clone, Debug, Default)]
pub(crate) struct Replay {
    claims: BTreeMap<Id, (Message, u64)>,
    answers: BTreeMap<Vec<u8>, i64>,
}

impl Check for Replay {
    const PROPERTY: &'static str = "replay";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        if step.excuse.evicted || !step.ran {
            return Ok(());
        }
        if let (Some(marker), Answer::Int(answer)) = (step.command.marker, &step.answer) {
            if step.marker_before {
                if step.changed() {
                    return Err(format!(
                        "{} was repeated and changed its queue again",
                        step.script()
                    ));
                }
                if let Some(first) = self.answers.get(marker)
                    && first != answer
                {
                    return Err(format!(
                        "{} answered {first}, and {answer} when it was repeated",
                        step.script()
                    ));
                }
            } else {
                self.answers.insert(marker.to_vec(), *answer);
            }
        }
        let Some(claim) = step.claim() else {
            return Ok(());
        };
        for grant in &claim.grants {
            if let Some((message, token)) = self.claims.get(&grant.id)
                && grant.replayed
                && (*message, *token) != (grant.message, grant.token)
            {
                return Err(format!(
                    "claim c{} was answered with {} token {token}, and later with {} token {}",
                    grant.id.0,
                    step.show(*message),
                    step.show(grant.message),
                    grant.token
                ));
            }
        }
        // A claim that is still current must be answered again, and nothing else given for its id.
        if !step.excuse.torn && step.is_clean() {
            for id in &step.ids {
                let Some((message, token)) = self.claims.get(id) else {
                    continue;
                };
                let current = match step.script() {
                    "claim_lease" => step.before.tokens.get(message) == Some(token),
                    _ => step.before.backrefs.get(&message.0.into()) == Some(id),
                } && step.before.processing.contains(message);
                let again = claim
                    .grants
                    .iter()
                    .any(|grant| grant.id == *id && grant.message == *message);
                if current && !again {
                    return Err(format!(
                        "claim c{} holds {} under token {token} and was not answered with it",
                        id.0,
                        step.show(*message)
                    ));
                }
            }
        }
        for grant in &claim.grants {
            self.claims.insert(grant.id, (grant.message, grant.token));
        }
        Ok(())
    }
}
