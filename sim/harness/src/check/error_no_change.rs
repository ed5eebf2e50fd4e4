//! A script that answers an error changed nothing, also if one of its calls was made to fail: what it
//! had written it took back.
//!
//! Where a header documents a partial effect, that is what is checked: a token that was drawn stays
//! drawn, and a claim that stops early has reclaimed, buried and granted, but left nothing of a grant
//! that failed.

use super::{Answer, Check, Step, Verdict};
use crate::view::View;

#[derive(Clone, Debug, Default)]
pub(crate) struct ErrorNoChange;

/// What must be as it was after a script that drew a token: everything but that, and delays that are
/// over.
fn without_token(view: &View) -> View {
    View {
        counter: 0,
        delays: Default::default(),
        ..view.clone()
    }
}

impl Check for ErrorNoChange {
    const PROPERTY: &'static str = "error_no_change";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        if step.script() == "claim_lease" && step.failed_call.is_some() {
            return taken_back(step);
        }
        let Answer::Error(line) = &step.answer else {
            return Ok(());
        };
        let same = match (step.script(), step.failed_call) {
            ("delay" | "release", Some(_)) => {
                without_token(step.before) == without_token(step.after)
            }
            // What it took before stays taken, and recorded: its ids are open, and a retry gets it.
            // So does what a redrive moved: its marker says how many.
            ("claim" | "redrive", Some(_)) => true,
            _ => !step.changed(),
        };
        match same || step.excuse.evicted {
            true => Ok(()),
            false => Err(format!(
                "{} answered '{line}' and changed its queue",
                step.script()
            )),
        }
    }
}

/// A claim in which a call failed leaves nothing of the grant that failed.
fn taken_back(step: &Step<'_>) -> Verdict {
    if step.excuse.evicted {
        return Ok(());
    }
    let (before, after) = (step.before, step.after);
    let granted = |message| {
        let grants = step.claim().map_or([].as_slice(), |claim| &claim.grants);
        grants.iter().any(|grant| grant.message == message)
    };
    // What it granted before the failure is held and recorded, also if the answer does not say so:
    // its ids are open, and a retry gets it.
    let current = |token: u64| {
        let mut held = after.tokens.iter();
        held.any(|(message, of)| *of == token && after.processing.contains(message))
    };
    for token in after.refs.keys().chain(after.backrefs.keys()) {
        let known = before.refs.contains_key(token) || before.backrefs.contains_key(token);
        if !known && !current(*token) {
            return Err(format!("token {token} was not given and has a claim"));
        }
    }
    for (id, record) in after.ids.iter() {
        if !before.ids.contains_key(id) && !current(record.token) {
            return Err(format!("claim c{} was not given and has a record", id.0));
        }
    }
    for message in before.pending.iter().filter(|message| !granted(**message)) {
        let (had, has) = (before.counts.get(message), after.counts.get(message));
        if had != has && after.pending.contains(message) {
            return Err(format!(
                "{} was not given and its count went from {had:?} to {has:?}",
                step.show(*message)
            ));
        }
        let waits = after.pending.contains(message);
        if waits && after.tokens.contains_key(message) && !before.tokens.contains_key(message) {
            return Err(format!(
                "{} was not given and has a token",
                step.show(*message)
            ));
        }
    }
    Ok(())
}
