//! The side of scripting that speaks to Lua's C interface: the only unsafe code of this crate.
//!
//! `redis.call` is a C function and not a closure of `mlua` for two reasons: its errors must be
//! tables that a script can catch, and it is an order of magnitude faster.
//!
//! Lua raises an error by `longjmp`, which runs no destructors. So every function here that can
//! raise is of one of two kinds. Some own nothing that has a destructor, and may raise anywhere:
//! they are the ones that call functions of the script, or metamethods. All others do their work
//! in [`bridge::owning`], where Lua raises nothing, because it is granted all memory and because
//! what they call there raises for no other reason; they leave a result or an error value on the
//! stack, and when nothing is owned any more it is returned or raised. Stack space: Lua
//! guarantees 20 free slots to a C function, and what may need more asks for it.
//!
//! A panic must not unwind through Lua, which would leave its error recovery pointing into a
//! frame that is gone: `owning` catches it, and the engine goes on with it.

mod bits;
mod bridge;
mod call;
mod execute;
mod explain;
mod from_reply;
mod guards;
mod heap;
mod json_decode;
mod json_encode;
mod json_settings;
mod library;
mod load;
mod look;
mod meter;
mod msgpack_pack;
mod msgpack_unpack;
mod protected;
mod random;
mod scratch;
mod stack;
mod strings;
mod structs;
mod tables;
mod tally;
mod to_reply;

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use mlua::{Function, Lua, Result, Table, ffi};

use crate::random::Random;
use crate::script::limits::Limits;
use crate::state::Profile;
use bridge::Bridge;
pub(super) use execute::Run;
pub(super) use guards::{getmetatable, pairs, reader, readonly, unknown_global, writer};
use heap::Heap;
use stack::{State, bytes};

/// A value that is kept in Lua's registry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot(i32);

/// A Lua state with all that scripts find in it.
pub(super) struct Machine {
    // Declared first, so that it ends before the bridge that its memory is counted by.
    _lua: Lua,
    state: AtomicPtr<ffi::lua_State>,
    bridge: Arc<Bridge>,
    /// The table behind the globals, where `KEYS` and `ARGV` are set.
    globals: Slot,
    handler: Slot,
}

impl Machine {
    /// Takes over a state that was made ready.
    pub(super) fn new(
        lua: Lua,
        globals: &Table,
        handler: &Function,
        profile: Profile,
        random: Random,
    ) -> Result<Self> {
        let bridge = Arc::new(Bridge::new(profile, random));
        let (globals, handler) = (keep(&lua, globals)?, keep(&lua, handler)?);
        let mut address = std::ptr::null_mut();
        // SAFETY: the state stays where it is as long as `lua` lives. The bridge outlives it, see
        // the order of the fields.
        unsafe {
            lua.exec_raw::<()>((), |state| {
                address = state;
                Heap::install(&bridge, state);
            })?;
        }
        Ok(Machine {
            _lua: lua,
            state: AtomicPtr::new(address),
            bridge,
            globals,
            handler,
        })
    }

    fn state(&self) -> State {
        self.state.load(Relaxed)
    }

    /// Compiles a script, or says why not.
    pub(super) fn compile(
        &self,
        code: &[u8],
        limits: &Limits,
    ) -> std::result::Result<Slot, Vec<u8>> {
        // SAFETY: nothing runs, so memory is granted and Lua raises nothing; it catches the
        // errors of its compiler itself.
        unsafe {
            let lua = self.state();
            ffi::lua_checkstack(lua, 2);
            self.bridge.meter.start(limits);
            let status = load::compile(lua, code, c"@user_script");
            self.bridge.heap.relax();
            if status == 0 {
                return Ok(Slot(ffi::luaL_ref(lua, ffi::LUA_REGISTRYINDEX)));
            }
            let message = bytes(lua, -1).unwrap_or_default();
            let message = message.to_vec();
            ffi::lua_pop(lua, 1);
            let stop = self.bridge.meter.take_stop();
            Err(stop.map_or(message, |stop| stop.limit.to_string().into_bytes()))
        }
    }

