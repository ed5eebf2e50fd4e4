//! Scripting: compiling, caching and running Lua as Redis does.

mod bits;
mod json;
mod layout;
mod limits;
mod msgpack;
mod pattern;
#[allow(
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    reason = "Lua's C interface; each function there states its contract once"
)]
mod raw;
mod run;
mod sandbox;
mod shebang;
mod spare;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::mem;

use sha1::{Digest, Sha1};

use crate::arguments::spaced;
use crate::clock::ScriptTime;
use crate::condition::Condition;
use crate::random::Random;
use crate::refusal::{Answer, Refusal};
use crate::shape::Protocol;
use crate::state::{Profile, State};
use limits::Limits;
use raw::{Machine, Run, Slot};
pub(crate) use run::PlannedFailure;
use run::{Active, Report, Rules};
use shebang::Shebang;
use spare::Spare;

/// The hash that names a script, in lower case.
type Sha = String;

/// How many compiled scripts are kept when the cache that clients see is flushed.
const KEPT_SCRIPTS: usize = 512;

/// Whether a script may write, as the command that calls it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    ReadOnly,
}

/// The Lua side of a server.
pub(crate) struct Engine {
    machine: Option<Machine>,
    /// Every script compiled so far. More than the cache of the server, because neither
    /// `SCRIPT FLUSH` nor a new simulation makes compiling it again worth the time: a script
    /// leaves nothing in its function.
    compiled: HashMap<Sha, Compiled>,
    /// The cache of the server: what `EVALSHA` finds.
    loaded: BTreeSet<Sha>,
    /// The random numbers for the next machine.
    random: Random,
    limits: Limits,
    profile: Profile,
    pub(crate) time: ScriptTime,
    pub(crate) failure: Option<PlannedFailure>,
    pub(crate) report: Report,
    /// How many scripts ran, those that failed included.
    pub(crate) runs: u64,
}

struct Compiled {
    function: Slot,
    shebang: Shebang,
}

impl Engine {
    pub(crate) fn new(profile: Profile) -> Self {
        Engine {
            machine: None,
            compiled: HashMap::new(),
            loaded: BTreeSet::new(),
            random: Random::default(),
            limits: Limits::default(),
            profile,
            time: profile.script_time(),
            failure: None,
            report: Report::default(),
            runs: 0,
        }
    }

    /// Compiles a script into the cache, and answers its hash.
    pub(crate) fn load(&mut self, source: &[u8]) -> Result<Sha, Refusal> {
        let sha = hex::encode(Sha1::digest(source));
        if !self.compiled.contains_key(&sha) {
            let compiled = self.compile(source)?;
            self.compiled.insert(sha.clone(), compiled);
        }
        if !self.loaded.contains(&sha) {
            self.loaded.insert(sha.clone());
        }
        Ok(sha)
    }

    fn compile(&mut self, source: &[u8]) -> Result<Compiled, Refusal> {
        let shebang = Shebang::parse(source)?;
        let code = &source[shebang.length..];
        let limits = self.limits;
        let function = self.machine()?.compile(code, &limits);
        let function = function.map_err(|why| {
            Refusal::line(&[
                &"ERR Error compiling script (new function): ",
                &spaced(&why),
            ])
        })?;
        Ok(Compiled { function, shebang })
    }

    /// The Lua state, found or made when the first script needs it.
    fn machine(&mut self) -> Result<&Machine, Refusal> {
        if self.machine.is_none()
            && let Some(Spare { machine, compiled }) = spare::take(self.profile)
        {
            machine.set_random(self.random);
            self.compiled = compiled;
            self.machine = Some(machine);
        }
        if self.machine.is_none() {
            let machine = sandbox::machine(self.profile, self.random).map_err(|error| {
                Refusal::line(&[&"ERR Lua did not start: ", &error.to_string()])
            })?;
            self.machine = Some(machine);
        }
        self.machine
            .as_ref()
            .ok_or(Refusal::Text("ERR Lua did not start"))
    }

    /// What a script declares about itself, if it does.
    pub(crate) fn declared(&self, source: &[u8]) -> Option<Shebang> {
        let found = Shebang::parse(source).ok();
        found.filter(Shebang::is_present)
    }

