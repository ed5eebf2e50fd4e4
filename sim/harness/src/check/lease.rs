//! At most one unexpired lease for each message, by the server's clock: a message is granted only
//! when nobody has it, and a lease is given again only under its own, current token.

use super::{Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct OneLiveLease;

impl Check for OneLiveLease {
    const PROPERTY: &'static str = "one_live_lease";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let Some(claim) = step.claim() else {
            return Ok(());
        };
        if step.excuse.evicted {
            return Ok(());
        }
        for (at, grant) in claim.grants.iter().enumerate() {
            let twice = claim.grants[..at]
                .iter()
                .any(|other| other.message == grant.message);
            if twice {
                return Err(format!(
                    "{} was given twice in one call",
                    step.show(grant.message)
                ));
            }
            if step.script() != "claim_lease" {
                continue;
            }
            let current = step.before.tokens.get(&grant.message);
            if grant.replayed {
                if current != Some(&grant.token) {
                    return Err(format!(
                        "{} was given again under token {}, but its token is {current:?}",
                        step.show(grant.message),
                        grant.token
                    ));
                }
                continue;
            }
            let deadline = step.before.deadline(grant.message);
            if step.before.processing.contains(&grant.message)
                && deadline.is_some_and(|deadline| deadline > step.ended_ms)
            {
                return Err(format!(
                    "{} was granted under token {} at {} while it is held until {deadline:?}",
                    step.show(grant.message),
                    grant.token,
                    step.server_ms
                ));
            }
        }
        for grant in &claim.grants {
            if step.script() != "claim_lease" {
                break;
            }
            if step.after.tokens.get(&grant.message) != Some(&grant.token)
                || step.after.deadline(grant.message) != Some(grant.deadline)
                || !step.after.processing.contains(&grant.message)
            {
                return Err(format!(
                    "{} was granted under token {}, which no lease in the queue says",
                    step.show(grant.message),
                    grant.token
                ));
            }
            let lease = u64::from(step.settings.lease_ms);
            if !(step.server_ms + lease..=step.ended_ms + lease).contains(&grant.deadline) {
                return Err(format!(
                    "the deadline {} is not a lease from now",
                    grant.deadline
                ));
            }
        }
        Ok(())
    }
}
