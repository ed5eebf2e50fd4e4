//! Who does not hold the current token of a message changes nothing and is told so; who does is
//! obeyed.

use super::{Answer, Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct StaleHolder;

impl Check for StaleHolder {
    const PROPERTY: &'static str = "stale_holder";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        // Renewals name many leases: `renewal` looks at each.
        let writes = matches!(step.script(), "remove_lease" | "move_lease" | "release");
        let (Some(message), true) = (step.message, writes && step.ran && !step.marker_before)
        else {
            return Ok(());
        };
        let Answer::Int(answer) = step.answer else {
            return Ok(());
        };
        if step.before.tokens.get(&message) != Some(&step.command.token) {
            if answer > 0 || step.changed() {
                return Err(format!(
                    "{} of {} under token {}, which is not current, answered {answer} and changed {}",
                    step.script(),
                    step.show(message),
                    step.command.token,
                    if step.changed() {
                        "its queue"
                    } else {
                        "nothing"
                    }
                ));
            }
        } else if answer <= 0
            && step.before.processing.contains(&message)
            && step.failed_call.is_none()
            && !step.excuse.evicted
        {
            return Err(format!(
                "{} of {} under its current token {} was refused",
                step.script(),
                step.show(message),
                step.command.token
            ));
        }
        Ok(())
    }
}
