//! No message is stuck, whatever failed: one in processing has a deadline and a token, so that a
//! reclaim brings it back; none is in two places; none with a lease is pending.

use std::sync::Arc;

use super::{Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct Stuck;

impl Check for Stuck {
    const PROPERTY: &'static str = "stuck";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let (before, after) = (step.before, step.after);
        let same = Arc::ptr_eq(&before.pending, &after.pending)
            && Arc::ptr_eq(&before.processing, &after.processing)
            && Arc::ptr_eq(&before.deadlines, &after.deadlines)
            && Arc::ptr_eq(&before.tokens, &after.tokens);
        if same || step.excuse.evicted {
            return Ok(());
        }
        let mut all: Vec<_> = after
            .pending
            .iter()
            .chain(after.processing.iter())
            .collect();
        all.sort_unstable();
        if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("{} is there twice", step.show(*pair[0])));
        }
        if !step.settings.leased() {
            return Ok(());
        }
        let mut due: Vec<_> = after
            .deadlines
            .iter()
            .map(|(message, _)| *message)
            .collect();
        due.sort_unstable();
        for message in after.processing.iter() {
            if due.binary_search(message).is_err() {
                return Err(format!(
                    "{} is in processing without a deadline",
                    step.show(*message)
                ));
            }
            if !after.tokens.contains_key(message) {
                return Err(format!(
                    "{} is in processing without a token",
                    step.show(*message)
                ));
            }
        }
        Ok(())
    }
}
