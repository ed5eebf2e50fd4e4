//! The side of scripting that speaks to Lua's C interface: the only unsafe code of this crate.
//!
//! `redis.call` is a C function and not a closure of `mlua` for two reasons: its errors must be
//! tables that a script can catch, and it is an order of magnitude faster.
//!
//! Lua raises an error by `longjmp`, which runs no destructors. So every function here that can
//! raise comes in two halves: an inner one that does the work, owns what it likes, and leaves a
//! result or an error value on the stack; and an outer one that owns nothing and returns or
//! raises. The functions of Lua that the inner half calls raise only when memory runs out, and
//! then the process is lost anyway. Stack space: Lua guarantees 20 free slots to a C function,
//! and what may need more asks for it.
//!
//! A panic must not unwind through Lua, which would leave its error recovery pointing into a
//! frame that is gone: see [`Bridge::with_active`].

mod bridge;
mod call;
mod execute;
mod guards;
mod json_decode;
mod json_encode;
mod json_settings;
mod library;
mod reply;
mod stack;

use std::ffi::CStr;
use std::sync::Arc;

use mlua::{Function, Lua, Result, Table, ffi};

pub(super) use bridge::Bridge;
pub(super) use execute::Frame;
pub(super) use guards::{
    getmetatable, load, loadstring, pairs, reader, readonly, unknown_global, writer,
};

/// Makes the C functions of one engine, which share its bridge.
pub(super) struct Maker<'a> {
    lua: &'a Lua,
    bridge: &'a Arc<Bridge>,
}

impl<'a> Maker<'a> {
    /// From here on the Lua state keeps the bridge alive, as its functions need it.
    pub(super) fn new(lua: &'a Lua, bridge: &'a Arc<Bridge>) -> Result<Self> {
        lua.set_app_data(Arc::clone(bridge));
        let address = Arc::as_ptr(bridge);
        // SAFETY: the bridge lives as long as the Lua state, see above; a fresh frame has room.
        unsafe { lua.exec_raw::<()>((), |state| execute::register_bridge(state, address))? };
        Ok(Maker { lua, bridge })
    }

    /// The table `redis`, without its constants.
    pub(super) fn redis(&self) -> Result<Table> {
        self.table(library::FUNCTIONS)
    }

    /// The table `cjson`, without its constants.
    pub(super) fn cjson(&self) -> Result<Table> {
        self.table(json_settings::FUNCTIONS)
    }

    pub(super) fn pcall(&self) -> Result<Function> {
        self.function(call::pcall)
    }

    pub(super) fn error_handler(&self) -> Result<Function> {
        self.function(execute::explain)
    }

    pub(super) fn random(&self) -> Result<Function> {
        self.function(library::random)
    }

    pub(super) fn random_seed(&self) -> Result<Function> {
        self.function(library::random_seed)
    }

    /// The `__index` of a library that this model lacks.
    pub(super) fn missing_library(&self, name: &str) -> Result<Function> {
        let address = Arc::as_ptr(self.bridge).cast_mut().cast();
        // SAFETY: as in `new`; the closure takes the two values as its upvalues.
        unsafe {
            self.lua.exec_raw(name, |state| {
                ffi::lua_pushlightuserdata(state, address);
                ffi::lua_insert(state, -2);
                ffi::lua_pushcclosure(state, library::missing_library, 2);
            })
        }
    }

    fn table(&self, functions: &[(&CStr, ffi::lua_CFunction)]) -> Result<Table> {
        let table = self.lua.create_table()?;
        for (name, function) in functions {
            let name = self.lua.create_string(name.to_bytes())?;
            table.raw_set(name, self.function(*function)?)?;
        }
        Ok(table)
    }

    fn function(&self, function: ffi::lua_CFunction) -> Result<Function> {
        let address = Arc::as_ptr(self.bridge);
        // SAFETY: as in `new`.
        unsafe {
            self.lua
                .exec_raw((), |state| bridge::push_closure(state, function, address))
        }
    }
}
