//! `cjson.decode`.

use std::ptr;

use mlua::ffi;

use super::bridge;
use super::stack::{Outcome, State, bytes, finish, push_bytes, raise_here};
use crate::script::json::{Scanner, Settings, Token};

/// `cjson.decode`.
///
/// # Safety
///
/// Called by Lua, with the bridge as upvalue.
pub(super) unsafe extern "C-unwind" fn decode(lua: State) -> i32 {
    if ffi::lua_gettop(lua) != 1 {
        return ffi::luaL_argerror(lua, 1, c"expected 1 argument".as_ptr());
    }
    // Raises for anything but a string or a number, which becomes a string.
    ffi::luaL_checklstring(lua, 1, ptr::null_mut());
    let outcome = decode_first(lua);
    finish(lua, outcome)
}

unsafe fn decode_first(lua: State) -> Outcome {
    let settings = bridge::of(lua).json_settings();
    let text = bytes(lua, 1).unwrap_or_default();
    let result = match text {
        [0, _, ..] | [_, 0, ..] => Err("JSON parser does not support UTF-16 or UTF-32".to_owned()),
        _ => Reader {
            lua,
            scanner: Scanner::new(text, settings.decode_invalid_numbers),
            settings,
            depth: 0,
        }
        .document(),
    };
    match result {
        Ok(()) => Outcome::Results(1),
        Err(message) => {
            // Wherever the reader stopped, only the message matters now.
            ffi::lua_settop(lua, 0);
            raise_here(lua, &message)
        }
    }
}

struct Reader<'a> {
    lua: State,
    scanner: Scanner<'a>,
    settings: Settings,
    depth: i32,
}

impl Reader<'_> {
    /// Pushes the value of the whole text.
    unsafe fn document(mut self) -> Result<(), String> {
        let first = self.scanner.next();
        self.value(first)?;
        match self.scanner.next() {
            Token::End => Ok(()),
            token => Err(self.scanner.unexpected("the end", &token)),
        }
    }

    /// Pushes the value that starts with a token.
    unsafe fn value(&mut self, token: Token) -> Result<(), String> {
        match token {
            Token::Text(text) => push_bytes(self.lua, &text),
            Token::Number(number) => ffi::lua_pushnumber(self.lua, number),
            Token::Boolean(yes) => ffi::lua_pushboolean(self.lua, i32::from(yes)),
            Token::Null => ffi::lua_pushlightuserdata(self.lua, ptr::null_mut()),
            Token::ObjectBegin => self.object()?,
            Token::ArrayBegin => self.array()?,
            token => return Err(self.scanner.unexpected("value", &token)),
        }
        Ok(())
    }

    unsafe fn descend(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > self.settings.decode_max_depth || ffi::lua_checkstack(self.lua, 4) == 0 {
            return Err(format!(
                "Found too many nested data structures ({}) at character {}",
                self.depth,
                self.scanner.position()
            ));
        }
        ffi::lua_createtable(self.lua, 0, 0);
        Ok(())
    }

    unsafe fn object(&mut self) -> Result<(), String> {
        self.descend()?;
        let mut token = self.scanner.next();
        if token != Token::ObjectEnd {
            loop {
                let Token::Text(key) = token else {
                    return Err(self.scanner.unexpected("object key string", &token));
                };
                push_bytes(self.lua, &key);
                match self.scanner.next() {
                    Token::Colon => {}
                    token => return Err(self.scanner.unexpected("colon", &token)),
                }
                let first = self.scanner.next();
                self.value(first)?;
                ffi::lua_rawset(self.lua, -3);
                match self.scanner.next() {
                    Token::ObjectEnd => break,
                    Token::Comma => token = self.scanner.next(),
                    token => return Err(self.scanner.unexpected("comma or object end", &token)),
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    unsafe fn array(&mut self) -> Result<(), String> {
        self.descend()?;
        let mut token = self.scanner.next();
        if token != Token::ArrayEnd {
            for index in 1.. {
                self.value(token)?;
                ffi::lua_rawseti(self.lua, -2, index);
                match self.scanner.next() {
                    Token::ArrayEnd => break,
                    Token::Comma => token = self.scanner.next(),
                    token => return Err(self.scanner.unexpected("comma or array end", &token)),
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }
}
