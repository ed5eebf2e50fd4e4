//! The count of a message is the number of its grants, also of those whose reply was lost.

use std::collections::BTreeMap;

use super::{Check, Step, Verdict};
use crate::view::Message;

#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryCount {
    grants: BTreeMap<Message, u64>,
}

impl Check for DeliveryCount {
    const PROPERTY: &'static str = "delivery_count";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let Some(claim) = step.claim().filter(|_| step.script() == "claim_lease") else {
            return Ok(());
        };
        for grant in &claim.grants {
            let grants = self.grants.entry(grant.message).or_insert(0);
            *grants += u64::from(!grant.replayed);
            if *grants != grant.count && !step.excuse.torn && !step.excuse.evicted {
                return Err(format!(
                    "{} was granted {grants} times and its count is {}",
                    step.show(grant.message),
                    grant.count
                ));
            }
        }
        Ok(())
    }
}
