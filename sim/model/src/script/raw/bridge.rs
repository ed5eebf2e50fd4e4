//! What the C functions share with the engine.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use mlua::ffi;

use super::heap::Heap;
use super::look;
use super::meter::{Meter, lock};
use super::stack::{Outcome, State, push_bytes};
use crate::random::Random;
use crate::reply::Reply;
use crate::script::json;
use crate::script::limits::{Limit, Limits};
use crate::script::run::Active;
use crate::shape::Protocol;
use crate::state::Profile;

/// One per Lua state, at a fixed address, which Lua knows as what it asks for memory.
#[derive(Debug)]
pub(crate) struct Bridge {
    /// The script that runs now; null between scripts.
    active: AtomicPtr<Active<'static>>,
    pub(super) heap: Heap,
    pub(super) meter: Meter,
    memory_limit: AtomicUsize,
    json: Mutex<json::Settings>,
    random: Mutex<Random>,
    /// A panic of a command, carried past the frames of Lua.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    profile: Profile,
}

impl Bridge {
    pub(super) fn new(profile: Profile, random: Random) -> Self {
        Bridge {
            active: AtomicPtr::new(ptr::null_mut()),
            heap: Heap::default(),
            meter: Meter::default(),
            memory_limit: AtomicUsize::new(0),
            json: Mutex::default(),
            random: Mutex::new(random),
            panic: Mutex::default(),
            profile,
        }
    }

    pub(super) fn profile(&self) -> Profile {
        self.profile
    }

    /// A copy, so that no lock is held where Lua may raise.
    pub(super) fn json_settings(&self) -> json::Settings {
        *lock(&self.json)
    }

    pub(super) fn set_json_settings(&self, settings: json::Settings) {
        *lock(&self.json) = settings;
    }

    pub(super) fn random(&self) -> Random {
        *lock(&self.random)
    }

    pub(super) fn set_random(&self, random: Random) {
        *lock(&self.random) = random;
    }

    pub(super) fn next_random(&self) -> f64 {
        lock(&self.random).next()
    }

    /// Announces the script that is about to run.
    ///
    /// # Safety
    ///
    /// `active` is not touched by anyone else until [`Bridge::clear`], which is called before it
    /// ends.
    pub(super) unsafe fn announce(&self, lua: State, active: &mut Active<'_>, limits: &Limits) {
        self.active.store(ptr::from_mut(active).cast(), Relaxed);
        self.memory_limit.store(limits.memory, Relaxed);
        self.meter.start(limits);
        self.heap.start(lua, limits.memory);
    }

    /// Ends what [`Bridge::announce`] began.
    pub(super) fn clear(&self) {
        self.heap.end();
        self.active.store(ptr::null_mut(), Relaxed);
    }

    /// Collects the garbage if there is much.
    ///
    /// # Safety
    ///
    /// `lua` is a thread of the state that this bridge belongs to.
    pub(super) unsafe fn collect_if_due(&self, lua: State) {
        if self.heap.wants_collection() {
            self.collect(lua);
        }
    }

    /// Collects the garbage.
    ///
    /// # Safety
    ///
    /// As [`Bridge::collect_if_due`].
    pub(super) unsafe fn collect(&self, lua: State) {
        ffi::lua_gc(lua, ffi::LUA_GCCOLLECT, 0);
        self.heap.collected(self.memory_limit.load(Relaxed));
    }

    /// A request for memory was refused, because of the limit or because the script has to end.
    pub(super) fn refused_memory(&self) {
        self.meter.stop(Limit::Memory, None);
        self.heap.enforce();
    }

    pub(super) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.panic).take()
    }

    fn keep_panic(&self, panic: Box<dyn Any + Send>) {
        *lock(&self.panic) = Some(panic);
    }

    /// Adds work that a C function does beyond what Lua counts. Too much stops the script.
    ///
    /// # Safety
    ///
    /// Called from the running C function.
    pub(super) unsafe fn charge(&self, lua: State, work: usize) -> Result<(), Stopped> {
        self.heed(lua, self.meter.add(work as u64))
    }

    /// Stops the script if it would use too much memory with so many bytes more.
    pub(super) fn reserve(&self, more: usize) -> Result<(), Stopped> {
        if !self.heap.is_over(more) {
            return Ok(());
        }
        self.meter.stop(Limit::Memory, None);
        Err(Stopped)
    }

    /// Stops the script if a limit was found to be reached.
    ///
    /// # Safety
    ///
    /// As [`Bridge::charge`].
    pub(super) unsafe fn heed(&self, lua: State, found: Result<(), Limit>) -> Result<(), Stopped> {
        found.map_err(|limit| {
            self.meter.stop(limit, look::place(lua, 1));
            Stopped
        })
    }

    /// The protocol that the running script has chosen.
    ///
    /// # Safety
    ///
    /// As [`Bridge::with_active`].
    pub(super) unsafe fn script_protocol(&self) -> Protocol {
        let active = self.active.load(Relaxed);
        (active.as_ref()).map_or(Protocol::default(), |active| active.state.protocol)
    }

    /// Runs `work` on the running script.
    ///
    /// # Safety
    ///
    /// Called from the Lua state that this bridge belongs to, and not from within `work`.
    pub(super) unsafe fn with_active(&self, work: impl FnOnce(&mut Active<'_>) -> Reply) -> Reply {
        let active = self.active.load(Relaxed);
        match active.as_mut() {
            Some(active) => work(active),
            // Only a function kept from one script and called outside any could get here.
            None => Reply::Error(b"ERR redis.call outside of a script".to_vec()),
        }
    }
}

/// The script has to end: the meter knows why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

/// The bridge of a Lua state.
///
/// # Safety
///
/// The state has one, and it lives while the state does.
pub(super) unsafe fn of<'a>(lua: State) -> &'a Bridge {
    let mut bridge = ptr::null_mut();
    ffi::lua_getallocf(lua, &raw mut bridge);
    &*bridge.cast::<Bridge>()
}

/// Runs the half of a C function that owns Rust values, and then returns or raises as it says.
/// Lua cannot raise in between: memory is granted until the owner is gone, and what it used too
/// much is found afterwards. A panic is kept for the engine, because it must not unwind through
/// Lua.
///
/// # Safety
///
/// Called by Lua through a C function that owns nothing, and whose last act this is. `work` does
/// nothing else that raises: it calls no function of a script and no metamethod.
pub(super) unsafe fn owning(
    lua: State,
    work: impl FnOnce(&'static Bridge) -> Result<Outcome, Stopped>,
) -> i32 {
    let bridge = of(lua);
    bridge.heap.relax();
    let done = catch_unwind(AssertUnwindSafe(|| work(bridge)));
    let outcome = match done {
        Ok(Ok(_)) if bridge.heap.is_over(0) => {
            bridge.meter.stop(Limit::Memory, None);
            None
        }
        Ok(Ok(outcome)) => Some(outcome),
        Ok(Err(Stopped)) => None,
        Err(panic) => {
            bridge.keep_panic(panic);
            ffi::lua_settop(lua, 0);
            push_bytes(lua, b"ERR leaseline-redis-model panicked");
            Some(Outcome::Raise)
        }
    };
    bridge.heap.enforce();
    match outcome {
        Some(Outcome::Results(count)) => count,
        Some(Outcome::Raise) => ffi::lua_error(lua),
        None => look::stop(lua),
    }
}
