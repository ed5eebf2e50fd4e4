//! `cjson.encode`.

use mlua::ffi;

use super::bridge;
use super::stack::{Outcome, State, bytes, finish, push_bytes, raise_here};
use crate::number;
use crate::script::json::{self, Settings};

/// `cjson.encode`.
///
/// # Safety
///
/// Called by Lua, with the bridge as upvalue.
pub(super) unsafe extern "C-unwind" fn encode(lua: State) -> i32 {
    if ffi::lua_gettop(lua) != 1 {
        return ffi::luaL_argerror(lua, 1, c"expected 1 argument".as_ptr());
    }
    let outcome = encode_first(lua);
    finish(lua, outcome)
}

unsafe fn encode_first(lua: State) -> Outcome {
    let settings = bridge::of(lua).json_settings();
    let mut out = Vec::new();
    match write(lua, &settings, 0, &mut out) {
        Ok(()) => {
            push_bytes(lua, &out);
            Outcome::Results(1)
        }
        Err(message) => {
            // Wherever the walk stopped, only the message matters now.
            ffi::lua_settop(lua, 0);
            raise_here(lua, &message)
        }
    }
}

unsafe fn refuse(lua: State, index: i32, reason: &str) -> String {
    let name = std::ffi::CStr::from_ptr(ffi::lua_typename(lua, ffi::lua_type(lua, index)));
    format!("Cannot serialise {}: {reason}", name.to_string_lossy())
}

/// Appends the value on top, which stays there.
unsafe fn write(
    lua: State,
    settings: &Settings,
    depth: i32,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    match ffi::lua_type(lua, -1) {
        ffi::LUA_TSTRING => json::write_string(out, bytes(lua, -1).unwrap_or_default()),
        ffi::LUA_TNUMBER => settings
            .write_number(out, ffi::lua_tonumber(lua, -1))
            .map_err(|reason| refuse(lua, -1, reason))?,
        ffi::LUA_TBOOLEAN => out.extend_from_slice(match ffi::lua_toboolean(lua, -1) {
            0 => b"false",
            _ => b"true",
        }),
        ffi::LUA_TTABLE => {
            let depth = depth + 1;
            if depth > settings.encode_max_depth || ffi::lua_checkstack(lua, 6) == 0 {
                return Err(format!("Cannot serialise, excessive nesting ({depth})"));
            }
            match array_length(lua, settings)? {
                Some(length) => write_array(lua, settings, depth, length, out)?,
                None => write_object(lua, settings, depth, out)?,
            }
        }
        ffi::LUA_TNIL => out.extend_from_slice(b"null"),
        ffi::LUA_TLIGHTUSERDATA if ffi::lua_touserdata(lua, -1).is_null() => {
            out.extend_from_slice(b"null");
        }
        _ => return Err(refuse(lua, -1, "type not supported")),
    }
    Ok(())
}

/// The largest index, if the table on top has only whole positive keys, and any.
unsafe fn array_length(lua: State, settings: &Settings) -> Result<Option<i32>, String> {
    let (mut largest, mut items) = (0_i32, 0_i32);
    ffi::lua_pushnil(lua);
    while ffi::lua_next(lua, -2) != 0 {
        let key = match ffi::lua_type(lua, -2) {
            ffi::LUA_TNUMBER => ffi::lua_tonumber(lua, -2),
            _ => 0.0,
        };
        if key.floor() != key || key < 1.0 {
            ffi::lua_pop(lua, 2);
            return Ok(None);
        }
        if key > f64::from(largest) {
            largest = to_int(key);
        }
        items += 1;
        ffi::lua_pop(lua, 1);
    }
    let (ratio, safe) = (settings.sparse_ratio, settings.sparse_safe);
    if ratio > 0 && largest > items.wrapping_mul(ratio) && largest > safe {
        if !settings.sparse_convert {
            return Err(refuse(lua, -1, "excessively sparse array"));
        }
        return Ok(None);
    }
    Ok((largest > 0).then_some(largest))
}

/// C's conversion of a double to `int` on x86-64: the smallest one where it does not fit.
fn to_int(value: f64) -> i32 {
    i32::try_from(number::truncate_like_x86(value)).unwrap_or(i32::MIN)
}

unsafe fn write_array(
    lua: State,
    settings: &Settings,
    depth: i32,
    length: i32,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    out.push(b'[');
    for index in 1..=length {
        if index > 1 {
            out.push(b',');
        }
        ffi::lua_rawgeti(lua, -1, index.into());
        write(lua, settings, depth, out)?;
        ffi::lua_pop(lua, 1);
    }
    out.push(b']');
    Ok(())
}

unsafe fn write_object(
    lua: State,
    settings: &Settings,
    depth: i32,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    out.push(b'{');
    let mut first = true;
    ffi::lua_pushnil(lua);
    while ffi::lua_next(lua, -2) != 0 {
        if !first {
            out.push(b',');
        }
        first = false;
        match ffi::lua_type(lua, -2) {
            ffi::LUA_TNUMBER => {
                out.push(b'"');
                settings
                    .write_number(out, ffi::lua_tonumber(lua, -2))
                    .map_err(|reason| refuse(lua, -2, reason))?;
                out.push(b'"');
            }
            ffi::LUA_TSTRING => json::write_string(out, bytes(lua, -2).unwrap_or_default()),
            _ => return Err(refuse(lua, -2, "table key must be a number or string")),
        }
        out.push(b':');
        write(lua, settings, depth, out)?;
        ffi::lua_pop(lua, 1);
    }
    out.push(b'}');
    Ok(())
}
