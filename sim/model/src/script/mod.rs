//! Scripting: compiling, caching and running Lua as Redis does.

mod json;
#[allow(
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    reason = "Lua's C interface; each function there states its contract once"
)]
mod raw;
mod run;
mod sandbox;
mod shebang;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::sync::Arc;

use mlua::Function;
use sha1::{Digest, Sha1};

use crate::clock::ScriptTime;
use crate::condition::Condition;
use crate::refusal::{Answer, Refusal};
use crate::shape::Protocol;
use crate::state::{Profile, State};
use raw::{Bridge, Frame};
pub(crate) use run::PlannedFailure;
use run::{Active, Report, Rules};
use sandbox::Sandbox;
use shebang::Shebang;

/// The hash that names a script, in lower case.
type Sha = String;

/// How many instructions a script may run, unless a test says otherwise. A second or so.
const INSTRUCTION_LIMIT: u64 = 500_000_000;

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
    sandbox: Option<Sandbox>,
    /// Every script compiled so far. More than the cache of the server, because neither
    /// `SCRIPT FLUSH` nor a new simulation makes compiling it again worth the time: a script
    /// leaves nothing in its function.
    compiled: HashMap<Sha, Compiled>,
    /// The cache of the server: what `EVALSHA` finds.
    loaded: BTreeSet<Sha>,
    bridge: Arc<Bridge>,
    profile: Profile,
    pub(crate) time: ScriptTime,
    pub(crate) failure: Option<PlannedFailure>,
    pub(crate) report: Report,
}

struct Compiled {
    function: Function,
    shebang: Shebang,
}

impl Engine {
    pub(crate) fn new(profile: Profile) -> Self {
        Engine {
            sandbox: None,
            compiled: HashMap::new(),
            loaded: BTreeSet::new(),
            bridge: Arc::new(Bridge::new(profile, INSTRUCTION_LIMIT)),
            profile,
            time: profile.script_time(),
            failure: None,
            report: Report::default(),
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
        let failed = |why: &str| {
            let why = why.replace(['\r', '\n'], " ");
            Refusal::Line(format!("ERR Error compiling script (new function): {why}"))
        };
        if code.first() == Some(&0x1b) {
            // Compiled Lua, which Redis reads as text.
            return Err(failed("user_script:1: unexpected symbol near 'char(27)'"));
        }
        let sandbox = self.sandbox()?;
        let function = sandbox
            .lua
            .load(code)
            .set_name("@user_script")
            .into_function()
            .map_err(|error| match error {
                mlua::Error::SyntaxError { message, .. } => failed(&message),
                other => failed(&other.to_string()),
            })?;
        Ok(Compiled { function, shebang })
    }

    /// The Lua state, made when the first script needs it.
    fn sandbox(&mut self) -> Result<&Sandbox, Refusal> {
        if self.sandbox.is_none() {
            let sandbox = Sandbox::new(&self.bridge, self.profile)
                .map_err(|error| Refusal::Line(format!("ERR Lua did not start: {error}")))?;
            self.sandbox = Some(sandbox);
        }
        self.sandbox
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

    /// Forgets the scripts of clients, and what scripts have set in `cjson`.
    pub(crate) fn flush(&mut self) {
        self.loaded.clear();
        self.bridge.reset_libraries();
        if self.compiled.len() > KEPT_SCRIPTS {
            self.compiled.clear();
            self.sandbox = None;
        }
        if let Some(sandbox) = &self.sandbox {
            // A script may have stopped the collector.
            sandbox.lua.gc_restart();
        }
    }

    /// As new, but for what would take time to make again.
    pub(crate) fn reset(&mut self) {
        self.flush();
        self.bridge.reset_random();
        self.time = self.profile.script_time();
        self.failure = None;
        self.report = Report::default();
    }

    pub(crate) fn set_instruction_limit(&mut self, limit: u64) {
        self.bridge.set_instruction_limit(limit);
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
        let (Some(compiled), Some(sandbox)) = (compiled, &self.sandbox) else {
            return Err(Refusal::NoScript);
        };
        let shebang = compiled.shebang;
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
        let frame = Frame {
            lua: &sandbox.lua,
            bridge: &self.bridge,
            globals: &sandbox.globals,
            handler: &sandbox.error_handler,
        };
        let answer = frame.run(&compiled.function, &sha, arguments, &mut active);
        self.report = active.report;
        state.time.thaw();
        state.select(database);
        state.protocol = protocol;
        state.may_wait = may_wait;
        state.in_script = false;
        answer
    }
}

fn lower(sha: &[u8]) -> Sha {
    String::from_utf8_lossy(sha).to_ascii_lowercase()
}
