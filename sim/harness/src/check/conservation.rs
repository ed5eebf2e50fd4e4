//! No message is lost, invented or doubled: each script moves messages as it is meant to, and
//! nothing else moves them.

use std::sync::Arc;

use super::{Answer, Check, Step, Verdict};
use crate::view::{Names, Payload, View};

#[derive(Clone, Debug, Default)]
pub(crate) struct Conservation;

/// All payloads of a queue, sorted.
fn inventory(view: &View, names: &Names) -> Vec<Payload> {
    let alive = view.pending.iter().chain(view.processing.iter());
    let settled = view
        .dead
        .iter()
        .chain(view.completed.iter())
        .chain(view.failed.iter());
    let mut all: Vec<Payload> = alive
        .map(|message| names.payload_of(*message))
        .chain(settled.copied())
        .collect();
    all.sort_unstable();
    all
}

fn same_lists(one: &View, two: &View) -> bool {
    let lists = |view: &View| [view.pending.clone(), view.processing.clone()];
    let logs = |view: &View| {
        [
            view.dead.clone(),
            view.completed.clone(),
            view.failed.clone(),
        ]
    };
    lists(one)
        .iter()
        .zip(&lists(two))
        .all(|(a, b)| Arc::ptr_eq(a, b))
        && logs(one)
            .iter()
            .zip(&logs(two))
            .all(|(a, b)| Arc::ptr_eq(a, b))
}

impl Check for Conservation {
    const PROPERTY: &'static str = "conservation";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let (before, after) = (step.before, step.after);
        let expects_change =
            step.applied() && !matches!(step.script(), "release" | "renew" | "cleanup");
        if same_lists(before, after) && !expects_change {
            return Ok(());
        }
        let had = inventory(before, step.names);
        let mut expected = had.clone();
        let add = |all: &mut Vec<Payload>, payload| {
            all.push(payload);
            all.sort_unstable();
        };
        let take = |all: &mut Vec<Payload>, payload: Payload| {
            if let Ok(at) = all.binary_search(&payload) {
                all.remove(at);
            }
        };
        let payload = step.message.map(|message| step.names.payload_of(message));
        let evicted = step.excuse.evicted;
        match (step.script(), payload) {
            ("add" | "publish" | "delay", Some(payload)) if step.applied() => {
                let full = before.pending.len() >= step.settings.cap as usize;
                if step.settings.drops_oldest()
                    && full
                    && step.script() != "delay"
                    && let Some(oldest) = before.pending.last()
                {
                    take(&mut expected, step.names.payload_of(*oldest));
                }
                add(&mut expected, payload);
            }
            ("remove" | "remove_lease", Some(payload)) if step.applied() => {
                take(&mut expected, payload);
            }
            ("purge", _) => {
                if !matches!(step.answer, Answer::Int(_)) {
                    return self.compare(step, &had, &inventory(after, step.names));
                }
                let lists = [&before.dead, &before.completed, &before.failed];
                let now = [&after.dead, &after.completed, &after.failed];
                let mut removed =
                    before.pending.len() - after.pending.len().min(before.pending.len());
                for (list, now) in lists.iter().zip(now) {
                    removed += list.len() - now.len().min(list.len());
                }
                let tails = step.after.pending.len() <= before.pending.len()
                    && before.pending.starts_with(&after.pending);
                return if step.answer_is(removed as i64) && tails || evicted {
                    Ok(())
                } else {
                    Err(format!(
                        "purge removed {removed} and answered {:?}",
                        step.answer
                    ))
                };
            }
            ("", _) if step.command.argv[0] == b"LTRIM" => {
                let cut = |list: &[Payload], was: &[Payload]| was.starts_with(list);
                let ok = before.pending == after.pending
                    && before.processing == after.processing
                    && before.dead == after.dead
                    && cut(&after.completed, &before.completed)
                    && cut(&after.failed, &before.failed);
                return if ok {
                    Ok(())
                } else {
                    Err("a trim touched more than the end of a log".into())
                };
            }
            _ => {}
        }
        self.compare(step, &expected, &inventory(after, step.names))
    }
}

impl Conservation {
    fn compare(&self, step: &Step<'_>, expected: &[Payload], found: &[Payload]) -> Verdict {
        if expected == found || step.excuse.evicted {
            return Ok(());
        }
        let lost: Vec<_> = expected
            .iter()
            .filter(|one| count(expected, one) > count(found, one))
            .collect();
        let more: Vec<_> = found
            .iter()
            .filter(|one| count(found, one) > count(expected, one))
            .collect();
        let text = |all: &[&Payload]| {
            all.iter()
                .map(|one| format!("m{}", one.0))
                .collect::<Vec<_>>()
                .join(" ")
        };
        Err(format!(
            "{} {:?}: lost [{}], too many [{}]",
            step.script(),
            step.answer,
            text(&lost),
            text(&more)
        ))
    }
}

fn count(all: &[Payload], one: &Payload) -> usize {
    all.iter().filter(|other| *other == one).count()
}

impl Step<'_> {
    fn answer_is(&self, number: i64) -> bool {
        self.marker_before || matches!(self.answer, Answer::Int(answer) if answer == number)
    }
}
