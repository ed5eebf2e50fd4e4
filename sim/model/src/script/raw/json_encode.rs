//! `cjson.encode`.

use std::ffi::CStr;

use mlua::ffi;

use super::bridge::{Stopped, owning};
use super::guards;
use super::json_settings::settings;
use super::stack::{Outcome, State, bytes, push_bytes, raise_here};
use super::tally::Tally;
use crate::number;
use crate::script::json::{self, Settings};

/// `cjson.encode`.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn encode(lua: State) -> i32 {
    if ffi::lua_gettop(lua) != 1 {
        return ffi::luaL_argerror(lua, 1, c"expected 1 argument".as_ptr());
    }
    owning(lua, |bridge| {
        let mut writer = Writer {
            lua,
            tally: Tally::new(lua, bridge),
            settings: settings(lua),
            open: Vec::new(),
            out: Vec::new(),
        };
        match writer.write_all() {
            Ok(()) => {
                push_bytes(lua, &writer.out);
                Ok(Outcome::Results(1))
            }
            Err(NoText::Refused(message)) => Ok(raise_here(lua, &message)),
            Err(NoText::Stopped) => Err(Stopped),
        }
    })
}

/// Why a value has no text.
enum NoText {
    Refused(String),
    Stopped,
}

impl From<Stopped> for NoText {
    fn from(_: Stopped) -> Self {
        NoText::Stopped
    }
}

/// A table that is being written, which lies on the stack.
enum Open {
    /// So many elements are written, of so many.
    Array { done: i32, length: i32 },
    /// The key written last lies on top of the table.
    Object { is_first: bool },
}

struct Writer<'a> {
    lua: State,
    tally: Tally<'a>,
    settings: Settings,
    open: Vec<Open>,
    out: Vec<u8>,
}

