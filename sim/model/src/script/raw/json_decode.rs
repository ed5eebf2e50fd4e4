//! `cjson.decode`.

use std::ptr;

use mlua::ffi;

use super::bridge::{Stopped, owning};
use super::json_settings::settings as json_settings;
use super::stack::{Outcome, State, bytes, push_bytes, raise_here};
use super::tally::Tally;
use crate::script::json::{Scanner, Settings, Token};

/// `cjson.decode`.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn decode(lua: State) -> i32 {
    if ffi::lua_gettop(lua) != 1 {
        return ffi::luaL_argerror(lua, 1, c"expected 1 argument".as_ptr());
    }
    // Raises for anything but a string or a number, which becomes a string.
    ffi::luaL_checklstring(lua, 1, ptr::null_mut());
    owning(lua, |bridge| {
        let settings = json_settings(lua);
        let text = bytes(lua, 1).unwrap_or_default();
        let result = match text {
            [0, _, ..] | [_, 0, ..] => Err(NoValue::Refused(
                "JSON parser does not support UTF-16 or UTF-32".to_owned(),
            )),
            _ => Reader {
                lua,
                tally: Tally::new(lua, bridge),
                scanner: Scanner::new(text, settings.decode_invalid_numbers),
                settings,
                open: Vec::new(),
            }
            .document(),
        };
        match result {
            Ok(()) => Ok(Outcome::Results(1)),
            Err(NoValue::Refused(message)) => Ok(raise_here(lua, &message)),
            Err(NoValue::Stopped) => Err(Stopped),
        }
    })
}

/// Why a text has no value.
enum NoValue {
    Refused(String),
    Stopped,
}

impl From<Stopped> for NoValue {
    fn from(_: Stopped) -> Self {
        NoValue::Stopped
    }
}

/// A table that is being filled, which lies on the stack.
enum Open {
    /// The key of the next value lies on top of it.
    Object,
    /// The index of the next value.
    Array(ffi::lua_Integer),
}

struct Reader<'a> {
    lua: State,
    tally: Tally<'a>,
    scanner: Scanner<'a>,
    settings: Settings,
    open: Vec<Open>,
}

impl Reader<'_> {
    /// Pushes the value of the whole text.
    ///
    /// # Safety
    ///
    /// The callers are in [`owning`], and there are free slots for a value.
    unsafe fn document(mut self) -> Result<(), NoValue> {
        let mut token = self.scanner.next();
        loop {
            self.tally.read()?;
            if let Some(first) = self.push(token)? {
                token = first;
                continue;
            }
            match self.store()? {
                Some(next) => token = next,
                None => break,
            }
        }
        match self.scanner.next() {
            Token::End => Ok(()),
            token => Err(self.unexpected("the end", &token)),
        }
    }

    fn unexpected(&self, wanted: &str, found: &Token) -> NoValue {
        NoValue::Refused(self.scanner.unexpected(wanted, found))
    }

    /// Pushes the value that starts with a token. If that is a table with anything in it, the
    /// first token of its first value is answered.
    ///
    /// # Safety
    ///
    /// As [`Reader::document`].
    unsafe fn push(&mut self, token: Token) -> Result<Option<Token>, NoValue> {
        match token {
            Token::Text(text) => push_bytes(self.lua, &text),
            Token::Number(number) => ffi::lua_pushnumber(self.lua, number),
            Token::Boolean(yes) => ffi::lua_pushboolean(self.lua, i32::from(yes)),
            Token::Null => ffi::lua_pushlightuserdata(self.lua, ptr::null_mut()),
            Token::ObjectBegin => {
                self.descend()?;
                let token = self.scanner.next();
                if token != Token::ObjectEnd {
                    self.open.push(Open::Object);
                    return self.key(token).map(Some);
                }
            }
            Token::ArrayBegin => {
                self.descend()?;
                let token = self.scanner.next();
                if token != Token::ArrayEnd {
                    self.open.push(Open::Array(1));
                    return Ok(Some(token));
                }
            }
            token => return Err(self.unexpected("value", &token)),
        }
        Ok(None)
    }

    /// Pushes a fresh table.
    ///
    /// # Safety
    ///
    /// As [`Reader::document`]: more slots are made here.
    unsafe fn descend(&mut self) -> Result<(), NoValue> {
        let depth = i32::try_from(self.open.len() + 1).unwrap_or(i32::MAX);
        if depth > self.settings.decode_max_depth || ffi::lua_checkstack(self.lua, 3) == 0 {
            return Err(NoValue::Refused(format!(
                "Found too many nested data structures ({depth}) at character {}",
                self.scanner.position()
            )));
        }
        ffi::lua_createtable(self.lua, 0, 0);
        Ok(())
    }

    /// Pushes a key, and answers the first token of its value.
    ///
    /// # Safety
    ///
    /// The table of the key is on top, made by [`Reader::descend`].
    unsafe fn key(&mut self, token: Token) -> Result<Token, NoValue> {
        let Token::Text(key) = token else {
            return Err(self.unexpected("object key string", &token));
        };
        push_bytes(self.lua, &key);
        match self.scanner.next() {
            Token::Colon => Ok(self.scanner.next()),
            token => Err(self.unexpected("colon", &token)),
        }
    }

    /// Puts the value on top into the table that it belongs to, and that one, if it is full, into
    /// its own. The first token of the next value, or none at the end.
    ///
    /// # Safety
    ///
    /// There is a value on top, over the tables and keys that `open` tells of.
    unsafe fn store(&mut self) -> Result<Option<Token>, NoValue> {
        loop {
            let (end, wanted) = match self.open.last_mut() {
                None => return Ok(None),
                Some(Open::Object) => {
                    ffi::lua_rawset(self.lua, -3);
                    (Token::ObjectEnd, "comma or object end")
                }
                Some(Open::Array(index)) => {
                    ffi::lua_rawseti(self.lua, -2, *index);
                    *index += 1;
                    (Token::ArrayEnd, "comma or array end")
                }
            };
            match self.scanner.next() {
                token if token == end => self.open.pop(),
                Token::Comma => {
                    let token = self.scanner.next();
                    return match end {
                        Token::ObjectEnd => self.key(token).map(Some),
                        _ => Ok(Some(token)),
                    };
                }
                token => return Err(self.unexpected(wanted, &token)),
            };
        }
    }
}
