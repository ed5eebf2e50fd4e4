//! What is settled stays settled: it is never pending, in processing or claimed again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Check, Step, Verdict};
use crate::view::Message;

#[derive(Clone, Debug, Default)]
pub(crate) struct AckFinal {
    settled: BTreeSet<Message>,
}

impl Check for AckFinal {
    const PROPERTY: &'static str = "ack_final";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let settles = matches!(
            step.script(),
            "remove" | "remove_lease" | "move" | "move_lease"
        );
        if let (true, Some(message)) = (settles && step.applied(), step.message) {
            self.settled.insert(message);
        }
        let lists = [
            (&step.before.pending, &step.after.pending),
            (&step.before.processing, &step.after.processing),
        ];
        for (before, after) in lists {
            if Arc::ptr_eq(before, after) || step.excuse.evicted {
                continue;
            }
            if let Some(message) = after.iter().find(|message| self.settled.contains(message)) {
                return Err(format!(
                    "{} was settled and is back after {}",
                    step.show(*message),
                    step.script()
                ));
            }
        }
        Ok(())
    }
}
