//! Scripts touch only keys that they were given, but for the record of a claim, which they find by
//! its name; and all keys are those of one queue.

use super::{Check, Step, Verdict};
use crate::view::queue_of;

#[derive(Clone, Debug, Default)]
pub(crate) struct DeclaredKeys;

impl Check for DeclaredKeys {
    const PROPERTY: &'static str = "declared_keys";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        for key in step.undeclared {
            let record = format!("q{}::processing:claim_result:", step.queue);
            if !key.starts_with(record.as_bytes()) {
                return Err(format!(
                    "{} touched '{}', which it was not given",
                    step.script(),
                    String::from_utf8_lossy(key)
                ));
            }
        }
        match step
            .command
            .keys
            .iter()
            .find(|key| queue_of(key) != Some(step.queue))
        {
            Some(key) => Err(format!(
                "{} was given '{}'",
                step.script(),
                String::from_utf8_lossy(key)
            )),
            None => Ok(()),
        }
    }
}
