//! One run of a script: what it may do, what it did, and the faults planned for it.

use std::collections::BTreeSet;

use crate::clock::ScriptTime;
use crate::commands::{self, Command, Run as Body};
use crate::condition::Condition;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::{Profile, State};

/// An error in place of one call, set by a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedFailure {
    /// Counted from 1.
    pub(crate) call: u64,
    pub(crate) line: String,
}

/// What happened in a script, for tests to look at.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) calls: u64,
    pub(crate) undeclared_keys: BTreeSet<Vec<u8>>,
}

/// The rules of one run.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) read_only: bool,
    pub(crate) allow_oom: bool,
    /// Sampled when the script starts, not at each call.
    pub(crate) out_of_memory: bool,
    pub(crate) time: ScriptTime,
    pub(crate) failure: Option<PlannedFailure>,
}

/// A running script: the data that its calls work on.
#[derive(Debug)]
pub(crate) struct Active<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) rules: Rules,
    pub(crate) report: Report,
    /// Whether a write was about to run, even if it then failed or changed nothing: from then on
    /// a full memory stops nothing.
    pub(crate) dirty: bool,
}

/// What changes no data and is sent to replicas all the same.
const MAY_REPLICATE: [&str; 3] = ["pfcount", "publish", "spublish"];

impl Active<'_> {
    /// Runs one `redis.call` or `redis.pcall`.
    pub(crate) fn call(&mut self, argv: &[&[u8]]) -> Reply {
        self.report.calls += 1;
        if let ScriptTime::Live { per_call } = self.rules.time
            && self.state.time.is_virtual()
        {
            self.state.time.advance(per_call);
        }
        if let Some(failure) = &self.rules.failure
            && failure.call == self.report.calls
        {
            return Reply::Error(failure.line.clone().into());
        }
        let answer = self.checked_call(argv);
        let reply = self.state.reply(answer);
        #[cfg(feature = "planted-faults")]
        if reply == Reply::Nil && self.state.makes(crate::Fault::MissingIsEmptyInScripts) {
            return Reply::bulk("");
        }
        reply
    }

    /// The checks in the order in which Redis makes them, then the command.
    fn checked_call(&mut self, argv: &[&[u8]]) -> Answer {
        let command = commands::find(self.state.profile, argv)
            .map_err(|_| Refusal::Text("ERR Unknown Redis command called from script"))?;
        if !command.accepts(argv.len()) {
            return Err(Refusal::Text(
                "ERR Wrong number of args calling Redis command from script",
            ));
        }
        let may_block = command.flags.blocking && self.state.profile != Profile::Redis70;
        if command.flags.no_script && !may_block {
            return Err(Refusal::Text(
                "ERR This Redis command is not allowed from script",
            ));
        }
        if self.is_stale() && !command.flags.stale {
            return Err(Refusal::Text(
                "ERR Can not execute the command on a stale replica",
            ));
        }
        if self.is_denied(command) {
            return Err(Refusal::Text(
                "ERR The user executing the script can't run this command or subcommand",
            ));
        }
        self.note_undeclared(command, argv);
        let may_replicate = MAY_REPLICATE.contains(&command.name);
        if self.rules.read_only && (command.flags.write || may_replicate) {
            return Err(Refusal::Text(
                "ERR Write commands are not allowed from read-only scripts.",
            ));
        }
        if command.flags.write {
            if !self.dirty {
                self.state.conditions.refuse_script_write()?;
                let short = self.rules.out_of_memory && !self.rules.allow_oom;
                if short && command.flags.deny_oom {
                    return Err(Refusal::OutOfMemory);
                }
            }
            self.dirty = true;
        }
        match command.run()? {
            Body::Data(run) => run(self.state, argv),
            Body::Scripting(_) => Err(Refusal::unsupported(format!(
                "'{}' from a script",
                command.name
            ))),
        }
    }

    fn is_stale(&self) -> bool {
        self.state.conditions.holds(Condition::MasterLinkDown)
    }

    /// Whether the access rules refuse a command to scripts.
    pub(crate) fn is_denied(&self, command: &Command) -> bool {
        self.state.denied.contains(command.name)
    }

    fn note_undeclared(&mut self, command: &Command, argv: &[&[u8]]) {
        for key in command.keys(argv).into_iter().flatten() {
            if !self.keys.contains(&key) && !self.report.undeclared_keys.contains(key) {
                self.report.undeclared_keys.insert(key.to_vec());
            }
        }
    }
}
