//! `redis.call`, `redis.pcall` and `pcall`.

use mlua::ffi;

use super::bridge::{self, Bridge};
use super::reply::push_reply;
use super::stack::{State, bytes, push_bytes, set_field};
use crate::reply::Reply;

/// `redis.call`: an error is raised.
///
/// # Safety
///
/// Called by Lua, with the bridge as upvalue.
pub(super) unsafe extern "C-unwind" fn call(lua: State) -> i32 {
    if run_command(lua) {
        1
    } else {
        // `run_command` has returned: nothing of Rust is alive that the jump would skip.
        ffi::lua_error(lua)
    }
}

/// `redis.pcall`: an error is returned as a table.
///
/// # Safety
///
/// As [`call`].
pub(super) unsafe extern "C-unwind" fn protected_call(lua: State) -> i32 {
    run_command(lua);
    1
}

/// Runs the command in the arguments and leaves its answer on the stack. False if that is an
/// error.
unsafe fn run_command(lua: State) -> bool {
    let bridge = bridge::of(lua);
    let reply = match arguments(lua, bridge) {
        Ok(argv) => bridge.with_active(|active| active.call(&argv)),
        Err(message) => {
            ffi::lua_settop(lua, 0);
            push_error(lua, message);
            return false;
        }
    };
    // All arguments may go now, which makes room for the answer.
    ffi::lua_settop(lua, 0);
    push_reply(lua, &reply);
    !matches!(reply, Reply::Error(_))
}

/// The arguments as strings. Numbers are replaced on the stack by their text, so that every
/// slice points into a string that the stack keeps alive.
pub(super) unsafe fn arguments<'a>(
    lua: State,
    bridge: &Bridge,
) -> Result<Vec<&'a [u8]>, &'static str> {
    let count = ffi::lua_gettop(lua);
    if count == 0 {
        return Err("Please specify at least one argument for this redis lib call");
    }
    let mut argv = Vec::with_capacity(count as usize);
    for index in 1..=count {
        if ffi::lua_type(lua, index) == ffi::LUA_TNUMBER {
            let text = bridge.format_number(ffi::lua_tonumber(lua, index));
            push_bytes(lua, text.as_bytes());
            ffi::lua_replace(lua, index);
        }
        match bytes(lua, index) {
            Some(argument) => argv.push(argument),
            None => return Err("Lua redis lib command arguments must be strings or integers"),
        }
    }
    Ok(argv)
}

/// Pushes the error table of a text without a code.
///
/// # Safety
///
/// There are four free slots.
pub(super) unsafe fn push_error(lua: State, message: &str) {
    ffi::lua_createtable(lua, 0, 1);
    push_bytes(lua, format!("ERR {message}").as_bytes());
    set_field(lua, c"err");
}

/// `pcall` as Redis replaces it: an error table with an `err` becomes that text.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn pcall(lua: State) -> i32 {
    let count = ffi::lua_gettop(lua);
    if count == 0 {
        // Redis calls whatever lies below the stack here; an error is the kinder answer.
        return ffi::luaL_argerror(lua, 1, c"value expected".as_ptr());
    }
    ffi::lua_pushboolean(lua, 1);
    ffi::lua_insert(lua, 1);
    if ffi::lua_pcall(lua, count - 1, ffi::LUA_MULTRET, 0) != 0 {
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
