//! Read-only tables on a Lua that has none.
//!
//! Redis patches Lua so that a table can be made read-only. Here such a table is an empty proxy:
//! its metatable finds everything in the real table and refuses to write. The functions of Lua
//! that work on tables without asking metatables are wrapped so that they see through a proxy,
//! or refuse it. A proxy is known by a mark that no script can make.

use std::ffi::c_void;

use mlua::{Function, IntoLua, Lua, Result, Table, Value, ffi};

use super::stack::{State, push_bytes};

/// Its address is the mark.
static MARK: u8 = 0;

/// Where a proxy's metatable has the mark, the real table, and what `getmetatable` shows.
const MARK_SLOT: ffi::lua_Integer = 1;
const REAL_SLOT: ffi::lua_Integer = 2;
const SHOWN_SLOT: ffi::lua_Integer = 3;

/// Makes the proxy of a table. `shown` is what scripts get as its metatable.
pub(crate) fn readonly(lua: &Lua, real: &Table, shown: Option<&Table>) -> Result<Table> {
    let metatable = lua.create_table()?;
    let mark = mlua::LightUserData((&raw const MARK).cast_mut().cast::<c_void>());
    metatable.raw_set(MARK_SLOT, mark)?;
    metatable.raw_set(REAL_SLOT, real)?;
    metatable.raw_set(SHOWN_SLOT, shown)?;
    metatable.raw_set("__index", real)?;
    metatable.raw_set("__newindex", wrap(lua, refuse_write, Value::Nil)?)?;
    let proxy = lua.create_table()?;
    proxy.set_metatable(Some(metatable))?;
    Ok(proxy)
}

/// Wraps a function that writes to its first argument.
pub(crate) fn writer(lua: &Lua, original: Function) -> Result<Function> {
    wrap(lua, write_guard, original)
}

/// Wraps a function that reads its first argument.
pub(crate) fn reader(lua: &Lua, original: Function) -> Result<Function> {
    wrap(lua, read_guard, original)
}

/// `pairs`, where `next` already sees through proxies.
pub(crate) fn pairs(lua: &Lua, next: Function) -> Result<Function> {
    wrap(lua, iterate, next)
}

/// `getmetatable`, which shows nothing of a proxy.
pub(crate) fn getmetatable(lua: &Lua, original: Function) -> Result<Function> {
    wrap(lua, show_metatable, original)
}

/// The `__index` of the globals: a name that nobody has set is an error.
pub(crate) fn unknown_global(lua: &Lua) -> Result<Function> {
    wrap(lua, refuse_unknown_global, Value::Nil)
}

/// A C function with one upvalue.
pub(super) fn wrap(lua: &Lua, code: ffi::lua_CFunction, upvalue: impl IntoLua) -> Result<Function> {
    // SAFETY: `exec_raw` pushes the upvalue and runs protected; a closure takes its place.
    unsafe {
        lua.exec_raw(upvalue.into_lua(lua)?, |state| {
            ffi::lua_pushcclosure(state, code, 1)
        })
    }
}

/// If the value at `index` is a proxy, pushes a slot of its metatable.
///
/// # Safety
///
/// The index is valid, and there are two free slots.
unsafe fn push_slot(lua: State, index: i32, slot: ffi::lua_Integer) -> bool {
    if ffi::lua_type(lua, index) != ffi::LUA_TTABLE || ffi::lua_getmetatable(lua, index) == 0 {
        return false;
    }
    ffi::lua_rawgeti(lua, -1, MARK_SLOT);
    let found = ffi::lua_touserdata(lua, -1);
    ffi::lua_pop(lua, 1);
    if !std::ptr::eq(found.cast::<u8>(), &raw const MARK) {
        ffi::lua_pop(lua, 1);
        return false;
    }
    ffi::lua_rawgeti(lua, -1, slot);
    ffi::lua_remove(lua, -2);
    true
}

/// Whether the value at an index is a read-only table.
///
/// # Safety
///
/// There are two free slots.
pub(super) unsafe fn is_readonly(lua: State, index: i32) -> bool {
    let found = push_slot(lua, index, REAL_SLOT);
    if found {
        ffi::lua_pop(lua, 1);
    }
    found
}

/// Puts the real table in place of a proxy on top.
///
/// # Safety
///
/// There is a value on top, and there are two free slots.
pub(super) unsafe fn see_through(lua: State) {
    if push_slot(lua, -1, REAL_SLOT) {
        ffi::lua_remove(lua, -2);
    }
}

/// Puts the real table in place of a proxy that is the first argument.
///
/// # Safety
///
/// Called from a C function.
pub(super) unsafe fn see_through_first(lua: State) {
    if push_slot(lua, 1, REAL_SLOT) {
        ffi::lua_replace(lua, 1);
    }
}

/// Raises if the first argument is a read-only table. Without a position: in Redis the C function
/// itself is what writes.
///
/// # Safety
///
/// Called from a C function that owns nothing.
pub(super) unsafe fn refuse_readonly(lua: State) {
    if is_readonly(lua, 1) {
        push_bytes(lua, b"Attempt to modify a readonly table");
        ffi::lua_error(lua);
    }
}

/// Runs the wrapped C function in this call, so that its error texts name the right position.
///
/// # Safety
///
/// The first upvalue is a C function without upvalues of its own.
pub(super) unsafe fn original(lua: State) -> i32 {
    match ffi::lua_tocfunction(lua, ffi::lua_upvalueindex(1)) {
        Some(original) => original(lua),
        None => 0,
    }
}

/// # Safety
///
/// Called by Lua; as [`original`].
unsafe extern "C-unwind" fn write_guard(lua: State) -> i32 {
    refuse_readonly(lua);
    original(lua)
}

/// # Safety
///
/// Called by Lua; as [`original`].
unsafe extern "C-unwind" fn read_guard(lua: State) -> i32 {
    see_through_first(lua);
    original(lua)
}

/// # Safety
///
/// Called by Lua, with `next` as upvalue.
unsafe extern "C-unwind" fn iterate(lua: State) -> i32 {
    ffi::luaL_checktype(lua, 1, ffi::LUA_TTABLE);
    ffi::lua_pushvalue(lua, ffi::lua_upvalueindex(1));
    ffi::lua_pushvalue(lua, 1);
    ffi::lua_pushnil(lua);
    3
}

/// # Safety
///
/// Called by Lua; as [`original`].
unsafe extern "C-unwind" fn show_metatable(lua: State) -> i32 {
    if push_slot(lua, 1, SHOWN_SLOT) {
        return 1;
    }
    original(lua)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn refuse_write(lua: State) -> i32 {
    ffi::luaL_error(lua, c"Attempt to modify a readonly table".as_ptr())
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn refuse_unknown_global(lua: State) -> i32 {
    if ffi::lua_isstring(lua, 2) == 0 {
        return ffi::luaL_error(
            lua,
            c"Second argument to luaProtectedTableError must be a string or number".as_ptr(),
        );
    }
    ffi::luaL_error(
        lua,
        c"Script attempted to access nonexistent global variable '%s'".as_ptr(),
        ffi::lua_tolstring(lua, 2, std::ptr::null_mut()),
    )
}
