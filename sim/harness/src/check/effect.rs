//! What was applied is where it belongs, and its marker says so for as long as it must: publishes go
//! behind all others, settled payloads to the head of a log, delays end when they were asked to.

use super::command::number;
use super::{Answer, Check, Step, Verdict};

/// The least life of a settlement's marker, in milliseconds.
const LEAST_LIFE_MS: u64 = 1000;

#[derive(Clone, Debug, Default)]
pub(crate) struct Effect;

impl Check for Effect {
    const PROPERTY: &'static str = "effect";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let Answer::Int(answer) = step.answer else {
            return Ok(());
        };
        if !step.is_clean() || step.marker_before || step.excuse.evicted {
            return Ok(());
        }
        match step.script() {
            "add" | "publish" => publish(step, answer)?,
            "delay" if answer > 0 => due(step, answer, step.command.args.get(1))?,
            "release" if answer > 0 => due(step, answer, step.command.args.get(2))?,
            "move" | "move_lease" if answer > 0 => log(step)?,
            "cleanup" => cleanup(step, answer)?,
            _ => {}
        }
        match step.command.marker {
            Some(_) if answer > 0 => marker(step, answer),
            _ => Ok(()),
        }
    }
}

fn publish(step: &Step<'_>, answer: i64) -> Verdict {
    let first = if step.script() == "add" { 2 } else { 3 };
    let argument = |at: usize| step.command.args.get(at).copied().unwrap_or_default();
    let (cap, drops) = (argument(first), argument(first + 1) == b"drop_oldest");
    let mut pending = step.before.pending.to_vec();
    let full = !cap.is_empty() && pending.len() as u64 >= number(cap);
    if answer == 0 {
        return Ok(());
    }
    if (answer < 0) != (full && !drops) {
        return Err(format!(
            "{} answered {answer} with {} pending, of {} at most",
            step.script(),
            pending.len(),
            String::from_utf8_lossy(cap)
        ));
    }
    if answer > 0 {
        if full {
            pending.pop();
        }
        pending.splice(0..0, step.message);
    }
    match pending == *step.after.pending {
        true => Ok(()),
        false => Err(format!("{} is not behind all others", shown(step))),
    }
}

fn due(step: &Step<'_>, answer: i64, delay: Option<&&[u8]>) -> Verdict {
    let delay = delay.map_or(0, |text| number(text));
    let right = step.server_ms + delay..=step.ended_ms + delay;
    let deadline = step
        .message
        .and_then(|message| step.after.deadline(message));
    if !right.contains(&(answer as u64)) || deadline != Some(answer as u64) {
        return Err(format!(
            "{} was to be due {delay} ms after {}; the answer is {answer}, the deadline {deadline:?}",
            shown(step),
            step.server_ms
        ));
    }
    // A reclaim looks for the oldest at the tail.
    if step.script() == "delay" && step.after.processing.first().copied() != step.message {
        return Err(format!("{} is not at the head of processing", shown(step)));
    }
    Ok(())
}

fn log(step: &Step<'_>) -> Verdict {
    let payload = step.message.map(|message| step.names.payload_of(message));
    let logs = [
        (&step.before.completed, &step.after.completed),
        (&step.before.failed, &step.after.failed),
    ];
    let at_its_head = |(before, after): (&std::sync::Arc<Vec<_>>, &std::sync::Arc<Vec<_>>)| {
        after.first().copied() == payload && after[1..] == before[..]
    };
    match logs.into_iter().any(at_its_head) {
        true => Ok(()),
        false => Err(format!("{} is at the head of no log", shown(step))),
    }
}

fn cleanup(step: &Step<'_>, answer: i64) -> Verdict {
    let view = step.before;
    let used = !view.processing.is_empty()
        || !view.deadlines.is_empty()
        || !view.tokens.is_empty()
        || !view.counts.is_empty();
    let kept = if used { view.counter } else { 0 };
    match (answer == 0) == used && step.after.counter == kept {
        true => Ok(()),
        false => Err(format!(
            "cleanup of a queue that is {}in use answered {answer} and left the counter at {}",
            if used { "" } else { "not " },
            step.after.counter
        )),
    }
}

fn marker(step: &Step<'_>, answer: i64) -> Verdict {
    let Some((value, life)) = step.marker_after else {
        return Err(format!("{} was applied and left no marker", step.script()));
    };
    if value != answer {
        return Err(format!(
            "{} answered {answer} and its marker says {value}",
            step.script()
        ));
    }
    let Some(life) = life else {
        return Err(format!("the marker of {} lives for ever", step.script()));
    };
    let settles = matches!(step.script(), "remove_lease" | "move_lease");
    if !settles || step.server_ms != step.ended_ms || step.excuse.clock {
        return Ok(());
    }
    let most = step.command.args.last().map_or(0, |text| number(text));
    let deadline = step
        .message
        .and_then(|message| step.before.deadline(message));
    let rest = deadline.unwrap_or(0).saturating_sub(step.server_ms);
    let right = most.min(rest.max(LEAST_LIFE_MS));
    match life == right {
        true => Ok(()),
        false => Err(format!(
            "the marker of {} lives for {life} ms and not for {right}",
            step.script()
        )),
    }
}

fn shown(step: &Step<'_>) -> String {
    step.message
        .map_or_else(|| "nothing".into(), |message| step.show(message))
}
