//! What a script does is bounded by what it was asked for and by what it gives back.

use super::{Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct BoundedWork;

impl Check for BoundedWork {
    const PROPERTY: &'static str = "bounded_work";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        if !step.ran {
            return Ok(());
        }
        let over = step.before.deadlines.len().min(100) as u64;
        let bound = match step.script() {
            "claim_lease" => {
                60 + 14 * step.ids.len() as u64
                    + 8 * over
                    + 20 * step.claim().map_or(0, |claim| claim.dead)
            }
            "claim" => 20 + 12 * step.ids.len() as u64,
            "redrive" => 20 + 6 * step.command.args.len() as u64,
            // Two halvings of at most 2^39 ms, two counts each.
            "stats" => 180,
            // A look at the token of each, and one at its deadline where there is a limit.
            "renew" => 10 + 2 * step.renewals.len() as u64,
            "peek" => 20 + 5 * number(step.command.args.first()),
            _ => 40,
        };
        if step.calls > bound {
            return Err(format!(
                "{} made {} calls, more than {bound}",
                step.script(),
                step.calls
            ));
        }
        Ok(())
    }
}

fn number(text: Option<&&[u8]>) -> u64 {
    let text = text.and_then(|text| std::str::from_utf8(text).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}
