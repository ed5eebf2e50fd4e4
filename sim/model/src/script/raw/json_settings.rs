//! The settings of `cjson`, and its functions for them. Each of these answers the setting, changed
//! or not.

use std::ffi::{CStr, c_char};
use std::ptr;

use mlua::ffi;

use super::bridge;
use super::stack::{State, push_bytes, set_field};
use crate::script::json::{InvalidNumbers, Settings};

/// The functions of `cjson` by name.
pub(super) const FUNCTIONS: &[(&CStr, ffi::lua_CFunction)] = &[
    (c"encode", super::json_encode::encode),
    (c"decode", super::json_decode::decode),
    (c"encode_sparse_array", encode_sparse_array),
    (c"encode_max_depth", encode_max_depth),
    (c"decode_max_depth", decode_max_depth),
    (c"encode_number_precision", encode_number_precision),
    (c"encode_keep_buffer", encode_keep_buffer),
    (c"encode_invalid_numbers", encode_invalid_numbers),
    (c"decode_invalid_numbers", decode_invalid_numbers),
    (c"new", new),
];

/// The texts of `cjson` by name.
pub(super) const CONSTANTS: [(&CStr, &CStr); 2] = [(c"_NAME", c"cjson"), (c"_VERSION", c"2.1.0")];

/// What holds for the running function: its own settings, if it comes from [`new`], or those of
/// the one `cjson` that all scripts share.
///
/// # Safety
///
/// Called from a function of `cjson`.
pub(super) unsafe fn settings(lua: State) -> Settings {
    match own_settings(lua).as_ref() {
        Some(own) => *own,
        None => bridge::of(lua).json_settings(),
    }
}

/// # Safety
///
/// As [`settings`].
unsafe fn set_settings(lua: State, settings: Settings) {
    match own_settings(lua).as_mut() {
        Some(own) => *own = settings,
        None => bridge::of(lua).set_json_settings(settings),
    }
}

/// # Safety
///
/// As [`settings`]: the upvalue is what [`new`] made, or missing.
unsafe fn own_settings(lua: State) -> *mut Settings {
    ffi::lua_touserdata(lua, ffi::lua_upvalueindex(1)).cast()
}

/// Raises if there are too many arguments, and fills up to that many with nil.
///
/// # Safety
///
/// Called from a C function that owns nothing.
unsafe fn expect(lua: State, count: i32) {
    if ffi::lua_gettop(lua) > count {
        ffi::luaL_argerror(lua, count + 1, c"found too many arguments".as_ptr());
    }
    ffi::lua_settop(lua, count);
}

/// Reads an integer argument into `setting`, unless it is nil, and pushes the setting.
///
/// # Safety
///
/// As [`expect`], and there is a free slot.
unsafe fn integer(lua: State, index: i32, setting: &mut i32, from: i32, to: i32) {
    if ffi::lua_type(lua, index) != ffi::LUA_TNIL {
        let value = ffi::luaL_checkinteger(lua, index) as i32;
        if !(from..=to).contains(&value) {
            // Lua makes and keeps the text: nothing of Rust may be alive when it raises.
            let text = ffi::lua_pushfstring(
                lua,
                c"expected integer between %d and %d".as_ptr(),
                from,
                to,
            );
            ffi::luaL_argerror(lua, index, text);
        }
        *setting = value;
    }
    ffi::lua_pushnumber(lua, f64::from(*setting));
}

