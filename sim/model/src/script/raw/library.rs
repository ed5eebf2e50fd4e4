//! The rest of the table `redis`, and Redis' own `math.random`.

use std::ffi::CStr;

use mlua::ffi;
use sha1::{Digest, Sha1};

use super::bridge;
use super::call::{arguments, push_error};
use super::stack::{Outcome, State, bytes, finish, push_bytes, set_field};
use crate::commands;

/// The functions of `redis` by name.
pub(super) const FUNCTIONS: &[(&CStr, ffi::lua_CFunction)] = &[
    (c"call", super::call::call),
    (c"pcall", super::call::protected_call),
    (c"error_reply", error_reply),
    (c"status_reply", status_reply),
    (c"sha1hex", sha1hex),
    (c"log", log),
    (c"setresp", set_resp),
    (c"set_repl", set_replication),
    (c"replicate_commands", replicate_commands),
    (c"breakpoint", breakpoint),
    (c"debug", debug),
    (c"acl_check_cmd", check_command),
];

/// Leaves the error table that Redis answers for a text: `-CODE text` is split, other texts get
/// the code `ERR`.
unsafe fn push_error_line(lua: State, line: &str) {
    let line = line.trim_matches(['\r', '\n']);
    match line
        .strip_prefix('-')
        .map(|line| (line, line.contains(' ')))
    {
        Some((line, true)) => {
            ffi::lua_createtable(lua, 0, 1);
            push_bytes(lua, line.as_bytes());
            set_field(lua, c"err");
        }
        Some((line, false)) => push_error(lua, line),
        None => push_error(lua, line),
    }
}

/// Whether the only argument is a string.
unsafe fn is_one_string(lua: State) -> bool {
    ffi::lua_gettop(lua) == 1 && ffi::lua_type(lua, 1) == ffi::LUA_TSTRING
}

/// A string argument up to its first NUL.
unsafe fn c_text(lua: State, index: i32) -> String {
    let text = bytes(lua, index).unwrap_or_default();
    let end = text.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&text[..end.unwrap_or(text.len())]).into_owned()
}

unsafe extern "C-unwind" fn error_reply(lua: State) -> i32 {
    if is_one_string(lua) {
        let text = c_text(lua, 1);
        let line = match text.starts_with('-') {
            true => text,
            false => format!("-{text}"),
        };
        push_error_line(lua, &line);
    } else {
        push_error(lua, "wrong number or type of arguments");
    }
    1
}

unsafe extern "C-unwind" fn status_reply(lua: State) -> i32 {
    if is_one_string(lua) {
        ffi::lua_createtable(lua, 0, 1);
        ffi::lua_pushvalue(lua, 1);
        set_field(lua, c"ok");
    } else {
        push_error(lua, "wrong number or type of arguments");
    }
    1
}

/// Raises an error table, as these functions do: it carries no position.
unsafe fn refuse(lua: State, message: &str) -> Outcome {
    push_error(lua, message);
    Outcome::Raise
}

unsafe extern "C-unwind" fn sha1hex(lua: State) -> i32 {
    let outcome = hash(lua);
    finish(lua, outcome)
}

unsafe fn hash(lua: State) -> Outcome {
    if ffi::lua_gettop(lua) != 1 {
        return refuse(lua, "wrong number of arguments");
    }
    // Converts a number; anything else that is not a string is hashed as if it were empty.
    ffi::lua_tolstring(lua, 1, std::ptr::null_mut());
    let digest = Sha1::digest(bytes(lua, 1).unwrap_or_default());
    push_bytes(lua, hex::encode(digest).as_bytes());
    Outcome::Results(1)
}

/// Checks its arguments. There is no log to write to.
unsafe extern "C-unwind" fn log(lua: State) -> i32 {
    let outcome = if ffi::lua_gettop(lua) < 2 {
        refuse(lua, "redis.log() requires two arguments or more.")
    } else if ffi::lua_isnumber(lua, 1) == 0 {
        refuse(lua, "First argument must be a number (log level).")
    } else if !(0.0..=3.0).contains(&ffi::lua_tonumber(lua, 1).trunc()) {
        refuse(lua, "Invalid debug level.")
    } else {
        Outcome::Results(0)
    };
    finish(lua, outcome)
}

unsafe extern "C-unwind" fn set_resp(lua: State) -> i32 {
    let outcome = resp_version(lua);
    finish(lua, outcome)
}

unsafe fn resp_version(lua: State) -> Outcome {
    if ffi::lua_gettop(lua) != 1 {
        return refuse(lua, "redis.setresp() requires one argument.");
    }
    match ffi::lua_tonumber(lua, 1).trunc() {
        2.0 => Outcome::Results(0),
        3.0 => unsupported(lua, "redis.setresp(3)"),
        _ => refuse(lua, "RESP version must be 2 or 3."),
    }
}

