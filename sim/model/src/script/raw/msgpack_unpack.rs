//! `cmsgpack.unpack` and its kin.

use std::ffi::CStr;

use mlua::ffi;

use super::bridge::{Stopped, owning};
use super::stack::{Outcome, State, bytes, push_bytes, raise_here};
use super::tally::Tally;
use crate::script::msgpack::{Fault, Item, Reader};

const TOO_MANY: &str =
    "stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)";

/// All values of a text.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn unpack(lua: State) -> i32 {
    values(lua, 0, 0)
}

/// The first value from an offset on, after the offset of the next.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn unpack_one(lua: State) -> i32 {
    let offset = ffi::luaL_optinteger(lua, 2, 0);
    ffi::lua_settop(lua, 1);
    values(lua, 1, offset)
}

/// The first values from an offset on, after the offset of the next.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn unpack_limit(lua: State) -> i32 {
    let limit = ffi::luaL_checkinteger(lua, 2);
    let offset = ffi::luaL_optinteger(lua, 3, 0);
    ffi::lua_settop(lua, 1);
    values(lua, limit, offset)
}

/// # Safety
///
/// Called from a C function that owns nothing; unless all is read, with one value on its stack.
unsafe fn values(lua: State, limit: ffi::lua_Integer, offset: ffi::lua_Integer) -> i32 {
    let mut length = 0;
    ffi::luaL_checklstring(lua, 1, &raw mut length);
    // C's text formats an `int`, whatever it is given.
    let shown = (offset as i32, length as i32);
    let start = match usize::try_from(offset) {
        Ok(start) if limit >= 0 && start > length => {
            let text = c"Start offset %d greater than input length %d.";
            return ffi::luaL_error(lua, text.as_ptr(), shown.0, shown.1);
        }
        Ok(start) if limit >= 0 => start,
        _ => {
            let text = c"Invalid request to unpack with offset of %d and limit of %d.";
            return ffi::luaL_error(lua, text.as_ptr(), shown.0, shown.1);
        }
    };
    let all = limit == 0 && offset == 0;
    let most = if all { usize::MAX } else { limit as usize };
    owning(lua, |bridge| {
        let text = bytes(lua, 1).unwrap_or_default();
        let mut decoder = Decoder {
            lua,
            tally: Tally::new(lua, bridge),
            reader: Reader::new(&text[start..]),
            open: Vec::new(),
        };
        let mut count = 0;
        while decoder.reader.left() > 0 && count < most {
            match decoder.value() {
                Ok(()) => count += 1,
                Err(NoValue::Stopped) => return Err(Stopped),
                Err(NoValue::Refused(why)) => return Ok(raise_here(lua, why)),
                Err(NoValue::Key(why)) => {
                    // In Redis it is Lua that refuses the key, without a position. The stack may
                    // be full.
                    ffi::lua_settop(lua, 0);
                    push_bytes(lua, why.to_bytes());
                    return Ok(Outcome::Raise);
                }
            }
        }
        if !all {
            let next = match decoder.reader.left() {
                0 => -1.0,
                left => (text.len() - left) as f64,
            };
            if ffi::lua_checkstack(lua, 1) == 0 {
                return Ok(raise_here(lua, TOO_MANY));
            }
            ffi::lua_pushnumber(lua, next);
            ffi::lua_insert(lua, 2);
            count += 1;
        }
        // The stack holds no more than 8000 of them.
        Ok(Outcome::Results(count as i32))
    })
}

