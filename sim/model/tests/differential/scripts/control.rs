//! What changes the way of a script: protected calls, coroutines, loaded code, metatables.

use super::expressions::{call, expression as any, message};
use super::values::{quoted, text};
use crate::random::Random;

pub(super) fn expression(random: &mut Random, depth: usize) -> String {
    match random.below(14) {
        0 => format!("select('#', pcall(error, {}))", message(random)),
        1 => format!("{{pcall(error, {})}}", message(random)),
        2 => format!("{{pcall(function() return {} end)}}", any(random, depth)),
        3 => {
            let handler = handler(random);
            format!(
                "{{xpcall(function() return {} end, {handler})}}",
                any(random, depth)
            )
        }
        4 => format!(
            "{{xpcall(function() error({}) end, {})}}",
            message(random),
            handler(random)
        ),
        5 | 6 => coroutine(random, depth),
        7 | 8 => loaded(random, depth),
        9 | 10 => metatable(random, depth),
        11 => format!(
            "(function(...) return {{select('#', ...), ...}} end)({})",
            any(random, depth)
        ),
        12 => format!("{{pcall(redis.call, {})}}", any(random, 0)),
        _ => format!(
            "{{xpcall(function() return {} end, __redis__err__handler)}}",
            call(random)
        ),
    }
}

fn handler(random: &mut Random) -> &'static str {
    [
        "function(e) return e end",
        "function(e) return type(e) end",
        "function(e) error('again') end",
        "type",
        "5",
        "function(e) return type(e) == 'table' and e.err or e end",
    ][random.below(6)]
}

fn coroutine(random: &mut Random, depth: usize) -> String {
    let value = any(random, depth);
    match random.below(8) {
        0 => format!("{{coroutine.resume(coroutine.create(function() return {value} end))}}"),
        1 => format!("coroutine.wrap(function() return {value} end)()"),
        2 => format!(
            "(function() local f = coroutine.wrap(function(a) local b = coroutine.yield(a) return \
             b, {value} end) return {{f(1), f(2), pcall(f)}} end)()"
        ),
        3 => format!(
            "{{coroutine.resume(coroutine.create(function() error({}) end))}}",
            message(random)
        ),
        4 => format!(
            "{{pcall(coroutine.wrap(function() error({}) end))}}",
            message(random)
        ),
        5 => "{pcall(coroutine.yield, 1)}".to_owned(),
        6 => format!(
            "(function() local c = coroutine.create(function() return {value} end) \
             coroutine.resume(c) return {{coroutine.status(c), coroutine.resume(c)}} end)()"
        ),
        _ => format!("{{pcall(coroutine.wrap, {value})}}"),
    }
}

fn loaded(random: &mut Random, depth: usize) -> String {
    let code = match random.below(4) {
        0 => random
            .pick(&[
                "return 1 +",
                "x = 1",
                "return x",
                "\u{1b}Lua",
                "error('in', 1)",
                "return ...",
                "local a <const> = 1",
                "goto x",
                "return 'open",
                "for",
                "return 1 \u{1b}",
            ])
            .to_owned(),
        _ => format!("return {}", any(random, depth)),
    };
    let code = quoted(&code);
    let name = random.pick(&["", ", '=n'", ", '@n'", ", 'n\\nm'", ", 5", ", {}"]);
    match random.below(5) {
        0 => format!("{{select(2, loadstring({code}{name}))}}"),
        1 => format!("assert(loadstring({code}{name}))(1, 2)"),
        2 => format!(
            "(function() local s, n = {code}, 0 return {{select(2, load(function() n = n + 1 \
             return n <= #s and s:sub(n, n) or nil end{name}))}} end)()"
        ),
        3 => format!("{{pcall(load, {})}}", any(random, 0)),
        _ => format!("{{pcall(assert(loadstring({code}{name})))}}"),
    }
}

fn metatable(random: &mut Random, depth: usize) -> String {
    let value = any(random, depth);
    let event = random.pick(&[
        "__index",
        "__newindex",
        "__call",
        "__concat",
        "__len",
        "__unm",
        "__add",
        "__eq",
        "__lt",
        "__le",
        "__tostring",
        "__metatable",
    ]);
    let function = match random.below(4) {
        0 => "{a = 1, err = 'via'}".to_owned(),
        1 => "5".to_owned(),
        _ => format!("function(a, b) return {value} end"),
    };
    let object = format!("setmetatable({{1, 2}}, {{{event} = {function}}})");
    let used = random.pick(&[
        "o.a",
        "o[1]",
        "o()",
        "o .. 'x'",
        "#o",
        "-o",
        "o + 1",
        "o == o",
        "o < o",
        "o <= 1",
        "getmetatable(o) ~= nil",
        "setmetatable(o, {}) and 1",
        "cjson.encode(o)",
        "cmsgpack.pack(o)",
        "{unpack(o)}",
        "o",
        "rawget(o, 1)",
        "#table.concat(o)",
        "{pcall(error, o)}",
        "tostring(o) ~= nil",
    ]);
    format!("(function() local o = {object} return {used} end)()")
}

/// A statement that may end the script, or go wrong.
pub(super) fn statement(random: &mut Random) -> String {
    match random.below(6) {
        0 => format!(
            "local a, b, c = {}, {} t[#t+1] = b",
            any(random, 1),
            any(random, 1)
        ),
        1 => format!("KEYS[1] = {} t[#t+1] = KEYS[1]", any(random, 0)),
        2 => random
            .pick(&[
                "KEYS = 1",
                "x = 1",
                "redis.call = 1",
                "string.x = 1",
                "_G.x = 1",
                "getmetatable('').x = 1",
                "local function f(n) if n > 0 then return f(n - 1) end return n end t[#t+1] = f(9)",
                "do local _ENV = {} t[#t+1] = _ENV end",
            ])
            .to_owned(),
        3 => format!("do local s = {} t[s] = 1 t[s] = nil end", text(random)),
        4 => format!("t.x = {} t[#t+1] = t.x t.x = nil", any(random, 1)),
        _ => format!(
            "local f = function() return {} end t[#t+1] = f()",
            any(random, 2)
        ),
    }
}