/// Reads one of the words `off`, `on` and possibly `null`, or a boolean.
///
/// # Safety
///
/// As [`expect`], and there is a free slot.
unsafe fn choice(lua: State, index: i32, setting: &mut i32, with_null: bool) {
    const WORDS: [&CStr; 3] = [c"off", c"on", c"null"];
    let words: [*const c_char; 4] = [
        WORDS[0].as_ptr(),
        WORDS[1].as_ptr(),
        if with_null {
            WORDS[2].as_ptr()
        } else {
            ptr::null()
        },
        ptr::null(),
    ];
    match ffi::lua_type(lua, index) {
        ffi::LUA_TNIL => {}
        ffi::LUA_TBOOLEAN => *setting = ffi::lua_toboolean(lua, index),
        _ => *setting = ffi::luaL_checkoption(lua, index, ptr::null(), words.as_ptr()),
    }
    match *setting {
        2 => push_bytes(lua, WORDS[2].to_bytes()),
        on => ffi::lua_pushboolean(lua, on),
    }
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn encode_sparse_array(lua: State) -> i32 {
    expect(lua, 3);
    let mut settings = settings(lua);
    let mut convert = i32::from(settings.sparse_convert);
    choice(lua, 1, &mut convert, false);
    // What was read is kept even if a later argument is refused.
    settings.sparse_convert = convert != 0;
    set_settings(lua, settings);
    integer(lua, 2, &mut settings.sparse_ratio, 0, i32::MAX);
    set_settings(lua, settings);
    integer(lua, 3, &mut settings.sparse_safe, 0, i32::MAX);
    set_settings(lua, settings);
    3
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn encode_max_depth(lua: State) -> i32 {
    expect(lua, 1);
    let mut settings = settings(lua);
    integer(lua, 1, &mut settings.encode_max_depth, 1, i32::MAX);
    set_settings(lua, settings);
    1
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn decode_max_depth(lua: State) -> i32 {
    expect(lua, 1);
    let mut settings = settings(lua);
    integer(lua, 1, &mut settings.decode_max_depth, 1, i32::MAX);
    set_settings(lua, settings);
    1
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn encode_number_precision(lua: State) -> i32 {
    expect(lua, 1);
    let mut settings = settings(lua);
    integer(lua, 1, &mut settings.precision, 1, 14);
    set_settings(lua, settings);
    1
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn encode_keep_buffer(lua: State) -> i32 {
    expect(lua, 1);
    let mut settings = settings(lua);
    let mut keep = i32::from(settings.keep_buffer);
    choice(lua, 1, &mut keep, false);
    settings.keep_buffer = keep != 0;
    set_settings(lua, settings);
    1
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn encode_invalid_numbers(lua: State) -> i32 {
    expect(lua, 1);
    let mut settings = settings(lua);
    let mut how = match settings.encode_invalid_numbers {
        InvalidNumbers::Refuse => 0,
        InvalidNumbers::Write => 1,
        InvalidNumbers::Null => 2,
    };
    choice(lua, 1, &mut how, true);
    settings.encode_invalid_numbers = match how {
        0 => InvalidNumbers::Refuse,
        1 => InvalidNumbers::Write,
        _ => InvalidNumbers::Null,
    };
    set_settings(lua, settings);
    1
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn decode_invalid_numbers(lua: State) -> i32 {
    expect(lua, 1);
    let mut settings = settings(lua);
    let mut allow = i32::from(settings.decode_invalid_numbers);
    choice(lua, 1, &mut allow, false);
    settings.decode_invalid_numbers = allow != 0;
    set_settings(lua, settings);
    1
}

/// Another `cjson`, with settings of its own. They have no destructor, so Lua may keep them.
///
/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn new(lua: State) -> i32 {
    ffi::lua_settop(lua, 0);
    ffi::lua_createtable(lua, 0, 0);
    let settings = ffi::lua_newuserdata(lua, size_of::<Settings>());
    settings.cast::<Settings>().write(Settings::default());
    for (name, function) in FUNCTIONS {
        ffi::lua_pushvalue(lua, 2);
        ffi::lua_pushcclosure(lua, *function, 1);
        ffi::lua_setfield(lua, 1, name.as_ptr());
    }
    ffi::lua_settop(lua, 1);
    ffi::lua_pushlightuserdata(lua, ptr::null_mut());
    set_field(lua, c"null");
    for (name, text) in CONSTANTS {
        push_bytes(lua, text.to_bytes());
        set_field(lua, name);
    }
    1
}
