//! Running a compiled script: its arguments, its limits, its errors.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering;

use mlua::{Function, Lua, Table, ffi};

use super::bridge::Bridge;
use super::reply::{TooDeep, one_line, pop_reply};
use super::stack::{State, bytes, get_field, push_bytes, set_field};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::script::run::Active;
use crate::state::Profile;

/// How many instructions pass between two looks at the limit.
const INSTRUCTIONS_PER_LOOK: i32 = 100_000;

/// The key under which the registry has the bridge, for the hook, which has no upvalues.
const BRIDGE_KEY: &CStr = c"leaseline.bridge";

/// Where a script gets its arguments and its error texts from.
pub(crate) struct Frame<'a> {
    pub(crate) lua: &'a Lua,
    pub(crate) bridge: &'a Bridge,
    /// The real table of globals.
    pub(crate) globals: &'a Table,
    /// `__redis__err__handler`.
    pub(crate) handler: &'a Function,
}

impl Frame<'_> {
    /// Runs a script. `name` is its hash, for error texts.
    pub(crate) fn run(
        &self,
        script: &Function,
        name: &str,
        arguments: &[&[u8]],
        active: &mut Active<'_>,
    ) -> Answer {
        let profile = active.state.profile;
        let keys = active.keys;
        let mut answer = Ok(Reply::Nil);
        // SAFETY: the arguments of `exec_raw` are at the first three places of a fresh frame,
        // and `active` is only used through the bridge until it is cleared.
        let ran = unsafe {
            self.bridge.announce(active);
            let ran = self
                .lua
                .exec_raw::<()>((self.handler, script, self.globals), |lua| {
                    answer = run_frame(lua, name, keys, arguments, profile);
                });
            self.bridge.clear();
            ran
        };
        if let Some(panic) = self.bridge.take_panic() {
            resume_unwind(panic);
        }
        match ran {
            Ok(()) => answer,
            // Outside of the protected script only running out of memory can get here.
            Err(error) => Err(Refusal::Line(format!(
                "ERR Error running script {name}, {error}"
            ))),
        }
    }
}

/// Places in the frame: what `exec_raw` pushed.
const HANDLER: i32 = 1;
const SCRIPT: i32 = 2;
const GLOBALS: i32 = 3;

unsafe fn run_frame(
    lua: State,
    name: &str,
    keys: &[&[u8]],
    arguments: &[&[u8]],
    profile: Profile,
) -> Answer {
    set_global_list(lua, b"KEYS", keys);
    set_global_list(lua, b"ARGV", arguments);
    ffi::lua_sethook(
        lua,
        Some(count_instructions),
        ffi::LUA_MASKCOUNT,
        INSTRUCTIONS_PER_LOOK,
    );
    ffi::lua_pushvalue(lua, SCRIPT);
    let failed = ffi::lua_pcall(lua, 0, 1, HANDLER) != 0;
    ffi::lua_sethook(lua, None, 0, 0);
    let answer = if failed {
        error_answer(lua, name)
    } else {
        pop_reply(lua, profile, 0)
            .map_err(|TooDeep| Refusal::unsupported("replies that nest deeper than 1000 levels"))
    };
    ffi::lua_settop(lua, 0);
    answer
}

/// Sets a global to a fresh list of strings.
unsafe fn set_global_list(lua: State, name: &[u8], items: &[&[u8]]) {
    push_bytes(lua, name);
    ffi::lua_createtable(lua, i32::try_from(items.len()).unwrap_or(0), 0);
    for (index, item) in items.iter().enumerate() {
        push_bytes(lua, item);
        ffi::lua_rawseti(lua, -2, index as ffi::lua_Integer + 1);
    }
    ffi::lua_rawset(lua, GLOBALS);
}

/// The reply for the error value on top.
unsafe fn error_answer(lua: State, name: &str) -> Answer {
    if ffi::lua_type(lua, -1) != ffi::LUA_TTABLE {
        // The handler makes a table of everything, unless it fails itself.
        let text = bytes(lua, -1).unwrap_or(b"execution failure");
        let text = one_line(&text[..text.len().min(100)]);
        return Err(Refusal::Line(format!(
            "ERR Error running script {name}, {text}"
        )));
    }
    let Some(message) = text_or_number(lua, c"err") else {
        return Err(Refusal::unsupported(
            "raising a table without err, which kills Redis 7.0.15",
        ));
    };
    let source = text_or_number(lua, c"source");
    let line = text_or_number(lua, c"line");
    let mut text = message.replace(['\r', '\n'], " ");
    if let (Some(source), Some(line)) = (source, line) {
        text.push_str(&format!(" script: {name}, on {source}:{line}."));
    }
    Ok(Reply::Error(text))
}

