//! Those functions of `string` that can take long: patterns, and repetition.

use std::ffi::CStr;
use std::ptr;

use mlua::ffi;

use super::bridge;
use super::look;
use super::scratch::Scratch;
use super::stack::{State, bytes, make_room, push_bytes, raise_here, text};
use super::tables::work;
use crate::script::pattern::{self, Capture, Extent, Fault, Found};

/// The functions by name.
pub(super) const FUNCTIONS: &[(&CStr, ffi::lua_CFunction)] = &[
    (c"find", find),
    (c"match", match_),
    (c"gmatch", gmatch),
    (c"gfind", gmatch),
    (c"gsub", gsub),
    (c"rep", repeat),
];

/// C's `int` of an argument that is an integer.
///
/// # Safety
///
/// Called from a C function that owns nothing: anything but a number raises.
unsafe fn int(lua: State, index: i32) -> i32 {
    ffi::luaL_checkinteger(lua, index) as i32
}

/// Searches with a pattern, or raises.
///
/// # Safety
///
/// Called from a C function that owns nothing.
unsafe fn search(
    lua: State,
    source: &[u8],
    pattern: &[u8],
    from: usize,
    only_there: bool,
) -> Option<Found> {
    let bridge = bridge::of(lua);
    let count = |steps| bridge.charge(lua, steps).is_ok();
    let found = pattern::search(source, pattern, from, only_there, count);
    or_raise(lua, found)
}

/// # Safety
///
/// Called from a C function that owns nothing.
unsafe fn or_raise<T>(lua: State, found: Result<Option<T>, Fault>) -> Option<T> {
    match found {
        Ok(found) => found,
        Err(Fault::Stopped) => {
            look::stop(lua);
            None
        }
        Err(Fault::Malformed(why)) => fail(lua, why),
    }
}

/// Raises a text with the position of the Lua code that called the running function.
///
/// # Safety
///
/// Called from a C function that owns nothing.
unsafe fn fail(lua: State, message: &str) -> ! {
    raise_here(lua, message);
    ffi::lua_error(lua)
}

/// Splits off the sign that a pattern matches at the start only.
fn anchor(pattern: &[u8]) -> (bool, &[u8]) {
    match pattern.strip_prefix(b"^") {
        Some(rest) => (true, rest),
        None => (false, pattern),
    }
}

/// Pushes what a capture has. The first one of a pattern without captures is the whole match.
///
/// # Safety
///
/// As [`fail`], there is a free slot, and `found` is in `source`.
unsafe fn push_capture(lua: State, source: &[u8], found: &Found, index: usize) {
    match found.captures().get(index) {
        None if index == 0 => push_bytes(lua, &source[found.start..found.end]),
        None => fail(lua, "invalid capture index"),
        Some(Capture { start, extent }) => match extent {
            Extent::Unfinished => fail(lua, "unfinished capture"),
            Extent::Position => ffi::lua_pushnumber(lua, (*start + 1) as f64),
            Extent::Bytes(length) => push_bytes(lua, &source[*start..*start + *length]),
        },
    }
}

/// Pushes all captures, or the whole match if that is wanted and there are none.
///
/// # Safety
///
/// As [`fail`], and `found` is in `source`.
unsafe fn push_captures(lua: State, source: &[u8], found: &Found, whole: bool) -> i32 {
    let count = found.captures().len().max(usize::from(whole));
    make_room(lua, count as i32, c"too many captures");
    for index in 0..count {
        push_capture(lua, source, found, index);
    }
    count as i32
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn find(lua: State) -> i32 {
    look_for(lua, true)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn match_(lua: State) -> i32 {
    look_for(lua, false)
}

/// # Safety
///
/// Called from a C function that owns nothing.
unsafe fn look_for(lua: State, wants_place: bool) -> i32 {
    let (source, pattern) = (text(lua, 1), text(lua, 2));
    let length = source.len() as ffi::lua_Integer;
    let mut start = ffi::luaL_optinteger(lua, 3, 1);
    if start < 0 {
        start += length + 1;
    }
    let from = (start - 1).clamp(0, length) as usize;
    if wants_place && (ffi::lua_toboolean(lua, 4) != 0 || pattern::is_plain(pattern)) {
        let bridge = bridge::of(lua);
        let count = |steps| bridge.charge(lua, steps).is_ok();
        let found = or_raise(lua, pattern::find_plain(source, pattern, from, count));
        if let Some(place) = found {
            ffi::lua_pushnumber(lua, (place + 1) as f64);
            ffi::lua_pushnumber(lua, (place + pattern.len()) as f64);
            return 2;
        }
    } else {
        let (anchored, pattern) = anchor(pattern);
        if let Some(found) = search(lua, source, pattern, from, anchored) {
            if !wants_place {
                return push_captures(lua, source, &found, true);
            }
            ffi::lua_pushnumber(lua, (found.start + 1) as f64);
            ffi::lua_pushnumber(lua, found.end as f64);
            return push_captures(lua, source, &found, false) + 2;
        }
    }
    ffi::lua_pushnil(lua);
    1
}

/// `string.gmatch`: its function has the string, the pattern and the place to go on as upvalues.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn gmatch(lua: State) -> i32 {
    text(lua, 1);
    text(lua, 2);
    ffi::lua_settop(lua, 2);
    ffi::lua_pushnumber(lua, 0.0);
    ffi::lua_pushcclosure(lua, next_match, 3);
    1
}

/// # Safety
///
/// Called by Lua, with the upvalues that [`gmatch`] gives it.
unsafe extern "C-unwind" fn next_match(lua: State) -> i32 {
    let [source, pattern] =
        [1, 2].map(|index| bytes(lua, ffi::lua_upvalueindex(index)).unwrap_or_default());
    let place = ffi::lua_upvalueindex(3);
    let from = ffi::lua_tonumber(lua, place) as usize;
    let Some(found) = search(lua, source, pattern, from, false) else {
        return 0;
    };
    let next = found.end + usize::from(found.start == found.end);
    ffi::lua_pushnumber(lua, next as f64);
    ffi::lua_replace(lua, place);
    push_captures(lua, source, &found, true)
}

/// Where `gsub` has its replacement, and what it has put together.
const REPLACEMENT: i32 = 3;
const RESULT: i32 = 5;

/// `string.gsub`. It owns nothing, as it calls functions of the script.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn gsub(lua: State) -> i32 {
    let (source, pattern) = (text(lua, 1), text(lua, 2));
    let kind = ffi::lua_type(lua, REPLACEMENT);
    let most = match ffi::lua_type(lua, 4) {
        ffi::LUA_TNONE | ffi::LUA_TNIL => (source.len() + 1) as i64,
        _ => int(lua, 4).into(),
    };
    if !matches!(
        kind,
        ffi::LUA_TNUMBER | ffi::LUA_TSTRING | ffi::LUA_TTABLE | ffi::LUA_TFUNCTION
    ) {
        return ffi::luaL_argerror(lua, REPLACEMENT, c"string/function/table expected".as_ptr());
    }
    let (anchored, pattern) = anchor(pattern);
    ffi::lua_settop(lua, RESULT);
    let mut result = Scratch::new(RESULT);
    let (mut at, mut count) = (0, 0);
    while count < most {
        let Some(found) = search(lua, source, pattern, at, anchored) else {
            break;
        };
        count += 1;
        result.append(lua, &source[at..found.start]);
        append_value(lua, &mut result, source, &found);
        at = found.end;
        if found.start == found.end {
            let Some(byte) = source.get(at..=at) else {
                break;
            };
            result.append(lua, byte);
            at += 1;
        }
        if anchored {
            break;
        }
    }
    result.append(lua, &source[at..]);
    result.push(lua);
    ffi::lua_pushnumber(lua, count as f64);
    2
}

