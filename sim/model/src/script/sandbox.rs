//! What a script finds: the globals of Redis' Lua, all of them read-only.

use std::sync::Arc;

use mlua::{Function, Lua, LuaOptions, Result, StdLib, Table, Value};

use super::raw::{self, Bridge, Maker};
use crate::state::Profile;

/// A Lua state that is ready for scripts.
pub(super) struct Sandbox {
    pub(super) lua: Lua,
    /// The table behind the globals, where `KEYS` and `ARGV` are set.
    pub(super) globals: Table,
    pub(super) error_handler: Function,
}

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

impl Sandbox {
    pub(super) fn new(bridge: &Arc<Bridge>, profile: Profile) -> Result<Self> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        // The replacements of pcall and xpcall that catch panics would change what scripts see.
        let options = LuaOptions::new().catch_rust_panics(false);
        let lua = Lua::new_with(libraries, options)?;
        let maker = Maker::new(&lua, bridge)?;
        let given = lua.globals();
        let globals = lua.create_table()?;

        for name in PLAIN {
            globals.raw_set(name, given.raw_get::<Value>(name)?)?;
        }
        globals.raw_set("xpcall", given.raw_get::<Value>("xpcall")?)?;
        globals.raw_set("pcall", maker.pcall()?)?;
        let next = raw::reader(&lua, given.raw_get("next")?)?;
        globals.raw_set("pairs", raw::pairs(&lua, next.clone())?)?;
        globals.raw_set("next", next)?;
        globals.raw_set("rawget", raw::reader(&lua, given.raw_get("rawget")?)?)?;
        for name in ["rawset", "setmetatable"] {
            globals.raw_set(name, raw::writer(&lua, given.raw_get(name)?)?)?;
        }
        let getmetatable = given.raw_get("getmetatable")?;
        globals.raw_set("getmetatable", raw::getmetatable(&lua, getmetatable)?)?;
        globals.raw_set(
            "loadstring",
            raw::loadstring(&lua, given.raw_get("loadstring")?)?,
        )?;
        globals.raw_set("load", raw::load(&lua, given.raw_get("load")?)?)?;

        let table: Table = given.raw_get("table")?;
        for name in ["insert", "remove", "setn", "sort"] {
            table.raw_set(name, raw::writer(&lua, table.raw_get(name)?)?)?;
        }
        for name in ["concat", "foreach", "foreachi", "getn", "maxn"] {
            table.raw_set(name, raw::reader(&lua, table.raw_get(name)?)?)?;
        }
        let math: Table = given.raw_get("math")?;
        math.raw_set("random", maker.random()?)?;
        math.raw_set("randomseed", maker.random_seed()?)?;
        let string: Table = given.raw_get("string")?;
        let shared_string = raw::readonly(&lua, &string, None)?;
        guard_strings(&lua, &string, &shared_string)?;

        globals.raw_set("string", shared_string)?;
        let coroutine: Table = given.raw_get("coroutine")?;
        for (name, library) in [
            ("table", table),
            ("math", math),
            ("coroutine", coroutine),
            ("redis", redis(&maker, profile)?),
            ("cjson", cjson(&maker)?),
        ] {
            globals.raw_set(name, raw::readonly(&lua, &library, None)?)?;
        }
        for name in ["bit", "cmsgpack", "struct"] {
            let library = lua.create_table()?;
            let behind = lua.create_table()?;
            behind.raw_set("__index", maker.missing_library(name)?)?;
            library.set_metatable(Some(behind))?;
            globals.raw_set(name, raw::readonly(&lua, &library, None)?)?;
        }

        let error_handler = maker.error_handler()?;
        globals.raw_set("__redis__err__handler", error_handler.clone())?;
        let unknown = lua.create_table()?;
        unknown.raw_set("__index", raw::unknown_global(&lua)?)?;
        globals.set_metatable(Some(unknown.clone()))?;
        let shown = raw::readonly(&lua, &unknown, None)?;
        let shared = raw::readonly(&lua, &globals, Some(&shown))?;
        globals.raw_set("_G", &shared)?;
        lua.set_globals(shared)?;
        Ok(Sandbox {
            lua,
            globals,
            error_handler,
        })
    }
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

fn redis(maker: &Maker<'_>, profile: Profile) -> Result<Table> {
    let redis = maker.redis()?;
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
        redis.raw_set(name, value)?;
    }
    redis.raw_set("REDIS_VERSION", profile.version())?;
    Ok(redis)
}

fn cjson(maker: &Maker<'_>) -> Result<Table> {
    let cjson = maker.cjson()?;
    cjson.raw_set("null", Value::NULL)?;
    cjson.raw_set("_NAME", "cjson")?;
    cjson.raw_set("_VERSION", "2.1.0")?;
    Ok(cjson)
}
