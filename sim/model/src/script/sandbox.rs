//! What a script finds: the globals of Redis' Lua, all of them read-only.

use mlua::{Function, Lua, LuaOptions, Result, StdLib, Table, Value};

use super::raw::{self, Machine};
use crate::random::Random;
use crate::state::Profile;

/// Globals that are plain Lua 5.1. `setfenv`, `getfenv` and `newproxy` are missing because Debian
/// took them out of 7.0.15, as 7.2 did later.
const PLAIN: [&str; 12] = [
    "_VERSION",
    "assert",
    "collectgarbage",
    "error",
    "gcinfo",
    "ipairs",
    "rawequal",
    "select",
    "tonumber",
    "tostring",
    "type",
    "unpack",
];

/// Makes a Lua state that is ready for scripts.
pub(super) fn machine(profile: Profile, random: Random) -> Result<Machine> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
    let lua = Lua::new_with(libraries, LuaOptions::new())?;
    let given = lua.globals();
    let globals = lua.create_table()?;
    for name in PLAIN {
        globals.raw_set(name, given.raw_get::<Value>(name)?)?;
    }
    let next = raw::reader(&lua, given.raw_get("next")?)?;
    globals.raw_set("pairs", raw::pairs(&lua, next.clone())?)?;
    globals.raw_set("next", next)?;
    globals.raw_set("rawget", raw::reader(&lua, given.raw_get("rawget")?)?)?;
    for name in ["rawset", "setmetatable"] {
        globals.raw_set(name, raw::writer(&lua, given.raw_get(name)?)?)?;
    }
    let getmetatable = given.raw_get("getmetatable")?;
    globals.raw_set("getmetatable", raw::getmetatable(&lua, getmetatable)?)?;

    let coroutine: Table = given.raw_get("coroutine")?;
    let (create, resume) = (coroutine.raw_get("create")?, coroutine.raw_get("resume")?);
    coroutine.raw_set("wrap", raw::coroutine_wrap(&lua, create, resume)?)?;
    let table: Table = given.raw_get("table")?;
    table.raw_set("getn", raw::reader(&lua, table.raw_get("getn")?)?)?;

    let library = |name| match name {
        "" => Ok(globals.clone()),
        name => given.raw_get::<Table>(name),
    };
    for (name, functions) in raw::REPLACEMENTS {
        raw::fill(&lua, &library(name)?, functions)?;
    }
    for (name, functions) in raw::WRAPPERS {
        raw::wrap(&lua, &library(name)?, functions)?;
    }
    for name in ["table", "math", "coroutine"] {
        let library = library(name)?;
        globals.raw_set(name, raw::readonly(&lua, &library, None)?)?;
    }
    let string = library("string")?;
    let shared = raw::readonly(&lua, &string, None)?;
    guard_strings(&lua, &string, &shared)?;
    globals.raw_set("string", shared)?;
    for (name, functions) in raw::LIBRARIES {
        let library = lua.create_table()?;
        raw::fill(&lua, &library, functions)?;
        add_constants(name, &library, profile)?;
        globals.raw_set(name, raw::readonly(&lua, &library, None)?)?;
    }

    let unknown = lua.create_table()?;
    unknown.raw_set("__index", raw::unknown_global(&lua)?)?;
    globals.set_metatable(Some(unknown.clone()))?;
    let shown = raw::readonly(&lua, &unknown, None)?;
    let shared = raw::readonly(&lua, &globals, Some(&shown))?;
    globals.raw_set("_G", &shared)?;
    lua.set_globals(shared)?;
    let handler: Function = globals.raw_get("__redis__err__handler")?;
    Machine::new(lua, &globals, &handler, profile, random)
}

/// Makes methods of strings work, and their metatable read-only.
fn guard_strings(lua: &Lua, string: &Table, shared: &Table) -> Result<()> {
    let visible = lua.create_table()?;
    visible.raw_set("__index", shared)?;
    let metatable = lua.create_table()?;
    metatable.raw_set("__index", string)?;
    metatable.raw_set("__metatable", raw::readonly(lua, &visible, None)?)?;
    lua.set_type_metatable::<mlua::LuaString>(Some(metatable));
    Ok(())
}

/// Adds what a library has besides functions.
fn add_constants(name: &str, library: &Table, profile: Profile) -> Result<()> {
    match name {
        "redis" => {
            for (name, value) in [
                ("LOG_DEBUG", 0),
                ("LOG_VERBOSE", 1),
                ("LOG_NOTICE", 2),
                ("LOG_WARNING", 3),
                ("REPL_NONE", 0),
                ("REPL_AOF", 1),
                ("REPL_SLAVE", 2),
                ("REPL_REPLICA", 2),
                ("REPL_ALL", 3),
                ("REDIS_VERSION_NUM", profile.version_number()),
            ] {
                library.raw_set(name, value)?;
            }
            library.raw_set("REDIS_VERSION", profile.version())
        }
        "cjson" => {
            library.raw_set("null", Value::NULL)?;
            library.raw_set("_NAME", "cjson")?;
            library.raw_set("_VERSION", "2.1.0")
        }
        "cmsgpack" => {
            for (name, text) in [
                ("_NAME", "cmsgpack"),
                ("_VERSION", "lua-cmsgpack 0.4.0"),
                ("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo"),
                ("_DESCRIPTION", "MessagePack C implementation for Lua"),
            ] {
                library.raw_set(name, text)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
