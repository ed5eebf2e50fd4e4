//! The numbers that `stats` gives are those of the queue.

use super::{Answer, Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics;

impl Check for Statistics {
    const PROPERTY: &'static str = "statistics";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let Answer::Numbers(told) = &step.answer else {
            return Ok(());
        };
        // A call that fails may be answered with numbers that say nothing.
        if step.script() != "stats" || !step.is_clean() || step.excuse.evicted {
            return Ok(());
        }
        let view = step.before;
        let lists = [
            view.pending.len(),
            view.processing.len(),
            view.completed.len(),
            view.failed.len(),
            // Without a limit another key, which is never written, stands for the dead letters.
            match step.settings.limit() {
                Some(_) => view.dead.len(),
                None => 0,
            },
        ];
        let lists = lists.map(|length| length as i64);
        if told.get(..5) != Some(&lists) {
            return Err(format!(
                "the lists have {lists:?} elements and stats says {told:?}"
            ));
        }
        if step.server_ms != step.ended_ms || step.excuse.clock || step.excuse.torn {
            return Ok(());
        }
        let delayed = view.tokens.values().filter(|token| {
            let due = view.delays.iter().find(|(of, _)| of == *token);
            due.is_some_and(|(_, due)| *due > step.server_ms)
        });
        let over = view
            .deadlines
            .iter()
            .filter(|(_, due)| *due <= step.server_ms);
        let oldest = view
            .deadlines
            .first()
            .map_or(0, |(_, due)| step.server_ms.saturating_sub(*due));
        let expected = [delayed.count() as i64, over.count() as i64, oldest as i64];
        if told.get(5..8) != Some(&expected) {
            return Err(format!(
                "delayed, overdue and the oldest are {expected:?} and stats says {:?}",
                told.get(5..8)
            ));
        }
        // The holder of a lost lease may have prolonged a delay, which then counts as a lease.
        if step.excuse.lost {
            return Ok(());
        }
        let ends = view.deadlines.iter().filter(|(message, due)| {
            let token = view.tokens.get(message);
            let delayed = view.delays.iter().any(|(of, _)| Some(of) == token);
            *due > step.server_ms && !delayed
        });
        let ends: Vec<_> = ends.map(|(_, due)| due - step.server_ms).collect();
        let expected = [ends.first(), ends.last()].map(|end| end.map_or(0, |end| *end as i64));
        match told.get(8..) == Some(&expected) {
            true => Ok(()),
            false => Err(format!(
                "the leases that run end first and last in {expected:?} and stats says {:?}",
                told.get(8..)
            )),
        }
    }
}
