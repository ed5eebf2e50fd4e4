//! Lists and what describes them agree: each message in processing has one deadline and one token,
//! each claim one record, each record a claim; nothing describes what is not there.

use std::collections::BTreeMap;

use super::{Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct Bijection;

impl Check for Bijection {
    const PROPERTY: &'static str = "bijection";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        let after = step.after;
        if step.excuse.torn || step.excuse.evicted || !step.ran || !step.changed() {
            return Ok(());
        }
        if !step.settings.leased() {
            if !after.tokens.is_empty() || !after.deadlines.is_empty() || after.counter > 0 {
                return Err("a queue without leases has some".into());
            }
            let mut held: Vec<u64> = after.processing.iter().map(|held| held.0.into()).collect();
            held.sort_unstable();
            if !after.backrefs.keys().eq(&held) {
                return Err("claims and the messages in processing disagree".into());
            }
            let mut claims: Vec<_> = after.backrefs.values().collect();
            claims.sort_unstable();
            if !after.ids.keys().eq(claims) {
                return Err("claims and their records disagree".into());
            }
            return Ok(());
        }
        let (held, due, tokens) = (
            after.processing.len(),
            after.deadlines.len(),
            after.tokens.len(),
        );
        if due != held || tokens != held {
            return Err(format!(
                "{held} messages in processing have {due} deadlines and {tokens} tokens"
            ));
        }
        if let Some(message) = after.counts.keys().find(|message| !after.holds(**message)) {
            return Err(format!(
                "{} is gone and has a delivery count",
                step.show(*message)
            ));
        }
        if !after.refs.keys().eq(after.backrefs.keys()) {
            return Err("the two maps of tokens to claims disagree".into());
        }
        let mut claims: Vec<_> = after.backrefs.values().collect();
        claims.sort_unstable();
        if !after.ids.keys().eq(claims.iter().copied()) {
            return Err(format!(
                "{} claims have {} records",
                claims.len(),
                after.ids.len()
            ));
        }
        for (token, id) in after.backrefs.iter() {
            let record = after.ids.get(id);
            let current = record.and_then(|record| after.tokens.get(&record.message));
            if current != Some(token) || record.is_none_or(|record| record.token != *token) {
                return Err(format!(
                    "claim c{} is recorded under token {token}, which no lease has",
                    id.0
                ));
            }
        }
        let delayed = |token: &u64| after.delays.iter().any(|(of, _)| of == token);
        let due: BTreeMap<_, _> = after.deadlines.iter().copied().collect();
        for (message, token) in after.tokens.iter() {
            if !after.refs.contains_key(token) && !delayed(token) {
                // A delay that is over need not be listed any more.
                let due = due.get(message).copied().unwrap_or(0);
                // The holder of a lost lease may have prolonged a delay under its token.
                let excused = step.excuse.clock || step.excuse.lost;
                if due > step.ended_ms && !excused {
                    return Err(format!(
                        "{} has neither a claim nor a delay",
                        step.show(*message)
                    ));
                }
            }
        }
        Ok(())
    }
}
