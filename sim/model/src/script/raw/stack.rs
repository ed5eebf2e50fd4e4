//! Small steps on the Lua stack.

use std::ffi::CStr;
use std::{ptr, slice};

use mlua::ffi;

/// A Lua thread, as C functions get it.
pub(super) type State = *mut ffi::lua_State;

/// How the half of a function that owned Rust values ended: see [`owning`](super::bridge::owning).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// So many results are on top of the stack.
    Results(i32),
    /// The error value is on top of the stack.
    Raise,
}

/// The string at an index. A number is not converted.
///
/// # Safety
///
/// The index is valid, and the string stays reachable from Lua while the slice is in use.
pub(super) unsafe fn bytes<'a>(lua: State, index: i32) -> Option<&'a [u8]> {
    if ffi::lua_type(lua, index) != ffi::LUA_TSTRING {
        return None;
    }
    let mut length = 0;
    let start = ffi::lua_tolstring(lua, index, &raw mut length);
    Some(slice::from_raw_parts(start.cast(), length))
}

/// A string argument. A number becomes a string, and anything else raises.
///
/// # Safety
///
/// As [`bytes()`], and the callers own nothing.
pub(super) unsafe fn text<'a>(lua: State, index: i32) -> &'a [u8] {
    ffi::luaL_checklstring(lua, index, ptr::null_mut());
    bytes(lua, index).unwrap_or_default()
}

/// Pushes a string.
///
/// # Safety
///
/// There is a free slot.
pub(super) unsafe fn push_bytes(lua: State, bytes: &[u8]) {
    ffi::lua_pushlstring_(lua, bytes.as_ptr().cast(), bytes.len());
}

/// Sets `table[name]` to the value on top, where the table lies just below it. Pops the value.
///
/// # Safety
///
/// The stack is as described, and there are two free slots.
pub(super) unsafe fn set_field(lua: State, name: &CStr) {
    push_bytes(lua, name.to_bytes());
    ffi::lua_insert(lua, -2);
    ffi::lua_rawset(lua, -3);
}

/// Pushes `table[name]` without metamethods, for the table on top.
///
/// # Safety
///
/// A table is on top, and there is a free slot.
pub(super) unsafe fn get_field(lua: State, name: &CStr) -> i32 {
    push_bytes(lua, name.to_bytes());
    ffi::lua_rawget(lua, -2)
}

/// Leaves a message on the stack with the position of the Lua code that called the running
/// function, as `luaL_error` words it. All else goes, for the stack may be full.
///
/// # Safety
///
/// The message does not lie on the stack, and nothing else there is needed any more.
pub(super) unsafe fn raise_here(lua: State, message: &str) -> Outcome {
    ffi::lua_settop(lua, 0);
    ffi::luaL_where(lua, 1);
    push_bytes(lua, message.as_bytes());
    ffi::lua_concat(lua, 2);
    Outcome::Raise
}

/// Makes room for so many values, or raises as `luaL_checkstack` of Lua 5.1 does. That of `mlua` is
/// a later one, which wants more room.
///
/// # Safety
///
/// The callers own nothing.
pub(super) unsafe fn make_room(lua: State, count: i32, what: &CStr) {
    if ffi::lua_checkstack(lua, count) == 0 {
        ffi::luaL_error(lua, c"stack overflow (%s)".as_ptr(), what.as_ptr());
    }
}