/// A field of the table on top, up to its first NUL.
unsafe fn text_or_number(lua: State, field: &CStr) -> Option<String> {
    get_field(lua, field);
    let text = if ffi::lua_isstring(lua, -1) == 0 {
        None
    } else {
        // Converts a number in its place on the stack.
        ffi::lua_tolstring(lua, -1, std::ptr::null_mut());
        bytes(lua, -1).map(|text| {
            let end = text.iter().position(|byte| *byte == 0);
            String::from_utf8_lossy(&text[..end.unwrap_or(text.len())]).into_owned()
        })
    };
    ffi::lua_pop(lua, 1);
    text
}

/// `__redis__err__handler`: makes a table of any error and adds where it came from.
///
/// # Safety
///
/// Called by Lua with the error value.
pub(super) unsafe extern "C-unwind" fn explain(lua: State) -> i32 {
    ffi::lua_settop(lua, 1);
    let mut place = MaybeUninit::<ffi::lua_Debug>::zeroed();
    let place = place.as_mut_ptr();
    // Level 0 is this function. A C function has no line, so its caller's is taken.
    let mut found = ffi::lua_getstack(lua, 1, place) != 0;
    if found {
        ffi::lua_getinfo(lua, c"Sl".as_ptr(), place);
        if CStr::from_ptr((*place).what) == c"C" {
            found = ffi::lua_getstack(lua, 2, place) != 0;
            if found {
                ffi::lua_getinfo(lua, c"Sl".as_ptr(), place);
            }
        }
    }
    if ffi::lua_type(lua, 1) != ffi::LUA_TTABLE {
        ffi::lua_createtable(lua, 0, 3);
        push_bytes(lua, b"ERR ");
        ffi::luaL_tolstring(lua, 1, std::ptr::null_mut());
        ffi::lua_concat(lua, 2);
        set_field(lua, c"err");
        ffi::lua_replace(lua, 1);
    }
    if found {
        ffi::lua_pushstring_(lua, (*place).source);
        set_field(lua, c"source");
        ffi::lua_pushnumber(lua, f64::from((*place).currentline));
        set_field(lua, c"line");
    }
    1
}

/// Stops a script that does not end.
unsafe extern "C-unwind" fn count_instructions(lua: State, _: *mut ffi::lua_Debug) {
    ffi::lua_getfield(lua, ffi::LUA_REGISTRYINDEX, BRIDGE_KEY.as_ptr());
    let bridge = ffi::lua_touserdata(lua, -1).cast::<Bridge>();
    ffi::lua_pop(lua, 1);
    let Some(bridge) = bridge.as_ref() else {
        return;
    };
    let counted = INSTRUCTIONS_PER_LOOK as u64;
    let total = bridge.instructions.fetch_add(counted, Ordering::Relaxed) + counted;
    if total >= bridge.instruction_limit.load(Ordering::Relaxed) {
        // From here on at every line, so that no pcall in a loop can go on for long.
        ffi::lua_sethook(lua, Some(count_instructions), ffi::LUA_MASKLINE, 0);
        // Level 0, because a hook has no level of its own.
        ffi::luaL_where(lua, 0);
        push_bytes(
            lua,
            b"leaseline-redis-model stops after so many instructions",
        );
        ffi::lua_concat(lua, 2);
        ffi::lua_error(lua);
    }
}

/// Leaves the bridge where the hook finds it.
///
/// # Safety
///
/// `bridge` outlives the Lua state, and there is a free slot.
pub(super) unsafe fn register_bridge(lua: State, bridge: *const Bridge) {
    ffi::lua_pushlightuserdata(lua, bridge.cast_mut().cast());
    ffi::lua_setfield(lua, ffi::LUA_REGISTRYINDEX, BRIDGE_KEY.as_ptr());
}
