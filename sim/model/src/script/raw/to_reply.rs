//! What a script returns, as a reply.

use std::ffi::CStr;

use mlua::ffi;

use super::bridge::{Bridge, Stopped};
use super::guards;
use super::stack::{State, bytes, get_field};
use crate::arguments::spaced;
use crate::number;
use crate::reply::Reply;
use crate::shape::{Protocol, Shape};

/// How deep a returned table may nest. Redis goes to 8,000 levels and ends in an error text
/// inside; this model ends earlier and refuses the whole reply, which cannot be taken for data.
const MAX_DEPTH: usize = 1000;

/// Why a returned value is not turned into a reply.
#[derive(Debug)]
pub(super) enum NoReply {
    TooDeep,
    /// A limit is reached: a table that contains others many times over may be huge.
    Stopped,
}

impl From<Stopped> for NoReply {
    fn from(_: Stopped) -> Self {
        NoReply::Stopped
    }
}

/// Makes a reply of what lies on top of the stack.
pub(super) struct Converter<'a> {
    pub(super) lua: State,
    pub(super) bridge: &'a Bridge,
    /// The protocol that the script chose.
    pub(super) script_protocol: Protocol,
    /// Makes replies for the client.
    pub(super) shape: Shape,
    /// How many bytes the reply takes so far.
    pub(super) size: usize,
}

