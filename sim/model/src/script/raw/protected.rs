//! The functions with which a script catches errors: `pcall`, `xpcall` and the coroutines.
//!
//! None of them may catch the end of a script that has used up its limits.

use mlua::ffi;

use super::bridge;
use super::look::stop;
use super::stack::{State, push_bytes};

/// Returns from a C function that may have caught anything. An error may also have come out of
/// `coroutine.resume` itself, which then did not say that this thread runs again.
///
/// # Safety
///
/// As [`stop`].
pub(super) unsafe fn unless_stopped(lua: State, results: i32) -> i32 {
    let bridge = bridge::of(lua);
    bridge.heap.switch_to(lua);
    match bridge.meter.is_stopped() {
        true => stop(lua),
        false => results,
    }
}

/// `pcall` as Redis replaces it: an error table with an `err` becomes that text.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn pcall(lua: State) -> i32 {
    let count = ffi::lua_gettop(lua);
    if count == 0 {
        // Redis calls what it has just pushed itself.
        ffi::lua_pushboolean(lua, 0);
        push_bytes(lua, b"attempt to call a boolean value");
        return 2;
    }
    ffi::lua_pushboolean(lua, 1);
    ffi::lua_insert(lua, 1);
    if ffi::lua_pcall(lua, count - 1, ffi::LUA_MULTRET, 0) != 0 {
        unless_stopped(lua, 0);
        ffi::lua_remove(lua, 1);
        if ffi::lua_type(lua, -1) == ffi::LUA_TTABLE {
            ffi::lua_getfield(lua, -1, c"err".as_ptr());
            if ffi::lua_isstring(lua, -1) != 0 {
                ffi::lua_replace(lua, -2);
            }
        }
        ffi::lua_pushboolean(lua, 0);
        ffi::lua_insert(lua, 1);
    }
    ffi::lua_gettop(lua)
}

/// `xpcall`, which hands on what was raised as it is.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn xpcall(lua: State) -> i32 {
    ffi::luaL_checkany(lua, 2);
    ffi::lua_settop(lua, 2);
    ffi::lua_insert(lua, 1);
    // Before the call: its results may leave no room behind them.
    ffi::lua_pushboolean(lua, 1);
    ffi::lua_insert(lua, 2);
    if ffi::lua_pcall(lua, 0, ffi::LUA_MULTRET, 1) != 0 {
        unless_stopped(lua, 0);
        ffi::lua_pushboolean(lua, 0);
        ffi::lua_replace(lua, 2);
    }
    ffi::lua_gettop(lua) - 1
}

/// `coroutine.resume`.
///
/// # Safety
///
/// Called by Lua, with Lua's own function as upvalue.
pub(super) unsafe extern "C-unwind" fn resume(lua: State) -> i32 {
    let Some(original) = ffi::lua_tocfunction(lua, ffi::lua_upvalueindex(1)) else {
        return 0;
    };
    let coroutine = ffi::lua_tothread(lua, 1);
    if coroutine.is_null() {
        return original(lua); // which refuses
    }
    bridge::of(lua).heap.switch_to(coroutine);
    let results = original(lua);
    unless_stopped(lua, results)
}

/// `coroutine.wrap`: makes a function that resumes.
///
/// # Safety
///
/// Called by Lua, with Lua's own `coroutine.create` and `coroutine.resume` as upvalues.
pub(super) unsafe extern "C-unwind" fn wrap(lua: State) -> i32 {
    let Some(create) = ffi::lua_tocfunction(lua, ffi::lua_upvalueindex(1)) else {
        return 0;
    };
    create(lua);
    ffi::lua_pushvalue(lua, ffi::lua_upvalueindex(2));
    ffi::lua_insert(lua, -2);
    ffi::lua_pushcclosure(lua, wrapped, 2);
    1
}

/// What `coroutine.wrap` makes: an error of the coroutine goes on, with the position of whoever
/// resumed it.
///
/// # Safety
///
/// Called by Lua, with the upvalues that [`wrap`] gives it.
unsafe extern "C-unwind" fn wrapped(lua: State) -> i32 {
    ffi::lua_pushvalue(lua, ffi::lua_upvalueindex(2));
    ffi::lua_insert(lua, 1);
    let results = resume(lua);
    let first = ffi::lua_gettop(lua) - results + 1;
    if ffi::lua_toboolean(lua, first) != 0 {
        return results - 1;
    }
    if ffi::lua_isstring(lua, -1) != 0 {
        ffi::luaL_where(lua, 1);
        ffi::lua_insert(lua, -2);
        ffi::lua_concat(lua, 2);
    }
    ffi::lua_error(lua)
}
