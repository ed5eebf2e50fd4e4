//! Random Lua bodies: calls, conversions both ways, errors of all kinds, and every library.

mod binary;
mod control;
mod expressions;
mod format;
mod tables;
mod text;
mod values;

pub(crate) use binary::{READ_MSGPACK, READ_STRUCT, bytes, layout};
use expressions::{call, expression, message};

use crate::random::Random;

/// Lists every global, and every field of every table and metatable that a script can reach, with
/// its type and, if it is plain, its value.
pub(crate) const ALL_NAMES: &str = "\
local found, seen = {}, {}
local function walk(name, value)
  local kind = type(value)
  local shown = (kind == 'number' or kind == 'string') and ' ' .. value or ''
  found[#found + 1] = name .. ': ' .. kind .. shown
  if kind ~= 'table' or seen[value] then return end
  seen[value] = true
  for key, inner in pairs(value) do walk(name .. '.' .. tostring(key), inner) end
  walk(name .. ' (metatable)', getmetatable(value))
end
walk('_G', _G)
walk('a string (metatable)', getmetatable(''))
for name, value in pairs({f = walk, n = 1, c = coroutine.create(walk), u = cjson.null, k = cjson.new()}) do
  walk(name, value)
  walk(name .. ' (metatable)', getmetatable(value))
end
table.sort(found)
return found";

/// A script that may succeed or fail in any way, but always ends.
pub(crate) fn script(random: &mut Random) -> String {
    let mut body = String::from("local t = {}\n");
    if random.one_in(6) {
        body.push_str("redis.setresp(3)\n");
    }
    for _ in 0..random.below(5) {
        body.push_str(&statement(random));
        body.push('\n');
    }
    body.push_str(&match random.below(8) {
        0 => format!("return {}", expression(random, 3)),
        1 => format!("return {}", call(random)),
        2 => format!("error({})", message(random)),
        3 => "return cjson.encode(t)".to_owned(),
        4 => format!("return {{t, {}}}", expression(random, 2)),
        5 => "return cmsgpack.pack(t)".to_owned(),
        _ => "return t".to_owned(),
    });
    body
}

fn statement(random: &mut Random) -> String {
    match random.below(12) {
        0 => format!(
            "local ok, e = pcall(function() return {} end) t[#t+1] = e",
            expression(random, 2)
        ),
        1 => format!(
            "if {} then t[#t+1] = {} end",
            expression(random, 1),
            expression(random, 2)
        ),
        2 => format!(
            "local r = {} if type(r) == 'table' and r.err then return r end",
            call(random)
        ),
        3 | 4 => format!("t[#t+1] = {}", call(random)),
        5 => format!("t[#t+1] = {{pcall(function() {} end)}}", loop_(random)),
        6 => loop_(random),
        7 => control::statement(random),
        _ => format!("t[#t+1] = {}", expression(random, 3)),
    }
}

/// A loop that takes few turns.
fn loop_(random: &mut Random) -> String {
    let step = expression(random, 1);
    match random.below(5) {
        0 => format!("for i = 1, 3 do t[#t+1] = {step} end"),
        1 => format!("for i = 3, 1, -1.5 do t[#t+1] = i t[#t+1] = {step} end"),
        2 => format!(
            "for i, v in ipairs({}) do t[#t+1] = v if i > 3 then break end end",
            expressions::table(random, 1)
        ),
        3 => format!("local n = 0 while n < 2 do n = n + 1 t[#t+1] = {step} end"),
        _ => format!("repeat local x = {step} t[#t+1] = x until #t > 0 or true"),
    }
}