impl Writer<'_> {
    /// Writes the value on top, and pops it.
    ///
    /// # Safety
    ///
    /// There is a value on top, and the callers are in [`owning`].
    unsafe fn write_all(&mut self) -> Result<(), NoText> {
        loop {
            self.tally.write(self.out.len())?;
            if ffi::lua_type(self.lua, -1) == ffi::LUA_TTABLE {
                self.begin()?;
            } else {
                self.write_plain()?;
                ffi::lua_pop(self.lua, 1);
            }
            while !self.push_next()? {
                // The table on top is done, so it goes, too.
                ffi::lua_pop(self.lua, 1);
                self.open.pop();
            }
            if self.open.is_empty() {
                return Ok(());
            }
        }
    }

    fn refuse(&self, index: i32, reason: &str) -> NoText {
        // SAFETY: the index is valid; names of types are constants of Lua.
        let name = unsafe {
            let kind = ffi::lua_type(self.lua, index);
            CStr::from_ptr(ffi::lua_typename(self.lua, kind)).to_string_lossy()
        };
        NoText::Refused(format!("Cannot serialise {name}: {reason}"))
    }

    /// Writes the value on top, which is no table.
    ///
    /// # Safety
    ///
    /// There is a value on top.
    unsafe fn write_plain(&mut self) -> Result<(), NoText> {
        let (lua, out) = (self.lua, &mut self.out);
        match ffi::lua_type(lua, -1) {
            ffi::LUA_TSTRING => json::write_string(out, bytes(lua, -1).unwrap_or_default()),
            ffi::LUA_TNUMBER => self.write_number(-1)?,
            ffi::LUA_TBOOLEAN => out.extend_from_slice(match ffi::lua_toboolean(lua, -1) {
                0 => b"false",
                _ => b"true",
            }),
            ffi::LUA_TNIL => out.extend_from_slice(b"null"),
            ffi::LUA_TLIGHTUSERDATA if ffi::lua_touserdata(lua, -1).is_null() => {
                out.extend_from_slice(b"null");
            }
            _ => return Err(self.refuse(-1, "type not supported")),
        }
        Ok(())
    }

    /// # Safety
    ///
    /// There is a number at the index.
    unsafe fn write_number(&mut self, index: i32) -> Result<(), NoText> {
        let value = ffi::lua_tonumber(self.lua, index);
        let written = self.settings.write_number(&mut self.out, value);
        written.map_err(|reason| self.refuse(index, reason))
    }

    /// Begins to write the table on top.
    ///
    /// # Safety
    ///
    /// A table is on top, and the callers are in [`owning`].
    unsafe fn begin(&mut self) -> Result<(), NoText> {
        let lua = self.lua;
        let depth = i32::try_from(self.open.len() + 1).unwrap_or(i32::MAX);
        if depth > self.settings.encode_max_depth || ffi::lua_checkstack(lua, 3) == 0 {
            return Err(NoText::Refused(format!(
                "Cannot serialise, excessive nesting ({depth})"
            )));
        }
        guards::see_through(lua);
        match self.array_length()? {
            Some(length) => {
                self.out.push(b'[');
                self.open.push(Open::Array { done: 0, length });
            }
            None => {
                self.out.push(b'{');
                self.open.push(Open::Object { is_first: true });
                ffi::lua_pushnil(lua);
            }
        }
        Ok(())
    }

    /// The largest index, if the table on top has only whole positive keys, and any.
    ///
    /// # Safety
    ///
    /// A table that is no proxy is on top, and there are two free slots.
    unsafe fn array_length(&mut self) -> Result<Option<i32>, NoText> {
        let lua = self.lua;
        let (mut largest, mut items) = (0_i32, 0_i32);
        ffi::lua_pushnil(lua);
        while ffi::lua_next(lua, -2) != 0 {
            let key = match ffi::lua_type(lua, -2) {
                ffi::LUA_TNUMBER => ffi::lua_tonumber(lua, -2),
                _ => 0.0,
            };
            if key.floor() != key || key < 1.0 {
                ffi::lua_pop(lua, 2);
                return Ok(None);
            }
            if key > f64::from(largest) {
                largest = number::to_int_like_x86(key);
            }
            items = items.wrapping_add(1);
            ffi::lua_pop(lua, 1);
        }
        let (ratio, safe) = (self.settings.sparse_ratio, self.settings.sparse_safe);
        if ratio > 0 && largest > items.wrapping_mul(ratio) && largest > safe {
            if !self.settings.sparse_convert {
                return Err(self.refuse(-1, "excessively sparse array"));
            }
            return Ok(None);
        }
        Ok((largest > 0).then_some(largest))
    }

    /// Pushes the next value of the table that was begun last, and writes what is in front of
    /// it. False if there is none; then the end of the table is written. At the outermost level
    /// there is nothing to push, and that is the end.
    ///
    /// # Safety
    ///
    /// The table that was begun last is on top, under its last key if it is an object, and there
    /// are two free slots.
    unsafe fn push_next(&mut self) -> Result<bool, NoText> {
        let lua = self.lua;
        match self.open.last_mut() {
            None => return Ok(true),
            Some(Open::Array { done, length }) => {
                if done == length {
                    self.out.push(b']');
                    return Ok(false);
                }
                if *done > 0 {
                    self.out.push(b',');
                }
                *done += 1;
                ffi::lua_rawgeti(lua, -1, (*done).into());
            }
            Some(Open::Object { is_first }) => {
                if ffi::lua_next(lua, -2) == 0 {
                    self.out.push(b'}');
                    return Ok(false);
                }
                if !std::mem::take(is_first) {
                    self.out.push(b',');
                }
                self.write_key()?;
            }
        }
        Ok(true)
    }

    /// Writes the key below the value on top.
    ///
    /// # Safety
    ///
    /// There are two values on the stack.
    unsafe fn write_key(&mut self) -> Result<(), NoText> {
        match ffi::lua_type(self.lua, -2) {
            ffi::LUA_TNUMBER => {
                self.out.push(b'"');
                self.write_number(-2)?;
                self.out.push(b'"');
            }
            ffi::LUA_TSTRING => {
                json::write_string(&mut self.out, bytes(self.lua, -2).unwrap_or_default());
            }
            _ => return Err(self.refuse(-2, "table key must be a number or string")),
        }
        self.out.push(b':');
        Ok(())
    }
}