/// Why a value is not read.
enum NoValue {
    Refused(&'static str),
    Key(&'static CStr),
    Stopped,
}

impl From<Stopped> for NoValue {
    fn from(_: Stopped) -> Self {
        NoValue::Stopped
    }
}

/// A table that is being filled, which lies on the stack with the key of the next value.
struct Open {
    kind: Kind,
    left: usize,
}

enum Kind {
    /// The index of the next value.
    Array(usize),
    /// Whether the key is there, so that the next is the value.
    Map { has_key: bool },
}

struct Decoder<'a> {
    lua: State,
    tally: Tally<'a>,
    reader: Reader<'a>,
    open: Vec<Open>,
}

impl Decoder<'_> {
    /// Pushes one value with all that is in it.
    ///
    /// # Safety
    ///
    /// The callers are in [`owning`].
    unsafe fn value(&mut self) -> Result<(), NoValue> {
        let lua = self.lua;
        loop {
            self.tally.read()?;
            if ffi::lua_checkstack(lua, 1) == 0 {
                return Err(NoValue::Refused(TOO_MANY));
            }
            let item = self.reader.next().map_err(|fault| {
                NoValue::Refused(match fault {
                    Fault::End => "Missing bytes in input.",
                    Fault::Format => "Bad data format in input.",
                })
            })?;
            let (kind, left) = match item {
                Item::Array(left) => (Some(Kind::Array(1)), left),
                Item::Map(left) => (Some(Kind::Map { has_key: false }), left),
                plain => {
                    push_plain(lua, plain);
                    (None, 0)
                }
            };
            if let Some(kind) = kind {
                self.open(kind, left)?;
                if left > 0 {
                    continue;
                }
            }
            if self.store()? {
                return Ok(());
            }
        }
    }

    /// Pushes a fresh table, to be filled with so much.
    ///
    /// # Safety
    ///
    /// There is a free slot, and the callers are in [`owning`].
    unsafe fn open(&mut self, kind: Kind, left: usize) -> Result<(), NoValue> {
        let lua = self.lua;
        ffi::lua_createtable(lua, 0, 0);
        if let Kind::Array(index) = kind {
            if ffi::lua_checkstack(lua, 1) == 0 {
                return Err(NoValue::Refused(
                    "stack overflow (in function mp_decode_to_lua_array)",
                ));
            }
            if left > 0 {
                ffi::lua_pushnumber(lua, index as f64);
            }
        }
        if left > 0 {
            self.open.push(Open { kind, left });
        }
        Ok(())
    }

    /// Puts the value on top into the table that it belongs to, and that one, if it is full, into
    /// its own. True if there is none to put it into.
    ///
    /// # Safety
    ///
    /// There is a value on top, over the tables and keys that `open` tells of.
    unsafe fn store(&mut self) -> Result<bool, NoValue> {
        let lua = self.lua;
        loop {
            let Some(open) = self.open.last_mut() else {
                return Ok(true);
            };
            if let Kind::Map { has_key } = &mut open.kind {
                *has_key = !*has_key;
                if *has_key {
                    return Ok(false); // that was the key
                }
            }
            refuse_key(lua)?;
            ffi::lua_rawset(lua, -3);
            open.left -= 1;
            if open.left == 0 {
                self.open.pop();
                continue;
            }
            if let Kind::Array(index) = &mut open.kind {
                *index += 1;
                ffi::lua_pushnumber(lua, *index as f64);
            }
            return Ok(false);
        }
    }
}

/// Lua raises an error for these keys, below the value on top.
///
/// # Safety
///
/// There are two values on the stack.
unsafe fn refuse_key(lua: State) -> Result<(), NoValue> {
    match ffi::lua_type(lua, -2) {
        ffi::LUA_TNIL => Err(NoValue::Key(c"table index is nil")),
        ffi::LUA_TNUMBER if ffi::lua_tonumber(lua, -2).is_nan() => {
            Err(NoValue::Key(c"table index is NaN"))
        }
        _ => Ok(()),
    }
}

/// # Safety
///
/// There is a free slot, and memory is granted.
unsafe fn push_plain(lua: State, item: Item<'_>) {
    match item {
        Item::Boolean(yes) => ffi::lua_pushboolean(lua, yes.into()),
        Item::Number(value) => ffi::lua_pushnumber(lua, value),
        Item::Text(text) => push_bytes(lua, text),
        Item::Nil | Item::Array(_) | Item::Map(_) => ffi::lua_pushnil(lua),
    }
}
