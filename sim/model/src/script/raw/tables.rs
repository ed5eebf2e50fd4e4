//! Those functions of `table`, and of the globals, that take long in one step. Lua counts only
//! instructions, so they count their work themselves.

use mlua::ffi;

use super::bridge;
use super::guards::{original, refuse_readonly, see_through_first};
use super::look;
use super::stack::{State, bytes};

/// Adds work to what the script has done, and ends it if that is too much.
///
/// # Safety
///
/// Called from a C function that owns nothing.
pub(super) unsafe fn work(lua: State, amount: usize) {
    if bridge::of(lua).charge(lua, amount).is_err() {
        look::stop(lua);
    }
}

/// How many elements from a position on a table has, as far as that is known before the
/// arguments are checked.
///
/// # Safety
///
/// Called from a C function.
unsafe fn rest(lua: State, position: i32) -> usize {
    if ffi::lua_type(lua, 1) != ffi::LUA_TTABLE {
        return 0;
    }
    let length = ffi::lua_objlen(lua, 1);
    let start = ffi::lua_tonumber(lua, position);
    match start >= 1.0 {
        true => length.saturating_sub(start as usize),
        false => length,
    }
}

/// `table.insert`, which moves what comes after.
///
/// # Safety
///
/// Called by Lua, with Lua's own function as upvalue.
pub(super) unsafe extern "C-unwind" fn insert(lua: State) -> i32 {
    refuse_readonly(lua);
    if ffi::lua_gettop(lua) == 3 && ffi::lua_type(lua, 1) == ffi::LUA_TTABLE {
        // Also what is not there is moved, in front of a table that begins at 1.
        let place = ffi::lua_tointeger(lua, 2) as i32;
        let moved = ffi::lua_objlen(lua, 1) as i64 - i64::from(place);
        work(lua, usize::try_from(moved).unwrap_or(0));
    }
    original(lua)
}

/// `table.remove`, which moves what comes after.
///
/// # Safety
///
/// As [`insert`].
pub(super) unsafe extern "C-unwind" fn remove(lua: State) -> i32 {
    if ffi::lua_gettop(lua) >= 2 {
        work(lua, rest(lua, 2));
    }
    original(lua)
}

/// `table.concat`.
///
/// # Safety
///
/// As [`insert`].
pub(super) unsafe extern "C-unwind" fn concat(lua: State) -> i32 {
    see_through_first(lua);
    work(lua, rest(lua, 3));
    original(lua)
}

/// `table.foreachi`.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn foreachi(lua: State) -> i32 {
    see_through_first(lua);
    ffi::luaL_checktype(lua, 1, ffi::LUA_TTABLE);
    let length = ffi::lua_objlen(lua, 1);
    ffi::luaL_checktype(lua, 2, ffi::LUA_TFUNCTION);
    for index in 1..=length {
        work(lua, 1);
        ffi::lua_pushvalue(lua, 2);
        ffi::lua_pushnumber(lua, index as f64);
        ffi::lua_rawgeti(lua, 1, index as ffi::lua_Integer);
        ffi::lua_call(lua, 2, 1);
        if ffi::lua_type(lua, -1) != ffi::LUA_TNIL {
            return 1;
        }
        ffi::lua_pop(lua, 1);
    }
    0
}

/// `table.foreach`.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn foreach(lua: State) -> i32 {
    see_through_first(lua);
    ffi::luaL_checktype(lua, 1, ffi::LUA_TTABLE);
    ffi::luaL_checktype(lua, 2, ffi::LUA_TFUNCTION);
    ffi::lua_pushnil(lua);
    while ffi::lua_next(lua, 1) != 0 {
        work(lua, 1);
        ffi::lua_pushvalue(lua, 2);
        ffi::lua_pushvalue(lua, -3);
        ffi::lua_pushvalue(lua, -3);
        ffi::lua_call(lua, 2, 1);
        if ffi::lua_type(lua, -1) != ffi::LUA_TNIL {
            return 1;
        }
        ffi::lua_pop(lua, 2);
    }
    0
}

/// `table.maxn`.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn maxn(lua: State) -> i32 {
    see_through_first(lua);
    ffi::luaL_checktype(lua, 1, ffi::LUA_TTABLE);
    let (mut largest, mut keys) = (0.0, 0);
    ffi::lua_pushnil(lua);
    while ffi::lua_next(lua, 1) != 0 {
        ffi::lua_pop(lua, 1);
        keys += 1;
        if ffi::lua_type(lua, -1) == ffi::LUA_TNUMBER && ffi::lua_tonumber(lua, -1) > largest {
            largest = ffi::lua_tonumber(lua, -1);
        }
    }
    work(lua, keys);
    ffi::lua_pushnumber(lua, largest);
    1
}

/// `table.sort`: puts a function of ours between, unless the script's own counts itself.
///
/// # Safety
///
/// As [`insert`].
pub(super) unsafe extern "C-unwind" fn sort(lua: State) -> i32 {
    let order = ffi::lua_type(lua, 2);
    if order == ffi::LUA_TNONE || order == ffi::LUA_TNIL || ffi::lua_iscfunction(lua, 2) != 0 {
        ffi::lua_settop(lua, 2);
        ffi::lua_pushcclosure(lua, compare, 1);
    }
    original(lua)
}

/// Whether the first argument comes before the second, by the order in the upvalue, if any.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn compare(lua: State) -> i32 {
    work(lua, 1);
    let order = ffi::lua_upvalueindex(1);
    if ffi::lua_type(lua, order) == ffi::LUA_TNIL {
        let less = ffi::lua_lessthan(lua, 1, 2);
        ffi::lua_pushboolean(lua, less);
    } else {
        ffi::lua_pushvalue(lua, order);
        ffi::lua_insert(lua, 1);
        ffi::lua_call(lua, 2, 1);
    }
    1
}

/// `unpack`. Lua's own counts the values in 32 bits, where a range can be too wide.
///
/// # Safety
///
/// As [`insert`].
pub(super) unsafe extern "C-unwind" fn unpack(lua: State) -> i32 {
    let bound = |index, otherwise| match ffi::lua_type(lua, index) {
        ffi::LUA_TNONE | ffi::LUA_TNIL => otherwise,
        _ => ffi::lua_tointeger(lua, index) as i32,
    };
    let length = match ffi::lua_type(lua, 1) {
        ffi::LUA_TTABLE => ffi::lua_objlen(lua, 1) as i32,
        _ => 0,
    };
    let (first, last) = (bound(2, 1), bound(3, length));
    if i64::from(last) - i64::from(first) >= i64::from(i32::MAX) {
        // Also where an argument has a wrong type, which is the smaller harm.
        return ffi::luaL_error(lua, c"too many results to unpack".as_ptr());
    }
    original(lua)
}

/// `collectgarbage`.
///
/// # Safety
///
/// As [`insert`].
pub(super) unsafe extern "C-unwind" fn collectgarbage(lua: State) -> i32 {
    /// How many bytes are looked through in the time of one instruction.
    const BYTES: usize = 4;
    let counts = matches!(bytes(lua, 1), Some(b"count"));
    if !counts {
        work(lua, bridge::of(lua).heap.used() / BYTES);
    }
    original(lua)
}
