//! A script that answers an error changed nothing.
//!
//! Excused is one in which a call was made to fail: it may leave what its header documents, and the
//! other checkers look at that.

use super::{Answer, Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct ErrorNoChange;

impl Check for ErrorNoChange {
    const PROPERTY: &'static str = "error_no_change";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let Answer::Error(line) = &step.answer else {
            return Ok(());
        };
        if step.failed_call.is_none() && step.changed() {
            return Err(format!(
                "{} answered '{line}' and changed its queue",
                step.script()
            ));
        }
        Ok(())
    }
}