/// Raises the error for a gap of the model, and counts it.
///
/// # Safety
///
/// Called from a function that has the bridge as upvalue.
pub(super) unsafe fn unsupported(lua: State, what: &str) -> Outcome {
    let refusal = crate::refusal::Refusal::unsupported(what);
    let reply = bridge::of(lua).with_active(|active| active.state.reply(Err(refusal)));
    let line = reply.error().unwrap_or_default();
    push_error_line(lua, &format!("-{line}"));
    Outcome::Raise
}

/// Checks its argument. This server has no replicas and no log that could leave a write out.
unsafe extern "C-unwind" fn set_replication(lua: State) -> i32 {
    let outcome = if ffi::lua_gettop(lua) != 1 {
        refuse(lua, "redis.set_repl() requires two arguments.")
    } else if !(0.0..=3.0).contains(&ffi::lua_tonumber(lua, 1).trunc()) {
        refuse(
            lua,
            "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
        )
    } else {
        Outcome::Results(0)
    };
    finish(lua, outcome)
}

unsafe extern "C-unwind" fn replicate_commands(lua: State) -> i32 {
    ffi::lua_pushboolean(lua, 1);
    1
}

/// False: no debugger is attached.
unsafe extern "C-unwind" fn breakpoint(lua: State) -> i32 {
    ffi::lua_pushboolean(lua, 0);
    1
}

unsafe extern "C-unwind" fn debug(_: State) -> i32 {
    0
}

unsafe extern "C-unwind" fn check_command(lua: State) -> i32 {
    let outcome = check(lua);
    finish(lua, outcome)
}

unsafe fn check(lua: State) -> Outcome {
    let bridge = bridge::of(lua);
    let argv = match arguments(lua, bridge) {
        Ok(argv) => argv,
        Err(message) => return refuse(lua, message),
    };
    let Ok(command) = commands::find(bridge.profile(), &argv) else {
        return refuse(lua, "Invalid command passed to redis.acl_check_cmd()");
    };
    let allowed = bridge.with_active(|active| crate::Reply::from(!active.is_denied(command)));
    ffi::lua_pushboolean(lua, i32::from(allowed == crate::Reply::Integer(1)));
    Outcome::Results(1)
}

/// `math.random`, with the numbers of Redis.
///
/// # Safety
///
/// Called by Lua, with the bridge as upvalue.
pub(super) unsafe extern "C-unwind" fn random(lua: State) -> i32 {
    let number = bridge::of(lua).next_random();
    match ffi::lua_gettop(lua) {
        0 => ffi::lua_pushnumber(lua, number),
        1 => {
            let high = int(ffi::luaL_checkinteger(lua, 1));
            if high < 1 {
                return ffi::luaL_argerror(lua, 1, c"interval is empty".as_ptr());
            }
            ffi::lua_pushnumber(lua, (number * f64::from(high)).floor() + 1.0);
        }
        2 => {
            let low = int(ffi::luaL_checkinteger(lua, 1));
            let high = int(ffi::luaL_checkinteger(lua, 2));
            if low > high {
                return ffi::luaL_argerror(lua, 2, c"interval is empty".as_ptr());
            }
            // In 32 bits, as in C: a width beyond that wraps round.
            let width = high.wrapping_sub(low).wrapping_add(1);
            ffi::lua_pushnumber(lua, (number * f64::from(width)).floor() + f64::from(low));
        }
        _ => return ffi::luaL_error(lua, c"wrong number of arguments".as_ptr()),
    }
    1
}

/// `math.randomseed`.
///
/// # Safety
///
/// As [`random`].
pub(super) unsafe extern "C-unwind" fn random_seed(lua: State) -> i32 {
    let seed = int(ffi::luaL_checkinteger(lua, 1));
    bridge::of(lua).seed_random(seed);
    0
}

/// C's conversion of `lua_Integer` to `int`.
fn int(value: ffi::lua_Integer) -> i32 {
    value as i32
}

/// What stands for a library that this model lacks: reading any function from it fails.
///
/// # Safety
///
/// Called by Lua as an `__index` function, with the bridge and the library's name as upvalues.
pub(super) unsafe extern "C-unwind" fn missing_library(lua: State) -> i32 {
    let outcome = missing(lua);
    finish(lua, outcome)
}

unsafe fn missing(lua: State) -> Outcome {
    let library = c_text(lua, ffi::lua_upvalueindex(2));
    if ffi::lua_type(lua, 2) != ffi::LUA_TSTRING {
        return Outcome::Results(0); // none of these libraries has other keys: nil
    }
    let name = c_text(lua, 2);
    unsupported(lua, &format!("{library}.{name}"))
}
