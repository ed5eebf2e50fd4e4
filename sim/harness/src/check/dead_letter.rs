//! A message goes to the dead letters when it was claimed as often as is allowed, and only then;
//! once; and the claim says so.

use super::{Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct DeadLetter;

impl Check for DeadLetter {
    const PROPERTY: &'static str = "dead_letter";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let Some(claim) = step.claim().filter(|_| step.script() == "claim_lease") else {
            return Ok(());
        };
        if step.excuse.evicted {
            return Ok(());
        }
        let limit = step.settings.limit().map(u64::from);
        let gone = step.after.dead.len().saturating_sub(step.before.dead.len()) as u64;
        if gone != claim.dead && step.failed_call.is_none() {
            return Err(format!(
                "{gone} messages were dead-lettered, and {} told",
                claim.dead
            ));
        }
        for payload in step.after.dead.iter().take(gone as usize) {
            let mut alive = step
                .before
                .pending
                .iter()
                .chain(step.before.processing.iter());
            let message = alive.find(|message| step.names.payload_of(**message) == *payload);
            let Some(message) = message else {
                return Err(format!(
                    "m{} was dead-lettered and not alive before",
                    payload.0
                ));
            };
            let count = step.before.counts.get(message).copied().unwrap_or(0);
            if limit.is_none_or(|limit| count < limit) && !step.excuse.torn {
                return Err(format!(
                    "{} was dead-lettered after {count} claims of {limit:?}",
                    step.show(*message)
                ));
            }
        }
        for grant in claim.grants.iter().filter(|grant| !grant.replayed) {
            if let Some(limit) = limit
                && grant.count > limit
            {
                return Err(format!(
                    "{} was claimed {} times of {limit}",
                    step.show(grant.message),
                    grant.count
                ));
            }
        }
        Ok(())
    }
}
