//! `bit`: operations on 32 bits.

use std::ffi::CStr;

use mlua::ffi;

use super::stack::{State, push_bytes};
use crate::script::bits;

/// The functions of `bit` by name.
pub(super) const FUNCTIONS: &[(&CStr, ffi::lua_CFunction)] = &[
    (c"tobit", tobit),
    (c"bnot", bnot),
    (c"bswap", bswap),
    (c"band", band),
    (c"bor", bor),
    (c"bxor", bxor),
    (c"lshift", lshift),
    (c"rshift", rshift),
    (c"arshift", arshift),
    (c"rol", rol),
    (c"ror", ror),
    (c"tohex", tohex),
];

/// # Safety
///
/// Called from a C function that owns nothing: anything but a number raises.
unsafe fn argument(lua: State, index: i32) -> u32 {
    bits::of(ffi::luaL_checknumber(lua, index))
}

/// # Safety
///
/// There is a free slot.
unsafe fn answer(lua: State, value: u32) -> i32 {
    ffi::lua_pushnumber(lua, f64::from(value as i32));
    1
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn tobit(lua: State) -> i32 {
    answer(lua, argument(lua, 1))
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn bnot(lua: State) -> i32 {
    answer(lua, !argument(lua, 1))
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn bswap(lua: State) -> i32 {
    answer(lua, argument(lua, 1).swap_bytes())
}

/// Combines all arguments: the first, and then from the last on.
///
/// # Safety
///
/// As [`argument`].
unsafe fn fold(lua: State, combine: fn(u32, u32) -> u32) -> i32 {
    let mut value = argument(lua, 1);
    for index in (2..=ffi::lua_gettop(lua)).rev() {
        value = combine(value, argument(lua, index));
    }
    answer(lua, value)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn band(lua: State) -> i32 {
    fold(lua, |one, two| one & two)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn bor(lua: State) -> i32 {
    fold(lua, |one, two| one | two)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn bxor(lua: State) -> i32 {
    fold(lua, |one, two| one ^ two)
}

/// Moves the bits of the first argument by the second, modulo 32.
///
/// # Safety
///
/// As [`argument`].
unsafe fn shift(lua: State, moved: fn(u32, u32) -> u32) -> i32 {
    let value = argument(lua, 1);
    answer(lua, moved(value, argument(lua, 2)))
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn lshift(lua: State) -> i32 {
    shift(lua, u32::wrapping_shl)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn rshift(lua: State) -> i32 {
    shift(lua, u32::wrapping_shr)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn arshift(lua: State) -> i32 {
    shift(lua, |value, by| (value as i32).wrapping_shr(by) as u32)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn rol(lua: State) -> i32 {
    shift(lua, |value, by| value.rotate_left(by & 31))
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn ror(lua: State) -> i32 {
    shift(lua, |value, by| value.rotate_right(by & 31))
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn tohex(lua: State) -> i32 {
    let value = argument(lua, 1);
    let digits = match ffi::lua_type(lua, 2) {
        ffi::LUA_TNONE => 8,
        _ => argument(lua, 2) as i32,
    };
    let text = bits::hex(value, digits < 0);
    let count = (digits.unsigned_abs() as usize).min(text.len());
    push_bytes(lua, &text[text.len() - count..]);
    1
}
