//! Compiling Lua: `load`, `loadstring`, and the script itself.
//!
//! Lua takes a text that begins with the escape character for a compiled program, which can
//! break out of anything; Redis' Lua reads all as text. Here such a text gets a space in front,
//! after which Lua takes it for a text and complains about the right character.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use mlua::ffi;

use super::bridge;
use super::look;
use super::protected::unless_stopped;
use super::stack::{State, bytes, make_room};

/// The first byte of a compiled program.
const BYTE_CODE: u8 = 0x1b;

const SPACE: &[u8] = b" ";

/// How much Lua reads between two looks at the limits. Its compiler takes very long for some texts.
const PIECE_LENGTH: usize = 4096;

/// A text that Lua reads in pieces.
struct Text<'a> {
    rest: &'a [u8],
    needs_space: bool,
}

impl<'a> Text<'a> {
    fn new(code: &'a [u8]) -> Self {
        Text {
            rest: code,
            needs_space: code.first() == Some(&BYTE_CODE),
        }
    }

    fn next(&mut self) -> &'a [u8] {
        if std::mem::take(&mut self.needs_space) {
            return SPACE;
        }
        let (piece, rest) = self.rest.split_at(self.rest.len().min(PIECE_LENGTH));
        self.rest = rest;
        piece
    }
}

/// # Safety
///
/// Called by Lua with the [`Text`] that [`compile`] gave it and a place for the length.
unsafe extern "C-unwind" fn next_piece(
    lua: State,
    text: *mut c_void,
    length: *mut usize,
) -> *const c_char {
    let piece = (*text.cast::<Text<'_>>()).next();
    go_on_compiling(lua, piece.len());
    *length = piece.len();
    piece.as_ptr().cast()
}

/// Looks at the limits before a piece of so many bytes.
///
/// # Safety
///
/// Called while Lua compiles, from a C function that owns nothing.
unsafe fn go_on_compiling(lua: State, length: usize) {
    let bridge = bridge::of(lua);
    let found = bridge.meter.add(length as u64 + 1);
    let found = found.and_then(|()| bridge.meter.check_time());
    if bridge.heed(lua, found).is_err() {
        look::stop(lua);
    }
}

/// Pushes the function of a program, or an error text if it is not 0 that is returned.
///
/// # Safety
///
/// There is a free slot.
pub(super) unsafe fn compile(lua: State, code: &[u8], name: &CStr) -> i32 {
    let mut text = Text::new(code);
    ffi::lua_load(lua, next_piece, (&raw mut text).cast(), name.as_ptr())
}

/// Returns what [`compile`] pushed, as Lua's own functions do.
///
/// # Safety
///
/// The callers own nothing. What [`compile`] pushed is on top, with a free slot over it.
unsafe fn compiled(lua: State, status: i32) -> i32 {
    if status == 0 {
        return 1;
    }
    unless_stopped(lua, 0);
    ffi::lua_pushnil(lua);
    ffi::lua_insert(lua, -2);
    2
}

/// `loadstring`.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn loadstring(lua: State) -> i32 {
    let code = ffi::luaL_checklstring(lua, 1, ptr::null_mut());
    let name = CStr::from_ptr(ffi::luaL_optstring(lua, 2, code));
    let code = bytes(lua, 1).unwrap_or_default();
    let status = compile(lua, code, name);
    compiled(lua, status)
}

/// Where `load` keeps the last piece, so that it is not collected.
const PIECE: i32 = 3;

/// How far `load` has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Start,
    /// A space was put in front of the first piece, which is still to come.
    Held,
    Running,
}

/// `load`.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn load(lua: State) -> i32 {
    let name = ffi::luaL_optstring(lua, 2, c"=(load)".as_ptr());
    ffi::luaL_checktype(lua, 1, ffi::LUA_TFUNCTION);
    ffi::lua_settop(lua, PIECE);
    let mut progress = Progress::Start;
    let status = ffi::lua_load(lua, next_result, (&raw mut progress).cast(), name);
    compiled(lua, status)
}

/// Gets the next piece from the function of the script.
///
/// # Safety
///
/// Called by Lua with the [`Progress`] that [`load`] gave it and a place for the length.
unsafe extern "C-unwind" fn next_result(
    lua: State,
    progress: *mut c_void,
    length: *mut usize,
) -> *const c_char {
    let progress = &mut *progress.cast::<Progress>();
    let before = std::mem::replace(progress, Progress::Running);
    if before != Progress::Held {
        make_room(lua, 2, c"too many nested functions");
        ffi::lua_pushvalue(lua, 1);
        ffi::lua_call(lua, 0, 1);
        if ffi::lua_type(lua, -1) == ffi::LUA_TNIL {
            *length = 0;
            return ptr::null();
        }
        if ffi::lua_isstring(lua, -1) == 0 {
            ffi::luaL_error(lua, c"reader function must return a string".as_ptr());
        }
        ffi::lua_replace(lua, PIECE);
    }
    let piece = ffi::lua_tolstring(lua, PIECE, length);
    let compiled = *length > 0 && *piece.cast::<u8>() == BYTE_CODE;
    if before == Progress::Start && compiled {
        *progress = Progress::Held;
        *length = SPACE.len();
        return SPACE.as_ptr().cast();
    }
    // The function may be one of C, which Lua does not count.
    go_on_compiling(lua, *length);
    piece
}
