//! Fencing tokens grow with every grant of a queue, and none is given to two claim ids. They start
//! again only after a drain of a queue with nothing in flight.

use std::collections::BTreeMap;

use super::{Answer, Check, Step, Verdict};
use crate::view::Id;

#[derive(Clone, Debug, Default)]
pub(crate) struct TokenOrder {
    /// By queue: the last token, and who has which since they began.
    last: [u64; 3],
    given: [BTreeMap<u64, Id>; 3],
}

impl Check for TokenOrder {
    const PROPERTY: &'static str = "token_order";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let queue = step.queue;
        if step.excuse.evicted {
            return Ok(());
        }
        if step.script() == "cleanup" && matches!(step.answer, Answer::Int(1)) {
            self.last[queue] = 0;
            self.given[queue].clear();
            if !(step.before.processing.is_empty() && step.before.counts.is_empty()) {
                return Err("the token counter was dropped while messages are in flight".into());
            }
            return Ok(());
        }
        if step.after.counter < step.before.counter {
            return Err(format!(
                "the token counter went from {} to {}",
                step.before.counter, step.after.counter
            ));
        }
        let Some(claim) = step.claim().filter(|_| step.script() == "claim_lease") else {
            return Ok(());
        };
        for grant in claim.grants.iter().filter(|grant| !grant.replayed) {
            if grant.token <= self.last[queue] || grant.token > step.after.counter {
                return Err(format!(
                    "token {} of {} comes after token {} and the counter is {}",
                    grant.token,
                    step.show(grant.message),
                    self.last[queue],
                    step.after.counter
                ));
            }
            self.last[queue] = grant.token;
        }
        for grant in &claim.grants {
            let owner = *self.given[queue].entry(grant.token).or_insert(grant.id);
            if owner != grant.id {
                return Err(format!(
                    "token {} was given to c{} and to c{}",
                    grant.token, owner.0, grant.id.0
                ));
            }
        }
        Ok(())
    }
}
