//! What the C functions share with the engine.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use mlua::ffi;

use super::stack::State;
use crate::random::Random;
use crate::reply::Reply;
use crate::script::json;
use crate::script::run::Active;
use crate::state::Profile;

/// One per engine, at a fixed address. Every C function that needs it has that address as its
/// first upvalue.
#[derive(Debug)]
pub(crate) struct Bridge {
    /// The script that runs now; null between scripts.
    active: AtomicPtr<Active<'static>>,
    pub(super) json: Mutex<json::Settings>,
    pub(super) random: Mutex<Random>,
    /// A panic of a command, carried past the frames of Lua.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    pub(super) instructions: AtomicU64,
    pub(super) instruction_limit: AtomicU64,
    profile: Profile,
}

impl Bridge {
    pub(crate) fn new(profile: Profile, instruction_limit: u64) -> Self {
        Bridge {
            active: AtomicPtr::new(ptr::null_mut()),
            json: Mutex::default(),
            random: Mutex::default(),
            panic: Mutex::default(),
            instructions: AtomicU64::new(0),
            instruction_limit: AtomicU64::new(instruction_limit),
            profile,
        }
    }

    /// Forgets what scripts have set in the libraries, except the random numbers: those belong to
    /// the process in Redis.
    pub(crate) fn reset_libraries(&self) {
        *self.json.lock().unwrap_or_else(PoisonError::into_inner) = json::Settings::default();
    }

    /// Starts the random numbers anew.
    pub(crate) fn reset_random(&self) {
        *self.random.lock().unwrap_or_else(PoisonError::into_inner) = Random::default();
    }

    pub(crate) fn set_instruction_limit(&self, limit: u64) {
        self.instruction_limit.store(limit, Ordering::Relaxed);
    }

    pub(super) fn profile(&self) -> Profile {
        self.profile
    }

    /// The text of a number that a script passes to a command.
    pub(super) fn format_number(&self, value: f64) -> String {
        self.profile.format_double(value)
    }

    /// A copy, so that no lock is held where Lua may raise.
    pub(super) fn json_settings(&self) -> json::Settings {
        *self.json.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_json_settings(&self, settings: json::Settings) {
        *self.json.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    pub(super) fn next_random(&self) -> f64 {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        random.next()
    }

    pub(super) fn seed_random(&self, seed: i32) {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        *random = Random::seeded(seed);
    }

    /// Announces the script that is about to run.
    ///
    /// # Safety
    ///
    /// `active` is not touched by anyone else until [`Bridge::clear`], which is called before it
    /// ends.
    pub(super) unsafe fn announce(&self, active: &mut Active<'_>) {
        self.active
            .store(ptr::from_mut(active).cast(), Ordering::Relaxed);
        self.instructions.store(0, Ordering::Relaxed);
    }

    pub(super) fn clear(&self) {
        self.active.store(ptr::null_mut(), Ordering::Relaxed);
    }

    pub(super) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        let mut panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
        panic.take()
    }

    /// Runs `work` on the running script. A panic there is kept for the engine, because it must
    /// not unwind through Lua, and the script gets an error instead.
    ///
    /// # Safety
    ///
    /// Called from the Lua state that this bridge belongs to, and not from within `work`.
    pub(super) unsafe fn with_active(&self, work: impl FnOnce(&mut Active<'_>) -> Reply) -> Reply {
        let active = self.active.load(Ordering::Relaxed);
        if active.is_null() {
            // Only a function kept from one script and called outside any could get here.
            return Reply::Error("ERR redis.call outside of a script".to_owned());
        }
        let active = &mut *active;
        catch_unwind(AssertUnwindSafe(|| work(active))).unwrap_or_else(|panic| {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            Reply::Error("ERR leaseline-redis-model panicked".to_owned())
        })
    }
}

/// The bridge of the running C function.
///
/// # Safety
///
/// The function was made by [`push_closure`], and its engine is alive, which it is while its Lua
/// state runs anything.
pub(super) unsafe fn of<'a>(lua: State) -> &'a Bridge {
    &*ffi::lua_touserdata(lua, ffi::lua_upvalueindex(1)).cast::<Bridge>()
}

/// Pushes a C function with the bridge as its first upvalue.
///
/// # Safety
///
/// `bridge` outlives the Lua state, and there are two free slots.
pub(super) unsafe fn push_closure(lua: State, function: ffi::lua_CFunction, bridge: *const Bridge) {
    ffi::lua_pushlightuserdata(lua, bridge.cast_mut().cast::<c_void>());
    ffi::lua_pushcclosure(lua, function, 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, ScriptTime, Time};
    use crate::script::run::{Report, Rules};
    use crate::state::State as Data;

    #[test]
    fn a_panic_waits_for_the_engine() {
        let bridge = Bridge::new(Profile::Redis70, 1);
        let mut active = Active {
            state: &mut Data::new(Profile::Redis70, Time::new(Clock::Virtual(0))),
            keys: &[],
            rules: Rules {
                read_only: false,
                allow_oom: false,
                out_of_memory: false,
                time: ScriptTime::Frozen,
                failure: None,
            },
            report: Report::default(),
            dirty: false,
        };
        // SAFETY: `active` outlives its announcement and is not used meanwhile.
        let (reply, outside) = unsafe {
            bridge.announce(&mut active);
            let reply = bridge.with_active(|_| panic!("on purpose"));
            bridge.clear();
            (reply, bridge.with_active(|_| Reply::ok()))
        };
        assert_eq!(reply.error(), Some("ERR leaseline-redis-model panicked"));
        assert!(bridge.take_panic().is_some());
        assert_eq!(outside.error(), Some("ERR redis.call outside of a script"));
    }
}
