//! `redis.call` and `redis.pcall`.

use mlua::ffi;

use super::bridge::{Bridge, Stopped, owning};
use super::from_reply::push_reply;
use super::stack::{Outcome, State, bytes, push_bytes, set_field};
use crate::reply::Reply;

/// After how many calls to look at the clock: a command may take long.
const CALLS_PER_LOOK: u64 = 64;

/// `redis.call`: an error is raised.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn call(lua: State) -> i32 {
    owning(lua, |bridge| {
        Ok(match run_command(lua, bridge)? {
            true => Outcome::Results(1),
            false => Outcome::Raise,
        })
    })
}

/// `redis.pcall`: an error is returned as a table.
///
/// # Safety
///
/// As [`call`].
pub(super) unsafe extern "C-unwind" fn protected_call(lua: State) -> i32 {
    owning(lua, |bridge| {
        run_command(lua, bridge)?;
        Ok(Outcome::Results(1))
    })
}

/// Runs the command in the arguments and leaves its answer on the stack. False if that is an
/// error.
///
/// # Safety
///
/// Called by Lua through [`owning`], on its stack of arguments.
unsafe fn run_command(lua: State, bridge: &Bridge) -> Result<bool, Stopped> {
    let argv = match arguments(lua, bridge) {
        Ok(argv) => argv,
        Err(message) => {
            ffi::lua_settop(lua, 0);
            push_error(lua, message);
            return Ok(false);
        }
    };
    let mut look = false;
    let reply = bridge.with_active(|active| {
        let reply = active.call(&argv);
        look = active.report.calls.is_multiple_of(CALLS_PER_LOOK);
        reply
    });
    if look {
        bridge.heed(lua, bridge.meter.check_time())?;
    }
    // All arguments may go now, which makes room for the answer.
    ffi::lua_settop(lua, 0);
    push_reply(lua, &reply, bridge.script_protocol());
    Ok(!matches!(reply, Reply::Error(_)))
}

/// The arguments as strings. Numbers are replaced on the stack by their text, so that every
/// slice points into a string that the stack keeps alive.
///
/// # Safety
///
/// Memory is granted, and the stack is left alone while the slices are in use.
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
            let text = bridge
                .profile()
                .format_double(ffi::lua_tonumber(lua, index));
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
/// There are four free slots, and memory is granted.
pub(super) unsafe fn push_error(lua: State, message: &str) {
    ffi::lua_createtable(lua, 0, 1);
    push_bytes(lua, format!("ERR {message}").as_bytes());
    set_field(lua, c"err");
}
