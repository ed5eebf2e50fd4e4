//! A renewal moves the deadline to a lease from now: it never shortens one, unless the clock went
//! back, and says when the lease ends.

use super::{Answer, Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct Renewal;

impl Check for Renewal {
    const PROPERTY: &'static str = "renewal";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let (Some(message), Answer::Int(until @ 1..)) = (step.message, &step.answer) else {
            return Ok(());
        };
        if step.script() != "renew" || step.excuse.evicted {
            return Ok(());
        }
        let after = step.after.deadline(message);
        let before = step.before.deadline(message);
        if after != Some(*until as u64) {
            return Err(format!(
                "a renewal until {until} left the deadline at {after:?}"
            ));
        }
        if before > after && !step.excuse.clock {
            return Err(format!(
                "a renewal moved the deadline from {before:?} back to {after:?}"
            ));
        }
        Ok(())
    }
}
