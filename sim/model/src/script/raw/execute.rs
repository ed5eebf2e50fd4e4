//! Running a compiled script: its arguments, its limits, what comes of it.

use std::panic::resume_unwind;

use mlua::ffi;

use super::explain::error_answer;
use super::heap::INSTRUCTIONS_PER_LOOK;
use super::look::look;
use super::stack::{State, push_bytes};
use super::to_reply::{Converter, NoReply};
use super::{Machine, Slot};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::script::limits::Limits;
use crate::script::run::Active;
use crate::shape::{Protocol, Shape};

/// One run of a script.
pub(crate) struct Run<'a> {
    pub(crate) script: Slot,
    /// Its hash, for error texts.
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [&'a [u8]],
    /// The protocol of the client that gets the reply.
    pub(crate) protocol: Protocol,
    pub(crate) limits: Limits,
}

impl Machine {
    /// Runs a script.
    pub(crate) fn run(&self, run: &Run<'_>, active: &mut Active<'_>) -> Answer {
        let bridge = &self.bridge;
        // SAFETY: nothing else uses the state, as this holds the only reference to the engine.
        // No function of Lua raises here: memory is granted, and the script is called protected.
        // `active` is only used through the bridge until that is cleared.
        let answer = unsafe {
            let lua = self.state();
            let top = ffi::lua_gettop(lua);
            let keys = active.keys;
            bridge.announce(lua, active, &run.limits);
            let answer = self.run_announced(lua, run, keys);
            ffi::lua_settop(lua, top);
            bridge.clear();
            answer
        };
        if let Some(panic) = bridge.take_panic() {
            resume_unwind(panic);
        }
        answer
    }

    /// # Safety
    ///
    /// As above, and the bridge knows of the running script.
    unsafe fn run_announced(&self, lua: State, run: &Run<'_>, keys: &[&[u8]]) -> Answer {
        self.bridge.collect_if_due(lua);
        // This grows a stack far below its limit.
        ffi::lua_checkstack(lua, 20);
        self.push(lua, self.globals);
        set_list(lua, b"KEYS", keys);
        set_list(lua, b"ARGV", run.arguments);
        ffi::lua_pop(lua, 1);
        self.push(lua, self.handler);
        let handler = ffi::lua_gettop(lua);
        self.push(lua, run.script);
        ffi::lua_sethook(lua, Some(look), ffi::LUA_MASKCOUNT, INSTRUCTIONS_PER_LOOK);
        self.bridge.heap.enforce();
        let status = ffi::lua_pcall(lua, 0, 1, handler);
        self.bridge.heap.relax();
        let answer = match status {
            0 => self.reply(lua, run),
            _ => error_answer(lua, run.name),
        };
        match self.bridge.meter.take_stop() {
            Some(stop) => {
                // Much of what the script had may be garbage now.
                ffi::lua_settop(lua, handler);
                self.bridge.collect(lua);
                Ok(Reply::Error(stop.line(run.name).into()))
            }
            None => answer,
        }
    }

    /// The reply for the value on top.
    ///
    /// # Safety
    ///
    /// As [`Converter::convert`], and the bridge knows of the running script.
    unsafe fn reply(&self, lua: State, run: &Run<'_>) -> Answer {
        let mut converter = Converter {
            lua,
            bridge: &self.bridge,
            script_protocol: self.bridge.script_protocol(),
            shape: Shape {
                profile: self.bridge.profile(),
                protocol: run.protocol,
            },
            size: 0,
        };
        match converter.convert(0) {
            Ok(reply) => Ok(reply),
            Err(NoReply::TooDeep) => Err(Refusal::unsupported(
                "replies that nest deeper than 1000 levels",
            )),
            // The meter knows why.
            Err(NoReply::Stopped) => Ok(Reply::Nil),
        }
    }

    /// Pushes a value that is kept for the engine.
    ///
    /// # Safety
    ///
    /// There is a free slot.
    unsafe fn push(&self, lua: State, Slot(slot): Slot) {
        ffi::lua_rawgeti(lua, ffi::LUA_REGISTRYINDEX, slot.into());
    }
}

/// Sets a field of the table on top to a fresh list of strings.
///
/// # Safety
///
/// A table is on top with three free slots over it, and memory is granted.
unsafe fn set_list(lua: State, name: &[u8], items: &[&[u8]]) {
    push_bytes(lua, name);
    ffi::lua_createtable(lua, i32::try_from(items.len()).unwrap_or(0), 0);
    for (index, item) in items.iter().enumerate() {
        push_bytes(lua, item);
        ffi::lua_rawseti(lua, -2, index as ffi::lua_Integer + 1);
    }
    ffi::lua_rawset(lua, -3);
}