    /// Undoes what scripts may have changed in the libraries and the collector of garbage, except
    /// for the random numbers.
    pub(super) fn reset_libraries(&self) {
        /// What Lua starts with, in percent.
        const PACE: i32 = 200;
        self.bridge.set_json_settings(Default::default());
        // SAFETY: nothing runs; setting these raises nothing.
        unsafe {
            let lua = self.state();
            ffi::lua_gc(lua, ffi::LUA_GCSETPAUSE, PACE);
            ffi::lua_gc(lua, ffi::LUA_GCSETSTEPMUL, PACE);
            ffi::lua_gc(lua, ffi::LUA_GCRESTART, 0);
        }
    }

    /// How many bytes the state holds, garbage included.
    pub(super) fn memory(&self) -> usize {
        self.bridge.heap.used()
    }

    /// The random numbers as they are now.
    pub(super) fn random(&self) -> Random {
        self.bridge.random()
    }

    pub(super) fn set_random(&self, random: Random) {
        self.bridge.set_random(random);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: it is the state that the heap was installed in.
        unsafe { self.bridge.heap.uninstall(self.state()) };
    }
}

/// Keeps a value until the state ends.
fn keep(lua: &Lua, value: impl mlua::IntoLua) -> Result<Slot> {
    // SAFETY: `exec_raw` pushes the value and runs protected.
    let slot: i32 = unsafe {
        lua.exec_raw(value.into_lua(lua)?, |state| {
            let slot = ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX);
            ffi::lua_pushinteger(state, slot as ffi::lua_Integer);
        })?
    };
    Ok(Slot(slot))
}

/// Functions of ours by name.
type Functions = &'static [(&'static CStr, ffi::lua_CFunction)];

/// The libraries that are all ours.
pub(super) const LIBRARIES: [(&str, Functions); 5] = [
    ("redis", library::FUNCTIONS),
    ("cjson", json_settings::FUNCTIONS),
    ("cmsgpack", msgpack_pack::FUNCTIONS),
    ("struct", structs::FUNCTIONS),
    ("bit", bits::FUNCTIONS),
];

/// Functions of ours in the libraries of Lua, where "" is for the globals.
pub(super) const REPLACEMENTS: [(&str, Functions); 4] = [
    (
        "",
        &[
            (c"pcall", protected::pcall),
            (c"xpcall", protected::xpcall),
            (c"load", load::load),
            (c"loadstring", load::loadstring),
            (c"__redis__err__handler", explain::explain),
        ],
    ),
    (
        "math",
        &[
            (c"random", random::random),
            (c"randomseed", random::random_seed),
        ],
    ),
    ("string", strings::FUNCTIONS),
    (
        "table",
        &[
            (c"foreach", tables::foreach),
            (c"foreachi", tables::foreachi),
            (c"maxn", tables::maxn),
        ],
    ),
];

/// Functions of ours around those of Lua, with which they end.
pub(super) const WRAPPERS: [(&str, Functions); 3] = [
    (
        "",
        &[
            (c"collectgarbage", tables::collectgarbage),
            (c"unpack", tables::unpack),
        ],
    ),
    (
        "table",
        &[
            (c"concat", tables::concat),
            (c"insert", tables::insert),
            (c"remove", tables::remove),
            (c"sort", tables::sort),
        ],
    ),
    ("coroutine", &[(c"resume", protected::resume)]),
];

/// Puts functions into a table.
pub(super) fn fill(lua: &Lua, table: &Table, functions: Functions) -> Result<()> {
    for (name, code) in functions {
        // SAFETY: each of them is written to be called by Lua.
        let function = unsafe { lua.create_c_function(*code)? };
        table.raw_set(lua.create_string(name.to_bytes())?, function)?;
    }
    Ok(())
}

/// Puts functions around those that a table has under the same names.
pub(super) fn wrap(lua: &Lua, table: &Table, functions: Functions) -> Result<()> {
    for (name, code) in functions {
        let name = lua.create_string(name.to_bytes())?;
        let original: Function = table.raw_get(&name)?;
        table.raw_set(&name, guards::wrap(lua, *code, original)?)?;
    }
    Ok(())
}

/// `coroutine.wrap`, from Lua's own functions of these names.
pub(super) fn coroutine_wrap(lua: &Lua, create: Function, resume: Function) -> Result<Function> {
    // SAFETY: `exec_raw` pushes both and runs protected; a closure takes their place.
    unsafe {
        lua.exec_raw((create, resume), |state| {
            ffi::lua_pushcclosure(state, protected::wrap, 2)
        })
    }
}
