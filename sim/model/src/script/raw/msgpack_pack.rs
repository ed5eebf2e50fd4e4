//! `cmsgpack.pack`.

use std::ffi::CStr;

use mlua::ffi;

use super::bridge::{Stopped, owning};
use super::guards;
use super::msgpack_unpack;
use super::stack::{Outcome, State, bytes, push_bytes};
use super::tally::Tally;
use crate::script::msgpack;

/// The functions of `cmsgpack` by name.
pub(super) const FUNCTIONS: &[(&CStr, ffi::lua_CFunction)] = &[
    (c"pack", pack),
    (c"unpack", msgpack_unpack::unpack),
    (c"unpack_one", msgpack_unpack::unpack_one),
    (c"unpack_limit", msgpack_unpack::unpack_limit),
];

/// How deep tables may nest. What lies deeper is written as nil.
const MAX_DEPTH: usize = 16;

/// # Safety
///
/// Called by Lua.
unsafe extern "C-unwind" fn pack(lua: State) -> i32 {
    let count = ffi::lua_gettop(lua);
    if count == 0 {
        return ffi::luaL_argerror(lua, 0, c"MessagePack pack needs input.".as_ptr());
    }
    if ffi::lua_checkstack(lua, count) == 0 {
        let text = c"Too many arguments for MessagePack pack.";
        return ffi::luaL_argerror(lua, 0, text.as_ptr());
    }
    owning(lua, |bridge| {
        let mut writer = Writer {
            lua,
            tally: Tally::new(lua, bridge),
            out: Vec::new(),
        };
        for index in 1..=count {
            ffi::lua_pushvalue(lua, index);
            writer.write(0)?;
        }
        push_bytes(lua, &writer.out);
        Ok(Outcome::Results(1))
    })
}

struct Writer<'a> {
    lua: State,
    tally: Tally<'a>,
    out: Vec<u8>,
}

impl Writer<'_> {
    /// Appends the value on top, and pops it.
    ///
    /// # Safety
    ///
    /// There is a value on top with a free slot over it, and the callers are in [`owning`].
    unsafe fn write(&mut self, depth: usize) -> Result<(), Stopped> {
        self.tally.write(self.out.len())?;
        let (lua, out) = (self.lua, &mut self.out);
        match ffi::lua_type(lua, -1) {
            ffi::LUA_TSTRING => msgpack::write_text(out, bytes(lua, -1).unwrap_or_default()),
            ffi::LUA_TBOOLEAN => msgpack::write_boolean(out, ffi::lua_toboolean(lua, -1) != 0),
            ffi::LUA_TNUMBER => msgpack::write_number(out, ffi::lua_tonumber(lua, -1)),
            ffi::LUA_TTABLE if depth < MAX_DEPTH => self.write_table(depth)?,
            _ => msgpack::write_nil(out),
        }
        ffi::lua_pop(lua, 1);
        Ok(())
    }

    /// Appends the table on top, which stays there.
    ///
    /// # Safety
    ///
    /// A table is on top, and the callers are in [`owning`].
    unsafe fn write_table(&mut self, depth: usize) -> Result<(), Stopped> {
        let lua = self.lua;
        // There are at most 16 levels of these.
        ffi::lua_checkstack(lua, 5);
        guards::see_through(lua);
        let (count, is_array) = self.shape();
        if is_array {
            msgpack::write_array(&mut self.out, count);
            for index in 1..=count {
                ffi::lua_rawgeti(lua, -1, index as ffi::lua_Integer);
                self.write(depth + 1)?;
            }
        } else {
            msgpack::write_map(&mut self.out, count);
            ffi::lua_pushnil(lua);
            while ffi::lua_next(lua, -2) != 0 {
                ffi::lua_pushvalue(lua, -2);
                self.write(depth + 1)?;
                self.write(depth + 1)?;
            }
        }
        Ok(())
    }

    /// How many keys the table on top has, and whether they are 1 and so on.
    ///
    /// # Safety
    ///
    /// A table that is no proxy is on top, and there are two free slots.
    unsafe fn shape(&self) -> (usize, bool) {
        let lua = self.lua;
        let (mut count, mut largest, mut whole) = (0, 0.0, true);
        ffi::lua_pushnil(lua);
        while ffi::lua_next(lua, -2) != 0 {
            ffi::lua_pop(lua, 1);
            count += 1;
            let key = match ffi::lua_type(lua, -1) {
                ffi::LUA_TNUMBER => ffi::lua_tonumber(lua, -1),
                _ => 0.0,
            };
            whole &= key >= 1.0 && key.floor() == key;
            largest = key.max(largest);
        }
        (count, whole && largest == count as f64)
    }
}
