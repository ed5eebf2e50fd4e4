//! Read-only tables on a Lua that has none.
//!
//! Redis patches Lua so that a table can be made read-only. Here such a table is an empty proxy:
//! its metatable finds everything in the real table and refuses to write. The functions of Lua
//! that work on tables without asking metatables are wrapped so that they see through a proxy,
//! or refuse it. A proxy is known by a mark that no script can make.

use std::ffi::c_void;

use mlua::{Function, IntoLua, Lua, Result, Table, Value, ffi};

use super::stack::{Outcome, State, bytes, finish, push_bytes, raise};

/// Its address is the mark.
static MARK: u8 = 0;

/// Where a proxy's metatable has the mark, the real table, and what `getmetatable` shows.
const MARK_SLOT: ffi::lua_Integer = 1;
const REAL_SLOT: ffi::lua_Integer = 2;
const SHOWN_SLOT: ffi::lua_Integer = 3;

const READONLY: &str = "Attempt to modify a readonly table";

/// Makes the proxy of a table. `shown` is what scripts get as its metatable.
pub(crate) fn readonly(lua: &Lua, real: &Table, shown: Option<&Table>) -> Result<Table> {
    let metatable = lua.create_table()?;
    let mark = mlua::LightUserData((&raw const MARK).cast_mut().cast::<c_void>());
    metatable.raw_set(MARK_SLOT, mark)?;
    metatable.raw_set(REAL_SLOT, real)?;
    metatable.raw_set(SHOWN_SLOT, shown)?;
    metatable.raw_set("__index", real)?;
    metatable.raw_set("__newindex", function(lua, refuse_write, Value::Nil)?)?;
    let proxy = lua.create_table()?;
    proxy.set_metatable(Some(metatable))?;
    Ok(proxy)
}

/// Wraps a function that writes to its first argument.
pub(crate) fn writer(lua: &Lua, original: Function) -> Result<Function> {
    function(lua, write_guard, original)
}

/// Wraps a function that reads its first argument.
pub(crate) fn reader(lua: &Lua, original: Function) -> Result<Function> {
    function(lua, read_guard, original)
}

/// `pairs`, where `next` already sees through proxies.
pub(crate) fn pairs(lua: &Lua, next: Function) -> Result<Function> {
    function(lua, iterate, next)
}

/// `getmetatable`, which shows nothing of a proxy.
pub(crate) fn getmetatable(lua: &Lua, original: Function) -> Result<Function> {
    function(lua, show_metatable, original)
}

/// `loadstring` without byte code.
pub(crate) fn loadstring(lua: &Lua, original: Function) -> Result<Function> {
    function(lua, load_text, original)
}

/// `load` without byte code.
pub(crate) fn load(lua: &Lua, original: Function) -> Result<Function> {
    function(lua, load_pieces, original)
}

/// The `__index` of the globals: a name that nobody has set is an error.
pub(crate) fn unknown_global(lua: &Lua) -> Result<Function> {
    function(lua, refuse_unknown_global, Value::Nil)
}

/// A C function of this file with one upvalue.
fn function(lua: &Lua, code: ffi::lua_CFunction, upvalue: impl IntoLua) -> Result<Function> {
    // SAFETY: `exec_raw` pushes the upvalue and runs protected; a closure takes its place.
    unsafe {
        lua.exec_raw(upvalue.into_lua(lua)?, |state| {
            ffi::lua_pushcclosure(state, code, 1)
        })
    }
}

/// If the value at `index` is a proxy, pushes a slot of its metatable.
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

/// Runs the wrapped C function in this call, so that its error texts name the right position.
unsafe fn original(lua: State) -> i32 {
    match ffi::lua_tocfunction(lua, ffi::lua_upvalueindex(1)) {
        // These functions have no upvalues of their own that they would miss.
        Some(original) => original(lua),
        None => 0,
    }
}

unsafe extern "C-unwind" fn write_guard(lua: State) -> i32 {
    if push_slot(lua, 1, REAL_SLOT) {
        // Without a position: in Redis the C function itself is what wrote.
        let outcome = raise(lua, READONLY);
        return finish(lua, outcome);
    }
    original(lua)
}

unsafe extern "C-unwind" fn read_guard(lua: State) -> i32 {
    if push_slot(lua, 1, REAL_SLOT) {
        ffi::lua_replace(lua, 1);
    }
    original(lua)
}

unsafe extern "C-unwind" fn iterate(lua: State) -> i32 {
    ffi::luaL_checktype(lua, 1, ffi::LUA_TTABLE);
    ffi::lua_pushvalue(lua, ffi::lua_upvalueindex(1));
    ffi::lua_pushvalue(lua, 1);
    ffi::lua_pushnil(lua);
    3
}

unsafe extern "C-unwind" fn show_metatable(lua: State) -> i32 {
    if push_slot(lua, 1, SHOWN_SLOT) {
        return 1;
    }
    original(lua)
}

unsafe extern "C-unwind" fn refuse_write(lua: State) -> i32 {
    ffi::luaL_error(lua, c"Attempt to modify a readonly table".as_ptr())
}

unsafe extern "C-unwind" fn refuse_unknown_global(lua: State) -> i32 {
    ffi::luaL_error(
        lua,
        c"Script attempted to access nonexistent global variable '%s'".as_ptr(),
        // Globals are reached by name; `rawget` does not come here.
        match ffi::lua_type(lua, 2) {
            ffi::LUA_TSTRING => ffi::lua_tolstring(lua, 2, std::ptr::null_mut()),
            kind => ffi::lua_typename(lua, kind),
        },
    )
}

/// The first byte of compiled Lua.
const BYTE_CODE: u8 = 0x1b;

/// Leaves nil and the message of a parser that takes byte code for text.
unsafe fn refuse_byte_code(lua: State, code: &[u8]) -> Outcome {
    let end = code.iter().position(|byte| matches!(byte, 0 | b'\n'));
    let shown = String::from_utf8_lossy(&code[..end.unwrap_or(code.len())]).into_owned();
    let message = format!("[string \"{shown}\"]:1: unexpected symbol near 'char(27)'");
    ffi::lua_pushnil(lua);
    push_bytes(lua, message.as_bytes());
    Outcome::Results(2)
}

unsafe extern "C-unwind" fn load_text(lua: State) -> i32 {
    match bytes(lua, 1) {
        Some(code) if code.first() == Some(&BYTE_CODE) => {
            let outcome = refuse_byte_code(lua, code);
            finish(lua, outcome)
        }
        _ => original(lua),
    }
}

/// Puts a guard in place of the reader function and loads through it.
unsafe extern "C-unwind" fn load_pieces(lua: State) -> i32 {
    ffi::luaL_checktype(lua, 1, ffi::LUA_TFUNCTION);
    ffi::lua_pushvalue(lua, 1);
    ffi::lua_pushcclosure(lua, guarded_piece, 1);
    ffi::lua_replace(lua, 1);
    original(lua)
}

unsafe extern "C-unwind" fn guarded_piece(lua: State) -> i32 {
    ffi::lua_settop(lua, 0);
    ffi::lua_pushvalue(lua, ffi::lua_upvalueindex(1));
    ffi::lua_call(lua, 0, 1);
    match bytes(lua, 1) {
        // No text of a Lua program has this byte outside of a string, so a later piece that
        // starts with it is rare enough to be refused with the same words.
        Some(code) if code.first() == Some(&BYTE_CODE) => {
            ffi::luaL_error(lua, c"unexpected symbol near 'char(27)'".as_ptr())
        }
        _ => 1,
    }
}
