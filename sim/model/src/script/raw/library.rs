//! The rest of the table `redis`.

use std::ffi::CStr;

use mlua::ffi;
use sha1::{Digest, Sha1};

use super::bridge::{Stopped, owning};
use super::call::{arguments, push_error};
use super::from_reply::with_code;
use super::stack::{Outcome, State, bytes, push_bytes, set_field};
use crate::commands;
use crate::number;
use crate::reply::Reply;
use crate::shape::Protocol;

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

/// What an inner half that cannot be stopped ends with.
type Done = Result<Outcome, Stopped>;

const ONE_RESULT: Done = Ok(Outcome::Results(1));

/// Whether the only argument is a string.
///
/// # Safety
///
/// Called from a C function.
unsafe fn is_one_string(lua: State) -> bool {
    ffi::lua_gettop(lua) == 1 && ffi::lua_type(lua, 1) == ffi::LUA_TSTRING
}

/// Leaves the error table that Redis answers for a text: one with a code is taken as it is, and
/// a single word gets the code `ERR`. A hyphen in front goes.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn error_reply(lua: State) -> i32 {
    owning(lua, |_| {
        if !is_one_string(lua) {
            push_error(lua, "wrong number or type of arguments");
            return ONE_RESULT;
        }
        let text = bytes(lua, 1).unwrap_or_default();
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = text.strip_prefix(b"-").unwrap_or(text);
        ffi::lua_createtable(lua, 0, 1);
        push_bytes(lua, &with_code(text));
        set_field(lua, c"err");
        ONE_RESULT
    })
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn status_reply(lua: State) -> i32 {
    owning(lua, |_| {
        if is_one_string(lua) {
            ffi::lua_createtable(lua, 0, 1);
            ffi::lua_pushvalue(lua, 1);
            set_field(lua, c"ok");
        } else {
            push_error(lua, "wrong number or type of arguments");
        }
        ONE_RESULT
    })
}

/// Raises an error table, as these functions do: it carries no position.
///
/// # Safety
///
/// There are four free slots, and memory is granted.
unsafe fn refuse(lua: State, message: &str) -> Done {
    push_error(lua, message);
    Ok(Outcome::Raise)
}

/// An argument as C converts it to `int`.
///
/// # Safety
///
/// The index is valid.
unsafe fn int(lua: State, index: i32) -> i32 {
    number::to_int_like_x86(ffi::lua_tonumber(lua, index))
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn sha1hex(lua: State) -> i32 {
    owning(lua, |_| {
        if ffi::lua_gettop(lua) != 1 {
            return refuse(lua, "wrong number of arguments");
        }
        // Converts a number; anything else that is not a string is hashed as if it were empty.
        ffi::lua_tolstring(lua, 1, std::ptr::null_mut());
        let digest = Sha1::digest(bytes(lua, 1).unwrap_or_default());
        push_bytes(lua, hex::encode(digest).as_bytes());
        ONE_RESULT
    })
}

/// Checks its arguments. There is no log to write to.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn log(lua: State) -> i32 {
    owning(lua, |_| {
        if ffi::lua_gettop(lua) < 2 {
            refuse(lua, "redis.log() requires two arguments or more.")
        } else if ffi::lua_isnumber(lua, 1) == 0 {
            refuse(lua, "First argument must be a number (log level).")
        } else if !(0..=3).contains(&int(lua, 1)) {
            refuse(lua, "Invalid debug level.")
        } else {
            Ok(Outcome::Results(0))
        }
    })
}

/// Chooses the protocol of the replies that the script gets.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn set_resp(lua: State) -> i32 {
    owning(lua, |bridge| {
        if ffi::lua_gettop(lua) != 1 {
            return refuse(lua, "redis.setresp() requires one argument.");
        }
        let protocol = match int(lua, 1) {
            2 => Protocol::Resp2,
            3 => Protocol::Resp3,
            _ => return refuse(lua, "RESP version must be 2 or 3."),
        };
        bridge.with_active(|active| {
            active.state.protocol = protocol;
            Reply::ok()
        });
        Ok(Outcome::Results(0))
    })
}

/// Checks its argument. This server has no replicas and no log that could leave a write out.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn set_replication(lua: State) -> i32 {
    owning(lua, |_| {
        if ffi::lua_gettop(lua) != 1 {
            refuse(lua, "redis.set_repl() requires two arguments.")
        } else if !(0..=3).contains(&int(lua, 1)) {
            refuse(
                lua,
                "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
            )
        } else {
            Ok(Outcome::Results(0))
        }
    })
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn replicate_commands(lua: State) -> i32 {
    ffi::lua_pushboolean(lua, 1);
    1
}

/// False: no debugger is attached.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn breakpoint(lua: State) -> i32 {
    ffi::lua_pushboolean(lua, 0);
    1
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn debug(_: State) -> i32 {
    0
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn check_command(lua: State) -> i32 {
    owning(lua, |bridge| {
        let argv = match arguments(lua, bridge) {
            Ok(argv) => argv,
            Err(message) => return refuse(lua, message),
        };
        let Ok(command) = commands::find(bridge.profile(), &argv) else {
            return refuse(lua, "Invalid command passed to redis.acl_check_cmd()");
        };
        let allowed = bridge.with_active(|active| Reply::from(!active.is_denied(command)));
        ffi::lua_pushboolean(lua, i32::from(allowed == Reply::Integer(1)));
        ONE_RESULT
    })
}