impl Converter<'_> {
    /// Turns the value on top into a reply, and pops it.
    ///
    /// # Safety
    ///
    /// There is a value on top, and memory is granted.
    pub(super) unsafe fn convert(&mut self, depth: usize) -> Result<Reply, NoReply> {
        let lua = self.lua;
        if depth > MAX_DEPTH || ffi::lua_checkstack(lua, 6) == 0 {
            return Err(NoReply::TooDeep);
        }
        self.count(size_of::<Reply>())?;
        let reply = match ffi::lua_type(lua, -1) {
            ffi::LUA_TSTRING => {
                let text = bytes(lua, -1).unwrap_or_default();
                self.count(text.len())?;
                Reply::bulk(text)
            }
            ffi::LUA_TNUMBER => {
                Reply::Integer(number::truncate_like_x86(ffi::lua_tonumber(lua, -1)))
            }
            ffi::LUA_TBOOLEAN => self.boolean(ffi::lua_toboolean(lua, -1) != 0),
            ffi::LUA_TTABLE => self.table(depth)?,
            _ => Reply::Nil,
        };
        ffi::lua_pop(lua, 1);
        Ok(reply)
    }

    fn count(&mut self, more: usize) -> Result<(), Stopped> {
        self.size = self.size.saturating_add(more);
        self.bridge.reserve(self.size)
    }

    fn boolean(&self, yes: bool) -> Reply {
        match (self.script_protocol, self.shape.protocol) {
            (Protocol::Resp2, _) if !yes => Reply::Nil,
            (Protocol::Resp3, Protocol::Resp3) => Reply::Boolean(yes),
            _ => Reply::Integer(yes.into()),
        }
    }

    /// The reply for the table on top, which stays there.
    ///
    /// # Safety
    ///
    /// A table is on top, there are six free slots, and memory is granted.
    unsafe fn table(&mut self, depth: usize) -> Result<Reply, NoReply> {
        let lua = self.lua;
        if let Some(text) = text_field(lua, c"err") {
            return Ok(Reply::Error(one_line(&text)));
        }
        if let Some(text) = text_field(lua, c"ok") {
            // Unlike an error, a status keeps the line ends at its end, as spaces.
            return Ok(Reply::Status(spaced(&text)));
        }
        if let Some(reply) = self.kind(depth)? {
            return Ok(reply);
        }
        let mut items = Vec::new();
        for index in 1.. {
            if ffi::lua_rawgeti(lua, -1, index) == ffi::LUA_TNIL {
                ffi::lua_pop(lua, 1);
                break;
            }
            items.push(self.convert(depth + 1)?);
        }
        Ok(Reply::Array(items))
    }

    /// The reply for the table on top if it is one of the kinds that RESP3 brought.
    ///
    /// # Safety
    ///
    /// As [`Converter::table`].
    unsafe fn kind(&mut self, depth: usize) -> Result<Option<Reply>, NoReply> {
        let lua = self.lua;
        if get_field(lua, c"double") == ffi::LUA_TNUMBER {
            let value = ffi::lua_tonumber(lua, -1);
            ffi::lua_pop(lua, 1);
            return Ok(Some(self.shape.double(value)));
        }
        ffi::lua_pop(lua, 1);
        if get_field(lua, c"big_number") == ffi::LUA_TSTRING {
            let digits = spaced(bytes(lua, -1).unwrap_or_default());
            ffi::lua_pop(lua, 1);
            return Ok(Some(self.shape.big_number(digits)));
        }
        ffi::lua_pop(lua, 1);
        let is_verbatim = get_field(lua, c"verbatim_string") == ffi::LUA_TTABLE;
        let reply = match is_verbatim {
            true => self.verbatim()?,
            false => None,
        };
        ffi::lua_pop(lua, 1);
        if reply.is_some() {
            return Ok(reply);
        }
        if get_field(lua, c"map") == ffi::LUA_TTABLE {
            let pairs = self.pairs(depth)?;
            return Ok(Some(self.shape.map(pairs)));
        }
        ffi::lua_pop(lua, 1);
        if get_field(lua, c"set") == ffi::LUA_TTABLE {
            let items = self.keys(depth)?;
            return Ok(Some(self.shape.set(items)));
        }
        ffi::lua_pop(lua, 1);
        Ok(None)
    }

    /// The keys and values of the table on top, which is popped.
    ///
    /// # Safety
    ///
    /// As [`Converter::table`].
    unsafe fn pairs(&mut self, depth: usize) -> Result<Vec<(Reply, Reply)>, NoReply> {
        let lua = self.lua;
        let mut pairs = Vec::new();
        guards::see_through(lua);
        ffi::lua_pushnil(lua);
        while ffi::lua_next(lua, -2) != 0 {
            ffi::lua_pushvalue(lua, -2);
            let key = self.convert(depth + 1)?;
            let value = self.convert(depth + 1)?;
            pairs.push((key, value));
        }
        ffi::lua_pop(lua, 1);
        Ok(pairs)
    }

    /// The keys of the table on top, which is popped.
    ///
    /// # Safety
    ///
    /// As [`Converter::table`].
    unsafe fn keys(&mut self, depth: usize) -> Result<Vec<Reply>, NoReply> {
        let lua = self.lua;
        let mut keys = Vec::new();
        guards::see_through(lua);
        ffi::lua_pushnil(lua);
        while ffi::lua_next(lua, -2) != 0 {
            ffi::lua_pop(lua, 1);
            ffi::lua_pushvalue(lua, -1);
            keys.push(self.convert(depth + 1)?);
        }
        ffi::lua_pop(lua, 1);
        Ok(keys)
    }

    /// The reply for the table on top, which stays there, if it has all of a verbatim string.
    ///
    /// # Safety
    ///
    /// As [`Converter::table`].
    unsafe fn verbatim(&mut self) -> Result<Option<Reply>, NoReply> {
        let lua = self.lua;
        let Some(format) = text_field(lua, c"format") else {
            return Ok(None);
        };
        get_field(lua, c"string");
        let text = bytes(lua, -1).map(<[u8]>::to_vec);
        ffi::lua_pop(lua, 1);
        let Some(text) = text else {
            return Ok(None);
        };
        self.count(text.len())?;
        let mut name = [b' '; 3];
        for (place, byte) in name.iter_mut().zip(format) {
            *place = byte;
        }
        Ok(Some(self.shape.verbatim_as(name, text)))
    }
}

/// A string field of the table on top, cut at a NUL as C cuts it.
///
/// # Safety
///
/// A table is on top, there is a free slot, and memory is granted.
unsafe fn text_field(lua: State, name: &CStr) -> Option<Vec<u8>> {
    get_field(lua, name);
    let text = bytes(lua, -1).map(|text| {
        let end = text.iter().position(|byte| *byte == 0);
        text[..end.unwrap_or(text.len())].to_vec()
    });
    ffi::lua_pop(lua, 1);
    text
}

/// An error text in one line.
pub(super) fn one_line(text: &[u8]) -> Vec<u8> {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'));
    spaced(&text[..end.map_or(0, |end| end + 1)])
}