    /// As [`Engine::declared`], for a script in the cache.
    pub(crate) fn declared_by_sha(&self, sha: &[u8]) -> Option<Shebang> {
        let sha = lower(sha);
        let compiled = self
            .compiled
            .get(&sha)
            .filter(|_| self.loaded.contains(&sha))?;
        Some(compiled.shebang).filter(Shebang::is_present)
    }

    pub(crate) fn exists(&self, sha: &[u8]) -> bool {
        self.loaded.contains(&lower(sha))
    }

    /// Forgets the scripts of clients, and what scripts have set in the libraries, but for the
    /// random numbers: in Redis those belong to the process.
    pub(crate) fn flush(&mut self) {
        self.loaded.clear();
        let Some(machine) = &self.machine else {
            return;
        };
        machine.reset_libraries();
        if self.compiled.len() > KEPT_SCRIPTS {
            self.random = machine.random();
            self.compiled.clear();
            self.machine = None;
        }
    }

    /// As new, but for what would take time to make again.
    pub(crate) fn reset(&mut self) {
        self.flush();
        self.random = Random::default();
        if let Some(machine) = &self.machine {
            machine.set_random(self.random);
        }
        self.time = self.profile.script_time();
        self.failure = None;
        self.report = Report::default();
    }

    /// As [`Engine::reset`], with the scripts of clients still known.
    pub(crate) fn reset_with_scripts(&mut self) {
        let loaded = std::mem::take(&mut self.loaded);
        self.reset();
        if self.compiled.len() >= loaded.len() {
            self.loaded = loaded;
        }
    }

    pub(crate) fn set_instruction_limit(&mut self, limit: u64) {
        self.limits.instructions = limit;
    }

    pub(crate) fn set_memory_limit(&mut self, bytes: usize) {
        self.limits.memory = bytes;
    }

    /// Runs a script of the cache.
    pub(crate) fn run(
        &mut self,
        state: &mut State,
        sha: &[u8],
        access: Access,
        keys: &[&[u8]],
        arguments: &[&[u8]],
    ) -> Answer {
        let sha = lower(sha);
        let compiled = self
            .compiled
            .get(&sha)
            .filter(|_| self.loaded.contains(&sha));
        let (Some(compiled), Some(machine)) = (compiled, &self.machine) else {
            return Err(Refusal::NoScript);
        };
        let Compiled { function, shebang } = *compiled;
        let read_only = access == Access::ReadOnly;
        if shebang.is_present() && !shebang.no_writes && read_only {
            return Err(Refusal::Text(
                "ERR Can not execute a script with write flag using *_ro command.",
            ));
        }
        (state.conditions).refuse_script(shebang.is_present(), shebang.allow_stale)?;
        // What a script selects is for itself alone.
        let (database, protocol) = (state.selected(), state.protocol);
        let may_wait = mem::replace(&mut state.may_wait, false);
        state.protocol = Protocol::Resp2;
        state.in_script = true;
        if self.time == ScriptTime::Frozen {
            state.time.freeze();
        }
        let mut active = Active {
            keys,
            rules: Rules {
                read_only: read_only || shebang.no_writes,
                allow_oom: shebang.allow_oom,
                out_of_memory: state.conditions.holds(Condition::OutOfMemory),
                time: self.time,
                failure: self.failure.take(),
            },
            report: Report::default(),
            dirty: false,
            state,
        };
        let run = Run {
            script: function,
            name: &sha,
            arguments,
            protocol,
            limits: self.limits,
        };
        let answer = machine.run(&run, &mut active);
        self.report = active.report;
        self.runs += 1;
        state.time.thaw();
        state.select(database);
        state.protocol = protocol;
        state.may_wait = may_wait;
        state.in_script = false;
        answer
    }
}

/// The Lua state is kept for the next server.
impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(machine) = self.machine.take() {
            let compiled = mem::take(&mut self.compiled);
            spare::keep(self.profile, Spare { machine, compiled });
        }
    }
}

fn lower(sha: &[u8]) -> Sha {
    String::from_utf8_lossy(sha).to_ascii_lowercase()
}
