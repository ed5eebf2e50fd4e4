//! Within the window of a deduplication key one message is accepted, whatever became of it; after
//! the window the next one is.

use std::collections::BTreeMap;

use super::{Answer, Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct DedupWindow {
    /// Server time of the last acceptance: when it began, and when it ended.
    accepted: BTreeMap<Vec<u8>, (u64, u64)>,
}

impl Check for DedupWindow {
    const PROPERTY: &'static str = "dedup_window";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let Some(key) = step.command.deduplication else {
            return Ok(());
        };
        if !step.ran || step.marker_before {
            return Ok(());
        }
        let window = u64::from(step.settings.window_ms);
        let last = self.accepted.get(key).copied();
        match step.answer {
            Answer::Int(1..) => {
                self.accepted
                    .insert(key.to_vec(), (step.server_ms, step.ended_ms));
                match last {
                    // A jump forward ends windows, and a jump back does not bring them back.
                    Some((began, _)) if step.ended_ms <= began + window && !step.excuse.clock => {
                        Err(format!(
                            "{} accepted a second message {} ms after the first, within the window of {window} ms",
                            step.script(),
                            step.server_ms.saturating_sub(began)
                        ))
                    }
                    _ => Ok(()),
                }
            }
            Answer::Int(0) => match last {
                None => Err(format!(
                    "{} refused the first message of its key as a duplicate",
                    step.script()
                )),
                Some((_, ended)) if step.server_ms > ended + window && !step.excuse.clock => {
                    Err(format!(
                        "{} refused a message {} ms after the window of {window} ms",
                        step.script(),
                        step.server_ms - ended - window
                    ))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
