//! Replies into Lua values, and Lua values into replies.

use mlua::ffi;

use super::stack::{State, bytes, get_field, push_bytes, set_field};
use crate::number;
use crate::reply::Reply;
use crate::state::Profile;

/// How deep a returned table may nest. Redis goes to 8,000 levels and ends in an error text
/// inside; this model ends earlier and refuses the whole reply, which cannot be taken for data.
const MAX_DEPTH: usize = 1000;

/// Pushes a reply as scripts see it: nil is `false`, a status is `{ok=…}`, an error `{err=…}`.
///
/// # Safety
///
/// There is a free slot; more are made here.
pub(super) unsafe fn push_reply(lua: State, reply: &Reply) {
    // Replies of commands are flat, so this cannot reach Lua's limit.
    ffi::lua_checkstack(lua, 6);
    match reply {
        Reply::Nil | Reply::NilArray => ffi::lua_pushboolean(lua, 0),
        Reply::Integer(n) => ffi::lua_pushnumber(lua, *n as f64),
        Reply::Bulk(bytes) => push_bytes(lua, bytes),
        Reply::Status(text) => {
            ffi::lua_createtable(lua, 0, 1);
            push_bytes(lua, text.as_bytes());
            set_field(lua, c"ok");
        }
        Reply::Error(line) => {
            ffi::lua_createtable(lua, 0, 2);
            push_bytes(lua, with_code(line).as_bytes());
            set_field(lua, c"err");
            ffi::lua_pushboolean(lua, 1);
            set_field(lua, c"ignore_error_stats_update");
        }
        Reply::Array(items) => {
            ffi::lua_createtable(lua, i32::try_from(items.len()).unwrap_or(0), 0);
            for (index, item) in items.iter().enumerate() {
                push_reply(lua, item);
                ffi::lua_rawseti(lua, -2, index as ffi::lua_Integer + 1);
            }
        }
        // Only a script that chose RESP3 gets these.
        Reply::Map(pairs) => {
            ffi::lua_createtable(lua, 0, 1);
            ffi::lua_createtable(lua, 0, i32::try_from(pairs.len()).unwrap_or(0));
            for (key, value) in pairs {
                push_reply(lua, key);
                push_reply(lua, value);
                ffi::lua_rawset(lua, -3);
            }
            set_field(lua, c"map");
        }
        Reply::Set(items) => {
            ffi::lua_createtable(lua, 0, 1);
            ffi::lua_createtable(lua, 0, i32::try_from(items.len()).unwrap_or(0));
            for item in items {
                push_reply(lua, item);
                ffi::lua_pushboolean(lua, 1);
                ffi::lua_rawset(lua, -3);
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
            push_bytes(lua, digits.as_bytes());
            set_field(lua, c"big_number");
        }
        Reply::Verbatim(text) => {
            ffi::lua_createtable(lua, 0, 1);
            ffi::lua_createtable(lua, 0, 2);
            push_bytes(lua, text.as_bytes());
            set_field(lua, c"string");
            push_bytes(lua, b"txt");
            set_field(lua, c"format");
            set_field(lua, c"verbatim_string");
        }
        // No command that a script may call answers with a message.
        Reply::Push(_) => ffi::lua_pushnil(lua),
    }
}

/// An error line, with a code in front if it is a single word.
pub(super) fn with_code(line: &str) -> String {
    let line = line.trim_matches(['\r', '\n']);
    match line.split_once(' ') {
        Some(_) => line.to_owned(),
        None => format!("ERR {line}"),
    }
}

/// A returned value that this model does not turn into a reply.
#[derive(Debug)]
pub(super) struct TooDeep;

/// Turns the value on top into a reply and pops it.
///
/// # Safety
///
/// There is a value on top.
pub(super) unsafe fn pop_reply(
    lua: State,
    profile: Profile,
    depth: usize,
) -> Result<Reply, TooDeep> {
    if depth > MAX_DEPTH || ffi::lua_checkstack(lua, 4) == 0 {
        ffi::lua_pop(lua, 1);
        return Err(TooDeep);
    }
    let reply = match ffi::lua_type(lua, -1) {
        ffi::LUA_TSTRING => Reply::bulk_or_nil(bytes(lua, -1).map(<[u8]>::to_vec)),
        ffi::LUA_TNUMBER => Reply::Integer(number::truncate_like_x86(ffi::lua_tonumber(lua, -1))),
        ffi::LUA_TBOOLEAN if ffi::lua_toboolean(lua, -1) != 0 => Reply::Integer(1),
        ffi::LUA_TTABLE => table_reply(lua, profile, depth)?,
        _ => Reply::Nil,
    };
    ffi::lua_pop(lua, 1);
    Ok(reply)
}

/// The reply for the table on top, which stays there.
unsafe fn table_reply(lua: State, profile: Profile, depth: usize) -> Result<Reply, TooDeep> {
    if let Some(text) = text_field(lua, c"err") {
        return Ok(Reply::Error(one_line(&text)));
    }
    if let Some(text) = text_field(lua, c"ok") {
        // Unlike an error, a status keeps the line ends at its end, as spaces.
        let text = String::from_utf8_lossy(&text).replace(['\r', '\n'], " ");
        return Ok(Reply::Status(text));
    }
    if get_field(lua, c"double") == ffi::LUA_TNUMBER {
        let value = ffi::lua_tonumber(lua, -1);
        ffi::lua_pop(lua, 1);
        return Ok(Reply::bulk(profile.format_double(value)));
    }
    ffi::lua_pop(lua, 1);
    for (name, with_values) in [(c"map", true), (c"set", false)] {
        let found = match get_field(lua, name) {
            ffi::LUA_TTABLE => Some(flat_reply(lua, profile, depth, with_values)),
            _ => None,
        };
        ffi::lua_pop(lua, 1);
        if let Some(reply) = found {
            return reply;
        }
    }
    if get_field(lua, c"big_number") == ffi::LUA_TSTRING {
        let text = bytes(lua, -1).map(<[u8]>::to_vec);
        ffi::lua_pop(lua, 1);
        return Ok(Reply::bulk_or_nil(text));
    }
    ffi::lua_pop(lua, 1);
    if get_field(lua, c"verbatim_string") == ffi::LUA_TTABLE {
        let (text, format) = (text_field(lua, c"string"), text_field(lua, c"format"));
        if let (Some(text), Some(_)) = (text, format) {
            ffi::lua_pop(lua, 1);
            return Ok(Reply::Bulk(text));
        }
    }
    ffi::lua_pop(lua, 1);
    let mut items = Vec::new();
    for index in 1.. {
        if ffi::lua_rawgeti(lua, -1, index) == ffi::LUA_TNIL {
            ffi::lua_pop(lua, 1);
            break;
        }
        items.push(pop_reply(lua, profile, depth + 1)?);
    }
    Ok(Reply::Array(items))
}

/// The keys, or keys and values, of the table on top.
unsafe fn flat_reply(
    lua: State,
    profile: Profile,
    depth: usize,
    with_values: bool,
) -> Result<Reply, TooDeep> {
    let mut items = Vec::new();
    ffi::lua_pushnil(lua);
    while ffi::lua_next(lua, -2) != 0 {
        ffi::lua_pushvalue(lua, -2);
        items.push(pop_reply(lua, profile, depth + 1)?);
        if with_values {
            items.push(pop_reply(lua, profile, depth + 1)?);
        } else {
            ffi::lua_pop(lua, 1);
        }
    }
    Ok(Reply::Array(items))
}

/// A string field of the table on top, cut at a NUL as C cuts it.
unsafe fn text_field(lua: State, name: &std::ffi::CStr) -> Option<Vec<u8>> {
    get_field(lua, name);
    let text = bytes(lua, -1).map(|text| {
        let end = text.iter().position(|byte| *byte == 0);
        text[..end.unwrap_or(text.len())].to_vec()
    });
    ffi::lua_pop(lua, 1);
    text
}

/// An error text without line ends, which would break the protocol.
pub(super) fn one_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.trim_matches(['\r', '\n']).replace(['\r', '\n'], " ")
}
