//! `__redis__err__handler`, and the reply for the error that it explained.

use std::ffi::CStr;
use std::mem::MaybeUninit;

use mlua::ffi;

use super::bridge;
use super::stack::{State, bytes, push_bytes};
use super::tables::compare;
use super::to_reply::one_line;
use crate::arguments::spaced;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;

/// What Redis calls the code of its handler, and the line where that writes to the error.
const OWN_SOURCE: &CStr = c"@err_handler_def";
const OWN_LINE: i32 = 10;

/// Makes a table of any error and adds where it came from.
///
/// # Safety
///
/// Called by Lua with the error value.
pub(super) unsafe extern "C-unwind" fn explain(lua: State) -> i32 {
    ffi::lua_settop(lua, 1);
    if super::guards::is_readonly(lua, 1) {
        // Redis' own handler fails to write to it, and is called again for that.
        push_bytes(
            lua,
            b"err_handler_def:10: Attempt to modify a readonly table",
        );
        ffi::lua_error(lua);
    }
    if ffi::lua_type(lua, 1) != ffi::LUA_TTABLE {
        as_table(lua);
    }
    let mut place = MaybeUninit::<ffi::lua_Debug>::zeroed();
    let place = place.as_mut_ptr();
    // Level 0 is this function.
    let mut level = 1;
    let mut found = ffi::lua_getstack(lua, level, place) != 0;
    if found && runs(lua, place, explain) {
        add_place(lua, OWN_SOURCE, OWN_LINE);
        return 1;
    }
    if found && runs(lua, place, compare) {
        // Redis has nothing between the function that sorts and what fails.
        level += 1;
        found = ffi::lua_getstack(lua, level, place) != 0;
    }
    if found {
        ffi::lua_getinfo(lua, c"Sl".as_ptr(), place);
        if CStr::from_ptr((*place).what) == c"C" {
            // A C function has no line, so its caller's is taken.
            found = ffi::lua_getstack(lua, level + 1, place) != 0;
            if found {
                ffi::lua_getinfo(lua, c"Sl".as_ptr(), place);
            }
        }
    }
    if found {
        add_place(lua, CStr::from_ptr((*place).source), (*place).currentline);
    }
    1
}

/// Adds a place to the error. With metamethods, as Redis' handler is Lua code.
///
/// # Safety
///
/// Called from a C function that owns nothing, whose first value is a table.
unsafe fn add_place(lua: State, source: &CStr, line: i32) {
    ffi::lua_pushstring_(lua, source.as_ptr());
    ffi::lua_setfield(lua, 1, c"source".as_ptr());
    ffi::lua_pushnumber(lua, f64::from(line));
    ffi::lua_setfield(lua, 1, c"line".as_ptr());
}

/// Whether a level of the call stack is a call of this function.
///
/// # Safety
///
/// `place` is a level of the stack as `lua_getstack` found it, and there is a free slot.
unsafe fn runs(lua: State, place: *mut ffi::lua_Debug, function: ffi::lua_CFunction) -> bool {
    ffi::lua_getinfo(lua, c"f".as_ptr(), place);
    let found = ffi::lua_tocfunction(lua, -1);
    ffi::lua_pop(lua, 1);
    found.is_some_and(|found| std::ptr::fn_addr_eq(found, function))
}

/// Replaces the only value by a table with its text.
///
/// # Safety
///
/// Called from a C function that owns nothing, with one value on its stack.
unsafe fn as_table(lua: State) {
    ffi::lua_createtable(lua, 0, 3);
    push_bytes(lua, b"ERR ");
    ffi::luaL_tolstring(lua, 1, std::ptr::null_mut());
    ffi::lua_concat(lua, 2);
    ffi::lua_setfield(lua, -2, c"err".as_ptr());
    ffi::lua_replace(lua, 1);
}

/// The reply for the error value on top, of the script of a name.
///
/// # Safety
///
/// Nothing of a script runs, and memory is granted.
pub(super) unsafe fn error_answer(lua: State, name: &str) -> Answer {
    if ffi::lua_type(lua, -1) != ffi::LUA_TTABLE {
        // The handler makes a table of everything, unless it fails itself.
        let text = bytes(lua, -1).unwrap_or(b"execution failure");
        let text = one_line(&text[..text.len().min(100)]);
        return Err(Refusal::line(&[
            &"ERR Error running script ",
            &name,
            &", ",
            &text,
        ]));
    }
    let Some(mut text) = field(lua, c"err") else {
        return Err(Refusal::unsupported(
            "raising a table without err, which kills Redis 7.0.15",
        ));
    };
    let (source, line) = (field(lua, c"source"), field(lua, c"line"));
    if let (Some(source), Some(line)) = (source, line) {
        text.extend(format!(" script: {name}, on ").bytes());
        text.extend([&source[..], b":", &line, b"."].concat());
    }
    Ok(Reply::Error(spaced(&text)))
}

/// A text or number in the table on top, or from its metamethod, up to its first NUL.
///
/// # Safety
///
/// A value is on top with three free slots over it, nothing of a script runs, and memory is
/// granted.
unsafe fn field(lua: State, name: &CStr) -> Option<Vec<u8>> {
    ffi::lua_pushcclosure(lua, get_field, 0);
    ffi::lua_pushvalue(lua, -2);
    push_bytes(lua, name.to_bytes());
    let heap = &bridge::of(lua).heap;
    heap.enforce();
    let status = ffi::lua_pcall(lua, 2, 1, 0);
    heap.relax();
    let text = match status == 0 && ffi::lua_isstring(lua, -1) != 0 {
        // Redis dies of an error here.
        false => None,
        true => {
            // Converts a number in its place on the stack.
            ffi::lua_tolstring(lua, -1, std::ptr::null_mut());
            bytes(lua, -1).map(|text| {
                let end = text.iter().position(|byte| *byte == 0);
                text[..end.unwrap_or(text.len())].to_vec()
            })
        }
    };
    ffi::lua_pop(lua, 1);
    text
}

/// # Safety
///
/// Called by Lua with a value and a key.
unsafe extern "C-unwind" fn get_field(lua: State) -> i32 {
    ffi::lua_gettable(lua, 1);
    1
}
