//! Replies of commands, as values of Lua.

use mlua::ffi;

use super::stack::{State, push_bytes, set_field};
use crate::number;
use crate::reply::Reply;
use crate::shape::Protocol;

/// Pushes a reply as a script of this protocol sees it: the missing value is `false` or, in RESP3,
/// nil; a status is `{ok=…}`, an error `{err=…}`.
///
/// # Safety
///
/// There is a free slot; more are made here. Memory is granted.
pub(super) unsafe fn push_reply(lua: State, reply: &Reply, protocol: Protocol) {
    // Replies of commands are flat, so this cannot reach Lua's limit.
    ffi::lua_checkstack(lua, 6);
    match reply {
        Reply::Nil | Reply::NilArray if protocol == Protocol::Resp3 => ffi::lua_pushnil(lua),
        Reply::Nil | Reply::NilArray => ffi::lua_pushboolean(lua, 0),
        Reply::Integer(n) => ffi::lua_pushnumber(lua, *n as f64),
        Reply::Bulk(bytes) => push_bytes(lua, bytes),
        Reply::Status(text) => {
            ffi::lua_createtable(lua, 0, 1);
            push_bytes(lua, text);
            set_field(lua, c"ok");
        }
        Reply::Error(line) => {
            ffi::lua_createtable(lua, 0, 2);
            push_bytes(lua, &with_code(line));
            set_field(lua, c"err");
            ffi::lua_pushboolean(lua, 1);
            set_field(lua, c"ignore_error_stats_update");
        }
        Reply::Array(items) => {
            ffi::lua_createtable(lua, i32::try_from(items.len()).unwrap_or(0), 0);
            for (index, item) in items.iter().enumerate() {
                push_reply(lua, item, protocol);
                ffi::lua_rawseti(lua, -2, index as ffi::lua_Integer + 1);
            }
        }
        // Only a script that chose RESP3 gets these.
        Reply::Map(pairs) => {
            ffi::lua_createtable(lua, 0, 1);
            ffi::lua_createtable(lua, 0, i32::try_from(pairs.len()).unwrap_or(0));
            for (key, value) in pairs {
                push_reply(lua, key, protocol);
                push_reply(lua, value, protocol);
                set_if_keyed(lua);
            }
            set_field(lua, c"map");
        }
        Reply::Set(items) => {
            ffi::lua_createtable(lua, 0, 1);
            ffi::lua_createtable(lua, 0, i32::try_from(items.len()).unwrap_or(0));
            for item in items {
                push_reply(lua, item, protocol);
                ffi::lua_pushboolean(lua, 1);
                set_if_keyed(lua);
            }
            set_field(lua, c"set");
        }
        Reply::Double(text) => {
            ffi::lua_createtable(lua, 0, 1);
            ffi::lua_pushnumber(lua, number::strtod(text.as_bytes()).value);
            set_field(lua, c"double");
        }
        Reply::Boolean(yes) => ffi::lua_pushboolean(lua, i32::from(*yes)),
        Reply::BigNumber(digits) => {
            ffi::lua_createtable(lua, 0, 1);
            push_bytes(lua, digits);
            set_field(lua, c"big_number");
        }
        Reply::Verbatim { format, text } => {
            ffi::lua_createtable(lua, 0, 1);
            ffi::lua_createtable(lua, 0, 2);
            push_bytes(lua, text);
            set_field(lua, c"string");
            push_bytes(lua, format);
            set_field(lua, c"format");
            set_field(lua, c"verbatim_string");
        }
        // No command that a script may call answers with a message, or several times.
        Reply::Push(_) | Reply::Series(_) => ffi::lua_pushnil(lua),
    }
}

/// Sets `table[key] = value`, with all three on top, and pops the last two. Lua would raise for a
/// key that is nil; no command answers one.
///
/// # Safety
///
/// The stack is as described, and memory is granted.
unsafe fn set_if_keyed(lua: State) {
    match ffi::lua_type(lua, -2) {
        ffi::LUA_TNIL => ffi::lua_pop(lua, 2),
        _ => ffi::lua_rawset(lua, -3),
    }
}

/// An error line, with a code in front if it is a single word.
pub(super) fn with_code(line: &[u8]) -> Vec<u8> {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let start = line.iter().take_while(|byte| is_end(byte)).count();
    let end = line.iter().rposition(|byte| !is_end(byte));
    let line = line
        .get(start..end.map_or(0, |end| end + 1))
        .unwrap_or_default();
    match line.contains(&b' ') {
        true => line.to_vec(),
        false => [b"ERR ", line].concat(),
    }
}
