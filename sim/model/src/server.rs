//! The server: what callers and tests hold.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::{Clock, ScriptTime, Time};
use crate::commands::{self, Run};
use crate::dump::Entry;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::script::{Engine, PlannedFailure};
use crate::state::{Profile, State};

/// How to start a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whose rules to follow where versions of Redis differ.
    pub profile: Profile,
    /// Where the time comes from.
    pub clock: Clock,
}

/// A Redis in this process, with one database and one client at a time.
///
/// Dear to make, because of its Lua state: a harness that runs many simulations keeps one per
/// thread and calls [`Server::reset`] between them.
pub struct Server {
    state: State,
    engine: Engine,
}

impl Server {
    /// Starts an empty server.
    pub fn new(options: Options) -> Self {
        Server {
            state: State::new(options.profile, Time::new(options.clock)),
            engine: Engine::new(options.profile),
        }
    }

    /// Runs one command.
    ///
    /// Whatever is asked for, the answer is a reply; what this model lacks is an error that says
    /// so, and is remembered in [`Server::unsupported`].
    pub fn execute(&mut self, argv: &[&[u8]]) -> Reply {
        self.state.look_at_the_clock();
        self.answer(argv).unwrap_or_else(|refusal| {
            self.state.note(&refusal);
            refusal.into()
        })
    }

    fn answer(&mut self, argv: &[&[u8]]) -> Answer {
        if argv.is_empty() {
            return Err(Refusal::unsupported("a call without a command"));
        }
        let command = commands::find(self.state.profile, argv)?;
        if !command.accepts(argv.len()) {
            return Err(Refusal::Arity(command.name.to_owned()));
        }
        if self.state.out_of_memory && command.flags.deny_oom {
            return Err(Refusal::OutOfMemory);
        }
        match command.run()? {
            Run::Data(run) => run(&mut self.state, argv),
            Run::Scripting(run) => run(&mut self.engine, &mut self.state, argv),
        }
    }

    /// Every living key.
    pub fn dump(&self) -> BTreeMap<Vec<u8>, Entry> {
        let now_ms = self.state.time.now_ms();
        let slots = self.state.keys.iter();
        slots
            .filter(|(_, slot)| slot.expires_at_ms.is_none_or(|when| now_ms <= when))
            .map(|(key, slot)| (key.to_vec(), Entry::from(slot)))
            .collect()
    }

    /// Makes the server as [`Server::new`] would, with another clock, and keeps what is dear: the
    /// Lua state and the compiled scripts. Clients see an empty script cache all the same.
    pub fn reset(&mut self, clock: Clock) {
        self.state = State::new(self.state.profile, Time::new(clock));
        self.engine.reset();
    }

    /// Microseconds since 1970, as `TIME` would answer.
    pub fn time_us(&self) -> u64 {
        self.state.time.now_us()
    }

    /// Moves the clock forward.
    pub fn advance(&mut self, by: Duration) {
        self.state.time.advance(by);
    }

    /// Sets the clock, backwards too.
    pub fn set_time_us(&mut self, to: u64) {
        self.state.time.set_us(to);
    }

    /// Chooses what scripts see of time. [`Server::reset`] freezes it again.
    pub fn set_script_time(&mut self, time: ScriptTime) {
        self.engine.time = time;
    }

    /// Whether used memory exceeds `maxmemory` while nothing may be evicted. A script goes by
    /// what holds when it starts.
    pub fn set_out_of_memory(&mut self, full: bool) {
        self.state.out_of_memory = full;
    }

    /// Makes the `call`-th call (from 1) of `redis.call` or `redis.pcall` in the next script
    /// answer this error, code first, instead of running. A script with fewer calls uses the
    /// order up.
    pub fn fail_script_call(&mut self, call: u64, error_line: impl Into<String>) {
        self.engine.failure = Some(PlannedFailure {
            call,
            line: error_line.into(),
        });
    }

    /// Makes the access rules refuse a command to scripts, until [`Server::allow_all`].
    pub fn deny_command(&mut self, name: &str) {
        self.state.denied.insert(name.to_ascii_lowercase());
    }

    /// Lets scripts call everything again.
    pub fn allow_all(&mut self) {
        self.state.denied.clear();
    }

    /// How many well-formed calls of `redis.call` and `redis.pcall` the last script made,
    /// refused ones included.
    pub fn script_calls(&self) -> u64 {
        self.engine.report.calls
    }

    /// The keys that the last script touched without having them in `KEYS`, in order of their
    /// bytes. A cluster may refuse such a script.
    pub fn undeclared_keys(&self) -> impl Iterator<Item = &[u8]> {
        let keys = self.engine.report.undeclared_keys.iter();
        keys.map(Vec::as_slice)
    }

    /// How many Lua instructions a script may run before it is stopped with an error; counted in
    /// steps of 100,000. Redis has no such limit, but a test has to end.
    pub fn set_instruction_limit(&mut self, limit: u64) {
        self.engine.set_instruction_limit(limit);
    }

    /// What was asked for and is not modelled, in order. A test that trusts this model checks
    /// that it is empty.
    pub fn unsupported(&self) -> &[String] {
        &self.state.unsupported
    }
}
