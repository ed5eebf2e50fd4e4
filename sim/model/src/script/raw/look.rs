//! The looks at a script's limits, and how one that has reached them is stopped.

use std::ffi::CStr;
use std::mem::MaybeUninit;

use mlua::ffi;

use super::bridge;
use super::stack::State;
use crate::script::limits::Place;

/// The hook that Lua calls after every so many instructions, or when it was given much memory.
///
/// # Safety
///
/// Called by Lua, in a state with a bridge.
pub(super) unsafe extern "C-unwind" fn look(lua: State, _: *mut ffi::lua_Debug) {
    let bridge = bridge::of(lua);
    let heap = &bridge.heap;
    let count = ffi::lua_gethookcount(lua).unsigned_abs();
    let found = bridge.meter.add_instructions(count.into(), heap.granted());
    if let Err(limit) = found {
        bridge.meter.stop(limit, place(lua, 0));
        stop(lua);
        return;
    }
    bridge.collect_if_due(lua);
    let next = heap.instructions_per_look();
    ffi::lua_sethook(lua, Some(look), ffi::LUA_MASKCOUNT, next);
}

/// Ends the running function, and every protected call of ours around it: raises the error of a
/// Lua that has no memory left, because no error handler of a script is called for that one.
///
/// # Safety
///
/// The meter is stopped, and nothing with a destructor is alive in the callers.
pub(super) unsafe fn stop(lua: State) -> i32 {
    bridge::of(lua).heap.refuse_next();
    ffi::lua_newuserdata(lua, 0);
    // Not reached: the request was refused.
    ffi::luaL_error(lua, c"not enough memory".as_ptr())
}

/// Where the function at a level of the call stack is.
///
/// # Safety
///
/// `lua` is a valid state.
pub(super) unsafe fn place(lua: State, level: i32) -> Option<Place> {
    let mut found = MaybeUninit::<ffi::lua_Debug>::zeroed();
    let found = found.as_mut_ptr();
    if ffi::lua_getstack(lua, level, found) == 0 {
        return None;
    }
    ffi::lua_getinfo(lua, c"Sl".as_ptr(), found);
    let text = |start| CStr::from_ptr(start).to_string_lossy().into_owned();
    ((*found).currentline > 0).then(|| Place {
        shown: text((*found).short_src.as_ptr()),
        source: text((*found).source),
        line: (*found).currentline,
    })
}
