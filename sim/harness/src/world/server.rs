//! The server's side: commands run one at a time, and each is seen by the checkers.

use std::collections::VecDeque;

use leaseline_core::capability::{ServerError, Value};
use leaseline_redis_model::{Reply, Saved, Server};

use super::World;
use super::scripts::Scripts;
use crate::check::{Answer, Checks, Command, Step};
use crate::view::{Id, Part, View};

/// Scripts that a restart or a failover can take back at most.
pub(crate) const KEPT: usize = 8;

/// The model, and what a run adds to it.
pub(crate) struct ServerSide {
    pub(crate) model: Server,
    pub(crate) scripts: Scripts,
    /// How far its clock is ahead of the world's.
    pub(crate) ahead_us: i64,
    pub(crate) ticks: bool,
    /// The call of the next script that fails.
    pub(crate) fails_at: Option<u64>,
    /// States before the last scripts, the oldest first; kept only if a case can go back.
    pub(crate) kept: Option<VecDeque<Kept>>,
}

/// A state to go back to.
pub(crate) struct Kept {
    saved: Saved,
    views: Vec<View>,
    checks: Checks,
    at_us: u64,
}

impl World {
    /// Runs the commands of a request in order.
    pub(crate) fn run_all<'a>(
        &mut self,
        client: usize,
        commands: impl Iterator<Item = &'a [&'a [u8]]>,
    ) -> Vec<Result<Vec<Value>, ServerError>> {
        commands.map(|argv| self.run(client, argv)).collect()
    }

    fn set_clock(&mut self) -> u64 {
        let server_us = self.now_us.saturating_add_signed(self.server.ahead_us);
        self.server.model.set_time_us(server_us);
        server_us
    }

    fn run(&mut self, client: usize, argv: &[&[u8]]) -> Result<Vec<Value>, ServerError> {
        let began_us = self.set_clock();
        self.steps += 1;
        self.coverage.commands += 1;
        let scripts = self.server.scripts.clone();
        let asked = match argv[0] {
            b"EVALSHA" => scripts.by_sha(argv[1]),
            b"EVAL" => scripts.by_source(argv[1]),
            _ => None,
        };
        let script = asked.map_or("", |script| script.name);
        let command = Command::new(script, argv);
        let marker_before = command
            .marker
            .is_some_and(|marker| self.server.model.entry(marker).is_some());
        self.expire_delays(&command);
        let runs = self.server.model.scripts_run();
        self.keep_state(script);

        let reply = match asked.and_then(|script| script.instead.as_ref()) {
            Some((sha, source)) => {
                let text = if argv[0] == b"EVAL" { source } else { sha };
                let mut changed = argv.to_vec();
                changed[1] = text.as_bytes();
                self.server.model.execute(&changed)
            }
            None => self.server.model.execute(argv),
        };
        if self.server.ticks {
            let ended_us = self.server.model.time_us();
            self.server.ahead_us += ended_us as i64 - began_us as i64;
        }

        // What is refused runs nothing and uses no planned failure up.
        let ran = !script.is_empty() && self.server.model.scripts_run() > runs;
        if let Some(script) = asked.filter(|_| ran) {
            self.coverage.scripts |= 1 << script.number;
        }
        let calls = if ran {
            self.server.model.script_calls()
        } else {
            0
        };
        let failed_call = match self.server.fails_at {
            Some(at) if ran && at <= calls => {
                self.server.fails_at = None;
                Some(at)
            }
            _ => None,
        };
        if ran && failed_call.is_none() {
            // A script with fewer calls uses the order up.
            self.server.fails_at = None;
        }
        self.observe(
            client,
            &command,
            &reply,
            Observed {
                began_us,
                marker_before,
                ran,
                calls,
                failed_call,
            },
        );
        answer(reply)
    }

    fn observe(&mut self, client: usize, command: &Command<'_>, reply: &Reply, seen: Observed) {
        let mut keys = self.server.model.take_written();
        keys.sort_unstable();
        keys.dedup();
        let queue = command.queue.unwrap_or(0).min(self.views.len() - 1);
        let before = self.views[queue].clone();
        for key in &keys {
            self.refresh(key);
        }
        self.trace
            .command(self.now_us, seen.began_us, client, command.argv, reply);
        let excuse = &mut self.excuses[queue];
        // What writes nothing but what it takes back leaves nothing.
        let leaves = !matches!(
            command.script,
            "add" | "publish" | "delay" | "claim" | "renew" | "stats" | "peek" | "outlook"
        );
        excuse.torn |= leaves && seen.failed_call.is_some();
        let undeclared: Vec<Vec<u8>> = match seen.ran {
            true => self
                .server
                .model
                .undeclared_keys()
                .map(<[u8]>::to_vec)
                .collect(),
            false => Vec::new(),
        };
        let answer = Answer::read(command, reply, &mut self.names);
        let (missing_record, left_record) = self.records(queue, &answer, &before);
        let step = Step {
            number: self.steps,
            server_ms: seen.began_us / 1000,
            ended_ms: if self.server.ticks {
                self.server.model.time_us() / 1000
            } else {
                seen.began_us / 1000
            },
            client,
            queue,
            command,
            answer,
            message: command.stored.map(|stored| self.names.message(stored)),
            renewals: command
                .renewals()
                .map(|(stored, token)| (self.names.message(stored), token))
                .collect(),
            ids: command.ids.iter().map(|id| self.names.id(id)).collect(),
            marker_before: seen.marker_before,
            marker_after: command.marker.and_then(|marker| self.marker(marker)),
            ran: seen.ran,
            calls: seen.calls,
            failed_call: seen.failed_call,
            undeclared: &undeclared,
            missing_record,
            left_record,
            before: &before,
            after: &self.views[queue],
            names: &self.names,
            excuse: &self.excuses[queue],
            settings: &self.settings,
        };
        if let Some(story) = &mut self.story {
            story.push(step.line());
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.see(self.now_us, &step);
        }
        self.coverage.marks.see(&step);
        if let Some(key) = command.deduplication.filter(|_| step.applied())
            && !self.accepted.insert(key.to_vec())
        {
            self.coverage.marks.count(crate::Mark::AcceptedAfterWindow);
        }
        if self.violation.is_none()
            && let Err(violation) = self.checks.step(&step)
        {
            self.violation = Some(violation);
        }
        if let Some(gap) = self.server.model.unsupported().first() {
            self.violation = Some(crate::Violation::new(
                "model",
                self.steps,
                format!("the model lacks {gap}"),
            ));
        }
    }

    fn marker(&self, key: &[u8]) -> Option<(i64, Option<u64>)> {
        let entry = self.server.model.entry(key)?;
        let leaseline_redis_model::Content::Text(text) = entry.content else {
            return None;
        };
        let value = std::str::from_utf8(&text).ok()?.parse().ok()?;
        let now_ms = self.server.model.time_us() / 1000;
        let life = entry.expires_at_ms;
        Some((value, life.map(|at| (at as u64).saturating_sub(now_ms))))
    }

    /// A claim of an answer whose record has no key that ends, and one that ended and left its key.
    fn records(&self, queue: usize, answer: &Answer, before: &View) -> (Option<Id>, Option<Id>) {
        let entry = |id: Id| {
            let mut key = format!("q{queue}::processing:claim_result:").into_bytes();
            key.extend(self.names.id_text(id));
            self.server.model.entry(&key)
        };
        let missing = match answer {
            Answer::Claim(claim) => {
                let mut ids = claim.grants.iter().map(|grant| grant.id);
                ids.find(|id| entry(*id).is_none_or(|entry| entry.expires_at_ms.is_none()))
            }
            _ => None,
        };
        let refs = &self.views[queue].refs;
        let left = match std::sync::Arc::ptr_eq(refs, &before.refs) {
            true => None,
            false => {
                let ended = before
                    .refs
                    .iter()
                    .filter(|(token, _)| !refs.contains_key(token));
                let ended = ended.map(|(_, id)| *id);
                // A claim id may have been given another message in the same call.
                let mut ended = ended.filter(|id| !refs.values().any(|other| other == id));
                ended.find(|id| entry(*id).is_some())
            }
        };
        (missing, left)
    }

    /// The delays are the one part of a queue with a time to live: that it is over is no change
    /// that a script makes.
    fn expire_delays(&mut self, command: &Command<'_>) {
        let Some(queue) = command.queue.filter(|queue| *queue < self.views.len()) else {
            return;
        };
        if self.excuses[queue].clock || !self.views[queue].delays.is_empty() {
            self.refresh(Part::Delays.key(queue).as_bytes());
        }
    }

    fn refresh(&mut self, key: &[u8]) {
        let Some((queue, part)) = Part::of(key) else {
            return;
        };
        if queue < self.views.len() && !self.covered.contains(&(queue, part)) {
            self.views[queue].read(part, key, &self.server.model, &mut self.names);
        }
    }

    /// Reads everything again, after the world changed keys by itself.
    pub(crate) fn look_again(&mut self) {
        self.set_clock();
        self.server.model.take_written();
        for queue in 0..self.views.len() {
            for part in Part::ALL {
                self.refresh(part.key(queue).as_bytes());
            }
        }
    }

    fn keep_state(&mut self, script: &str) {
        let Some(kept) = &mut self.server.kept else {
            return;
        };
        if script.is_empty() || !self.covered.is_empty() {
            return;
        }
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Kept {
            saved: self.server.model.save(),
            views: self.views.clone(),
            checks: self.checks.clone(),
            at_us: self.now_us,
        });
    }

    /// Nothing before this moment can be taken back.
    pub(crate) fn forget_states(&mut self) {
        if let Some(kept) = &mut self.server.kept {
            kept.clear();
        }
    }

    /// Takes back the last scripts, as a restart from disk or a failover does.
    pub(crate) fn go_back(&mut self, lost: usize) {
        for (queue, part) in std::mem::take(&mut self.covered) {
            self.covered.push((queue, part));
            crate::fault::uncover(self, queue, part);
        }
        let kept = self.server.kept.get_or_insert_default();
        let lost = lost.min(kept.len());
        if lost == 0 {
            return;
        }
        let first = kept.len() - lost;
        let state = kept.drain(first..).next();
        if let Some(state) = state {
            self.set_clock();
            self.server.model.load(&state.saved);
            self.views = state.views;
            self.checks = state.checks;
            self.orphans = true;
            self.excuses
                .iter_mut()
                .for_each(|excuse| excuse.lost = true);
            self.black_box.truncated(state.at_us);
            self.coverage.marks.count(crate::Mark::ScriptsLost);
            self.look_again();
        }
    }
}

struct Observed {
    began_us: u64,
    marker_before: bool,
    ran: bool,
    calls: u64,
    failed_call: Option<u64>,
}

fn answer(reply: Reply) -> Result<Vec<Value>, ServerError> {
    let mut values = Vec::new();
    match reply {
        Reply::Error(line) => {
            return Err(ServerError::from_line(&String::from_utf8_lossy(&line)));
        }
        reply => flatten(reply, &mut values),
    }
    Ok(values)
}

fn flatten(reply: Reply, values: &mut Vec<Value>) {
    match reply {
        Reply::Nil | Reply::NilArray => values.push(Value::Nil),
        Reply::Integer(number) => values.push(Value::Int(number)),
        Reply::Status(text) => {
            values.push(Value::Status(String::from_utf8_lossy(&text).into_owned()))
        }
        Reply::Bulk(bytes) => values.push(Value::Bytes(bytes)),
        Reply::Array(items) => items.into_iter().for_each(|item| flatten(item, values)),
        other => values.push(Value::Status(format!("{other:?}"))),
    }
}
