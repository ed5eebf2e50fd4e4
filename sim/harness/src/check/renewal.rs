//! A renewal moves the deadlines of those leases whose token is current to a lease from now, and says
//! for each when it ends. It never shortens one, unless the clock went back, and touches nothing else.

use super::{Answer, Check, Step, Verdict};
use crate::view::View;

#[derive(Clone, Debug, Default)]
pub(crate) struct Renewal;

/// What no renewal writes; delays end by themselves.
fn rest(view: &View) -> View {
    View {
        deadlines: Default::default(),
        delays: Default::default(),
        ..view.clone()
    }
}

impl Check for Renewal {
    const PROPERTY: &'static str = "renewal";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        if step.script() != "renew" || !step.ran {
            return Ok(());
        }
        if rest(step.before) != rest(step.after) {
            return Err("a renewal changed more than deadlines".into());
        }
        let named = |message| step.renewals.iter().any(|(of, _)| *of == message);
        for (message, deadline) in step.after.deadlines.iter() {
            if !named(*message) && step.before.deadline(*message) != Some(*deadline) {
                return Err(format!(
                    "a renewal that does not name {} moved its deadline",
                    step.show(*message)
                ));
            }
        }
        let Answer::Numbers(answers) = &step.answer else {
            return Ok(());
        };
        if answers.len() != step.renewals.len() {
            return Err(format!(
                "{} leases were to be renewed and {} answered",
                step.renewals.len(),
                answers.len()
            ));
        }
        for ((message, token), until) in step.renewals.iter().zip(answers) {
            let (before, after) = (
                step.before.deadline(*message),
                step.after.deadline(*message),
            );
            let current = step.before.tokens.get(message) == Some(token);
            if current != (*until > 0) {
                return Err(format!(
                    "the renewal of {} under token {token}, which is {}current, answered {until}",
                    step.show(*message),
                    if current { "" } else { "not " }
                ));
            }
            if !current {
                // Another lease of the same message may have been renewed by the same call.
                let others = step.renewals.iter().filter(|(of, _)| of == message);
                if before != after && others.count() == 1 {
                    return Err(format!(
                        "a renewal under token {token}, which is not current, moved the deadline of {}",
                        step.show(*message)
                    ));
                }
                continue;
            }
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
        }
        Ok(())
    }
}