/// Appends what a match is replaced by.
///
/// # Safety
///
/// Called from [`gsub`], with its places on the stack, and `found` is in `source`.
unsafe fn append_value(lua: State, result: &mut Scratch, source: &[u8], found: &Found) {
    match ffi::lua_type(lua, REPLACEMENT) {
        ffi::LUA_TTABLE => {
            push_capture(lua, source, found, 0);
            ffi::lua_gettable(lua, REPLACEMENT);
        }
        ffi::LUA_TFUNCTION => {
            ffi::lua_pushvalue(lua, REPLACEMENT);
            let count = push_captures(lua, source, found, true);
            ffi::lua_call(lua, count, 1);
        }
        _ => return append_template(lua, result, source, found),
    }
    if ffi::lua_toboolean(lua, -1) == 0 {
        result.append(lua, &source[found.start..found.end]);
    } else if ffi::lua_isstring(lua, -1) == 0 {
        let kind = ffi::lua_typename(lua, ffi::lua_type(lua, -1));
        ffi::luaL_error(lua, c"invalid replacement value (a %s)".as_ptr(), kind);
    } else {
        append_top(lua, result);
    }
    ffi::lua_pop(lua, 1);
}

/// Appends the string or number on top, which stays there.
///
/// # Safety
///
/// Called from [`gsub`], with a string or number on top.
unsafe fn append_top(lua: State, result: &mut Scratch) {
    ffi::lua_tolstring(lua, -1, ptr::null_mut());
    // The stack keeps it alive.
    let text = bytes(lua, -1).unwrap_or_default();
    result.append(lua, text);
}

/// Appends the replacement with `%0` to `%9` filled in.
///
/// # Safety
///
/// As [`append_value`], and the replacement is a string or number.
unsafe fn append_template(lua: State, result: &mut Scratch, source: &[u8], found: &Found) {
    let mut rest = text(lua, REPLACEMENT);
    while let Some(start) = rest.iter().position(|byte| *byte == b'%') {
        result.append(lua, &rest[..start]);
        // Behind the last byte C sees a NUL.
        let sign = rest.get(start + 1).copied().unwrap_or(0);
        match sign {
            b'0' => result.append(lua, &source[found.start..found.end]),
            b'1'..=b'9' => {
                push_capture(lua, source, found, usize::from(sign - b'1'));
                append_top(lua, result);
                ffi::lua_pop(lua, 1);
            }
            other => result.append(lua, &[other]),
        }
        rest = rest.get(start + 2..).unwrap_or_default();
    }
    result.append(lua, rest);
}

/// `string.rep`.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn repeat(lua: State) -> i32 {
    let (source, count) = (text(lua, 1), int(lua, 2));
    let length = source
        .len()
        .saturating_mul(usize::try_from(count).unwrap_or(0));
    if bridge::of(lua).reserve(length).is_err() {
        return look::stop(lua);
    }
    work(lua, length / 32);
    ffi::lua_settop(lua, RESULT);
    let mut result = Scratch::with_capacity(lua, RESULT, length);
    for _ in 0..length.checked_div(source.len()).unwrap_or(0) {
        result.append(lua, source);
    }
    result.push(lua);
    1
}
