//! `struct`. Nothing here owns anything, so that arguments can be refused anywhere.

use std::ffi::CStr;

use mlua::ffi;

use super::scratch::Scratch;
use super::stack::{State, make_room, push_bytes, text};
use super::tables::work;
use crate::script::layout::{Fault, Item, Layout, read_integer, to_bits, write_integer};

/// The functions of `struct` by name.
pub(super) const FUNCTIONS: &[(&CStr, ffi::lua_CFunction)] =
    &[(c"pack", pack), (c"unpack", unpack), (c"size", size)];

/// # Safety
///
/// Called from a C function that owns nothing.
unsafe fn or_raise<T>(lua: State, result: Result<T, Fault>) -> T {
    match result {
        Ok(value) => value,
        Err(fault) => raise(lua, fault),
    }
}

/// # Safety
///
/// Called from a C function that owns nothing.
unsafe fn raise(lua: State, fault: Fault) -> ! {
    match fault {
        Fault::Overflow => ffi::luaL_error(lua, c"integral size overflow".as_ptr()),
        Fault::TooWide(size) => ffi::luaL_error(
            lua,
            c"integral size %d is larger than limit of %d".as_ptr(),
            size,
            32,
        ),
        Fault::Alignment(alignment) => {
            ffi::luaL_error(lua, c"alignment %d is not a power of 2".as_ptr(), alignment)
        }
        Fault::Unknown(letter) => {
            let text = ffi::lua_pushfstring(
                lua,
                c"invalid format option '%c'".as_ptr(),
                i32::from(letter),
            );
            ffi::luaL_argerror(lua, 1, text)
        }
    };
    // Not reached: both raise.
    ffi::lua_error(lua)
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn pack(lua: State) -> i32 {
    let mut layout = Layout::new(text(lua, 1));
    // A missing argument reads as this nil. Behind it is what has been put together.
    ffi::lua_pushnil(lua);
    ffi::lua_pushnil(lua);
    let mut out = Scratch::new(ffi::lua_gettop(lua));
    let (mut argument, mut total) = (2, 0_usize);
    while let Some(item) = or_raise(lua, layout.next()) {
        let padding = layout.padding(total, item);
        for _ in 0..padding {
            out.append(lua, &[0]);
        }
        total = total.wrapping_add(padding);
        let size = match item.letter {
            b'x' => {
                out.append(lua, &[0]);
                1
            }
            letter if !takes_value(letter) => {
                or_raise(lua, layout.control(letter));
                0
            }
            _ => {
                let size = pack_value(lua, &mut out, layout.big_endian, item, argument);
                argument += 1;
                size
            }
        };
        total = total.wrapping_add(size);
        work(lua, size / 32);
    }
    out.push(lua);
    1
}

fn takes_value(letter: u8) -> bool {
    b"bBhHlLTiIfdcs".contains(&letter)
}

/// Appends one argument, and answers how many bytes it takes.
///
/// # Safety
///
/// Called from a C function that owns nothing; as [`Scratch::append`].
unsafe fn pack_value(
    lua: State,
    out: &mut Scratch,
    big_endian: bool,
    item: Item,
    argument: i32,
) -> usize {
    let mut place = [0_u8; 32];
    let place = &mut place[..item.size.min(32)];
    match item.letter {
        b'c' => {
            let value = text(lua, argument);
            let size = if item.size == 0 {
                value.len()
            } else {
                item.size
            };
            let Some(value) = value.get(..size) else {
                ffi::luaL_argerror(lua, argument + 1, c"string too short".as_ptr());
                return 0;
            };
            out.append(lua, value);
            return size;
        }
        b's' => {
            let value = text(lua, argument);
            out.append(lua, value);
            out.append(lua, &[0]);
            return value.len() + 1;
        }
        b'f' => {
            let value = ffi::luaL_checknumber(lua, argument) as f32;
            write_integer(place, value.to_bits().into(), big_endian);
        }
        b'd' => {
            let value = ffi::luaL_checknumber(lua, argument);
            write_integer(place, value.to_bits(), big_endian);
        }
        _ => {
            let value = to_bits(ffi::luaL_checknumber(lua, argument));
            write_integer(place, value, big_endian);
        }
    }
    out.append(lua, place);
    item.size
}

/// The bytes of a value, unless the data end before.
///
/// # Safety
///
/// Called from a C function that owns nothing.
unsafe fn bytes_at(lua: State, data: &[u8], position: usize, size: usize) -> &[u8] {
    let rest = data.get(position..).and_then(|rest| rest.get(..size));
    match rest {
        Some(bytes) => bytes,
        None => {
            ffi::luaL_argerror(lua, 2, c"data string too short".as_ptr());
            &[]
        }
    }
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn unpack(lua: State) -> i32 {
    let (format, data) = (text(lua, 1), text(lua, 2));
    let mut layout = Layout::new(format);
    let start = ffi::luaL_optinteger(lua, 3, 1);
    if start == 0 {
        return ffi::luaL_argerror(lua, 3, c"offset must be 1 or greater".as_ptr());
    }
    // Negative ones are huge, as in C.
    let mut position = (start as usize).wrapping_sub(1);
    let mut results = 0;
    while let Some(item) = or_raise(lua, layout.next()) {
        position = position.wrapping_add(layout.padding(position, item));
        let value = bytes_at(lua, data, position, item.size);
        make_room(lua, 2, c"too many results");
        let mut size = item.size;
        match item.letter {
            b'x' => results -= 1,
            b'c' => {
                if size == 0 {
                    size = previous_size(lua, results);
                    results -= 1;
                }
                push_bytes(lua, bytes_at(lua, data, position, size));
            }
            b's' => {
                let rest = bytes_at(lua, data, position, data.len() - position);
                let Some(end) = rest.iter().position(|byte| *byte == 0) else {
                    return ffi::luaL_error(lua, c"unfinished string in data".as_ptr());
                };
                push_bytes(lua, &rest[..end]);
                size = end + 1;
            }
            b'f' => {
                let mut bits = [0; 4];
                copy_little_endian(&mut bits, value, layout.big_endian);
                ffi::lua_pushnumber(lua, f32::from_le_bytes(bits).into());
            }
            b'd' => {
                let mut bits = [0; 8];
                copy_little_endian(&mut bits, value, layout.big_endian);
                ffi::lua_pushnumber(lua, f64::from_le_bytes(bits));
            }
            letter if takes_value(letter) => {
                let signed = letter.is_ascii_lowercase();
                ffi::lua_pushnumber(lua, read_integer(value, layout.big_endian, signed));
            }
            letter => {
                or_raise(lua, layout.control(letter));
                results -= 1;
            }
        }
        results += 1;
        position = position.wrapping_add(size);
        work(lua, 1 + size / 32);
    }
    ffi::lua_pushnumber(lua, position.wrapping_add(1) as ffi::lua_Integer as f64);
    results + 1
}

fn copy_little_endian(out: &mut [u8], bytes: &[u8], big_endian: bool) {
    if out.len() == bytes.len() {
        out.copy_from_slice(bytes);
    }
    if big_endian {
        out.reverse();
    }
}

/// The size of a `c0`: the value just read, which is popped.
///
/// # Safety
///
/// Called from a C function that owns nothing, with its results on top.
unsafe fn previous_size(lua: State, results: i32) -> usize {
    if results == 0 || ffi::lua_isnumber(lua, -1) == 0 {
        ffi::luaL_error(lua, c"format 'c0' needs a previous size".as_ptr());
    }
    let size = to_bits(ffi::lua_tonumber(lua, -1)) as usize;
    ffi::lua_pop(lua, 1);
    size
}

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn size(lua: State) -> i32 {
    let mut layout = Layout::new(text(lua, 1));
    let mut total = 0_usize;
    while let Some(item) = or_raise(lua, layout.next()) {
        total = total.wrapping_add(layout.padding(total, item));
        let refusal = match item.letter {
            b's' => Some(c"option 's' has no fixed size"),
            b'c' if item.size == 0 => Some(c"option 'c0' has no fixed size"),
            _ => None,
        };
        if let Some(refusal) = refusal {
            return ffi::luaL_argerror(lua, 1, refusal.as_ptr());
        }
        if !item.letter.is_ascii_alphanumeric() {
            or_raise(lua, layout.control(item.letter));
        }
        total = total.wrapping_add(item.size);
    }
    ffi::lua_pushnumber(lua, total as ffi::lua_Integer as f64);
    1
}
