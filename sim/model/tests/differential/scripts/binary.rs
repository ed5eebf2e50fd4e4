//! `struct`, `cmsgpack` and `bit`.

use super::expressions::{expression as any, mostly, table};
use super::values::{number, quoted, quoted_bytes, small, text};
use crate::random::Random;

/// A format of `struct`, mostly a good one.
pub(crate) fn layout(random: &mut Random) -> String {
    let mut layout = String::new();
    for _ in 0..=random.below(4) {
        layout.push_str(match random.below(25) {
            0 => random.pick(&["z", "3", "i33", "!3", "c99999999999", "-", "=", "\0", "q"]),
            1..=4 => random.pick(&["<", ">", " ", "!", "!2", "!4", "!8", "!16", "!1"]),
            _ => random.pick(&[
                "b", "B", "h", "H", "i", "I", "l", "L", "T", "f", "d", "s", "x", "c", "c0", "c2",
                "i1", "i3", "I5", "i8", "i9", "I16", "i32", "i0", "I7",
            ]),
        });
    }
    layout
}

/// Bytes that mean something to `cmsgpack` and `struct`.
pub(crate) fn bytes(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.below(12) {
        match random.below(8) {
            0 => bytes.push(random.next() as u8),
            1 => bytes.extend_from_slice(&[0, 0]),
            2 => bytes.push(0x80 + random.below(4) as u8),
            3 => bytes.push(0x90 + random.below(4) as u8),
            4 => bytes.extend_from_slice(b"\xa1a"),
            5 => bytes.push(0xc0 + random.below(32) as u8),
            _ => bytes.push(random.below(6) as u8),
        }
    }
    bytes
}

/// Reads the argument and shows what came of it. The order of keys that are tables is up to their
/// addresses.
pub(crate) const READ_MSGPACK: &str = "\
local r = {pcall(cmsgpack.unpack, ARGV[1])}
r[#r+1] = {pcall(cmsgpack.unpack_one, ARGV[1], tonumber(ARGV[2]))}
r[#r+1] = {pcall(cmsgpack.unpack_limit, ARGV[1], tonumber(ARGV[2]), 1)}
local function plain(value)
  if type(value) ~= 'table' then return true end
  for k, v in pairs(value) do
    if type(k) == 'table' or not plain(v) then return false end
  end
  return true
end
r[#r+1] = plain(r) and cmsgpack.pack(r)
return r";

/// As [`READ_MSGPACK`]; the second argument is the format.
pub(crate) const READ_STRUCT: &str = "\
local r = {pcall(struct.unpack, ARGV[2], ARGV[1])}
for i = 1, #r do if type(r[i]) == 'number' then r[i] = string.format('%.17g', r[i]) end end
r[#r+1] = {pcall(struct.size, ARGV[2])}
r[#r+1] = {pcall(struct.unpack, ARGV[2], ARGV[1], 3)}
return r";

pub(super) fn expression(random: &mut Random, depth: usize) -> String {
    match random.below(12) {
        0 | 1 => {
            let mut arguments = quoted(&layout(random));
            for _ in 0..random.below(5) {
                arguments.push_str(", ");
                arguments.push_str(&match random.below(4) {
                    0 => text(random),
                    _ => mostly(random, number),
                });
            }
            format!("struct.pack({arguments})")
        }
        2 => format!(
            "{{struct.unpack({}, {})}}",
            quoted(&layout(random)),
            quoted_bytes(&bytes(random))
        ),
        3 => format!(
            "{{struct.unpack({}, {}, {})}}",
            quoted(&layout(random)),
            mostly(random, text),
            mostly(random, small)
        ),
        4 => format!("struct.size({})", quoted(&layout(random))),
        5 => format!("cmsgpack.pack({})", any(random, depth)),
        6 => format!(
            "cmsgpack.pack({}, {})",
            table(random, depth),
            any(random, depth)
        ),
        7 => format!("{{cmsgpack.unpack(cmsgpack.pack({}))}}", any(random, depth)),
        8 => {
            let name = random.pick(&["unpack", "unpack_one", "unpack_limit"]);
            let (one, two) = (mostly(random, small), mostly(random, small));
            let text = quoted_bytes(&bytes(random));
            format!("{{cmsgpack.{name}({text}, {one}, {two})}}")
        }
        9 => {
            let name = random.pick(&["band", "bor", "bxor"]);
            let (one, two) = (mostly(random, number), mostly(random, number));
            format!("bit.{name}({one}, {two}, {})", mostly(random, number))
        }
        10 => {
            let name = random.pick(&["lshift", "rshift", "arshift", "rol", "ror", "tohex"]);
            let (one, two) = (mostly(random, number), mostly(random, small));
            format!("bit.{name}({one}, {two})")
        }
        _ => {
            let name = random.pick(&["tobit", "bnot", "bswap", "tohex", "band"]);
            format!("bit.{name}({})", mostly(random, number))
        }
    }
}
