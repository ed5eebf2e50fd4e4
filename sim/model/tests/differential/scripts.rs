//! Random Lua bodies: calls, conversions both ways, errors of all kinds, JSON.

use crate::calls;
use crate::random::Random;
use crate::unordered;

/// A script that may succeed or fail in any way, but always ends.
pub(crate) fn script(random: &mut Random) -> String {
    let mut body = String::from("local t = {}\n");
    for _ in 0..random.below(4) {
        let statement = match random.below(8) {
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
            3 => format!("t[#t+1] = {}", call(random)),
            _ => format!("t[#t+1] = {}", expression(random, 2)),
        };
        body.push_str(&statement);
        body.push('\n');
    }
    body.push_str(&match random.below(7) {
        0 => format!("return {}", expression(random, 3)),
        1 => format!("return {}", call(random)),
        2 => format!("error({})", message(random)),
        3 => "return cjson.encode(t)".to_owned(),
        4 => format!("return {{t, {}}}", expression(random, 2)),
        _ => "return t".to_owned(),
    });
    body
}

fn quoted(text: &str) -> String {
    let mut literal = String::from("'");
    for byte in text.bytes() {
        match byte {
            b'\'' | b'\\' => literal.extend(['\\', char::from(byte)]),
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => literal.push_str(&format!("\\{byte:03}")),
        }
    }
    literal.push('\'');
    literal
}

/// `redis.call` or `redis.pcall` of a random command; some of its arguments are numbers.
fn call(random: &mut Random) -> String {
    let mut words = calls::call(random);
    // What depends on the clock, on chance or on the order of a hash table is left out.
    while unordered::is_open(&words[0])
        || matches!(
            words[0].to_uppercase().as_str(),
            "TTL" | "PTTL" | "EXPIRETIME" | "PEXPIRETIME"
        )
    {
        words = calls::call(random);
    }
    let name = words[0].to_uppercase();
    let mut arguments = Vec::new();
    for (index, word) in words.iter().enumerate() {
        arguments.push(match random.below(30) {
            0 if !is_lifetime(&name, index) => number(random),
            1 if random.one_in(3) => random.pick(&["nil", "true", "{}"]).to_owned(),
            _ => quoted(word),
        });
    }
    let arguments = arguments.join(", ");
    let function = random.pick(&["redis.call", "redis.pcall", "redis.pcall"]);
    format!("{function}({arguments})")
}

/// Whether an argument may be a time to live, which must not be short: the two clocks differ.
fn is_lifetime(name: &str, index: usize) -> bool {
    match name {
        "SET" => index > 2,
        "SETEX" | "PSETEX" => index == 2,
        _ => name.contains("EXPIRE"),
    }
}

fn number(random: &mut Random) -> String {
    random
        .pick(&[
            "0",
            "1",
            "-1",
            "2.5",
            "0.1",
            "3.99",
            "-3.99",
            "1e14",
            "1e15",
            "1e17",
            "2^53",
            "2^63",
            "1700000000123",
            "123456789012345678",
            "1/3",
            "-1/0",
            "1e300*1e10",
            "0/0",
            "5e-324",
            "1e-7",
            "10/2",
            "7 % 3",
            "-7 % 3",
            "tonumber('0x10')",
        ])
        .to_owned()
}

fn message(random: &mut Random) -> String {
    match random.below(8) {
        0 => String::new(),
        1 => "nil".to_owned(),
        2 => number(random),
        3 => "'boom', 0".to_owned(),
        4 => "'boom', 2".to_owned(),
        5 => "{err = 'MYERR x'}".to_owned(),
        6 => "redis.error_reply('thing')".to_owned(),
        _ => "'two\\nlines'".to_owned(),
    }
}

/// An expression that may be of any type, or fail.
fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(5) {
        return match random.below(5) {
            0 => random
                .pick(&["nil", "true", "false", "cjson.null"])
                .to_owned(),
            1 | 2 => number(random),
            _ => quoted(random.pick(&calls::VALUES)),
        };
    }
    let depth = depth - 1;
    match random.below(20) {
        0 => format!("tostring({})", number(random)),
        1 => format!("({} .. {})", number(random), expression(random, 0)),
        2 => format!("string.format('%s %d %.3f', {0}, {0}, {0})", number(random)),
        3 => format!("#{}", expression(random, depth)),
        4 => format!("({} + {})", expression(random, 0), number(random)),
        5 => format!("({} < {})", expression(random, 0), expression(random, 0)),
        6 => format!("tonumber({})", expression(random, 0)),
        7 | 8 => table(random, depth),
        9 => format!("cjson.encode({})", expression(random, depth)),
        10 => format!("cjson.decode(cjson.encode({}))", table(random, depth)),
        11 => format!("select('#', pcall(error, {}))", message(random)),
        12 => format!("{{pcall(error, {})}}", message(random)),
        13 => format!("redis.status_reply({})", expression(random, 0)),
        14 => format!("redis.error_reply({})", expression(random, 0)),
        15 => format!("redis.sha1hex({})", expression(random, 0)),
        16 => format!("type({})", expression(random, depth)),
        17 => format!(
            "({}):{}()",
            quoted("Ab"),
            random.pick(&["upper", "lower", "reverse", "len"])
        ),
        18 => random
            .pick(&[
                "KEYS[1]",
                "ARGV[1]",
                "#ARGV",
                "ARGV[9]",
                "nosuch",
                "redis.nosuch",
                "_G.KEYS",
                "rawget(_G, 'x')",
                "redis.call()",
                "unpack({1, 2})",
                "string.rep",
                "KEYS.x.y",
                "rawset(redis, 'x', 1)",
                "next(redis) and 1",
                "select(2, 'a', 'b')",
            ])
            .to_owned(),
        _ => call(random),
    }
}

fn table(random: &mut Random, depth: usize) -> String {
    let mut items = Vec::new();
    for _ in 0..random.below(4) {
        let value = expression(random, depth);
        items.push(match random.below(7) {
            0 => format!("{} = {value}", random.pick(&["a", "b", "ok", "err", "x1"])),
            1 => format!(
                "[{}] = {value}",
                random.pick(&["1", "2", "4", "20", "1.5", "'k'", "true"])
            ),
            _ => value,
        });
    }
    format!("{{{}}}", items.join(", "))
}

/// A text that is JSON, or nearly.
pub(crate) fn json(random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    write_json(random, 3, &mut text);
    for _ in 0..random.below(3) {
        let at = random.below(text.len() + 1);
        match random.below(3) {
            0 => text.insert(
                at,
                *b"{}[]\",:\\/u0eE+-.xnNI \0\xff\x7f"
                    .get(random.below(26))
                    .unwrap_or(&b'0'),
            ),
            1 if at < text.len() => {
                text.remove(at);
            }
            _ => text.truncate(at.max(1)),
        }
    }
    text
}

fn write_json(random: &mut Random, depth: usize, out: &mut Vec<u8>) {
    let kinds = if depth == 0 { 4 } else { 6 };
    match random.below(kinds) {
        0 => out.extend_from_slice(
            random
                .pick(&["null", "true", "false", "NaN", "-inf", "Infinity"])
                .as_bytes(),
        ),
        1 => out.extend_from_slice(
            random
                .pick(&[
                    "0",
                    "-0",
                    "1",
                    "01",
                    "0x1F",
                    "1.5",
                    "1e5",
                    "1E+300",
                    "1e400",
                    "-12.25e-3",
                    "9007199254740993",
                ])
                .as_bytes(),
        ),
        2 | 3 => write_json_string(random, out),
        4 => {
            out.push(b'[');
            for index in 0..random.below(4) {
                if index > 0 {
                    out.extend_from_slice(random.pick(&[",", " , "]).as_bytes());
                }
                write_json(random, depth - 1, out);
            }
            out.push(b']');
        }
        _ => {
            out.push(b'{');
            for index in 0..random.below(4) {
                if index > 0 {
                    out.push(b',');
                }
                write_json_string(random, out);
                out.extend_from_slice(random.pick(&[":", " : "]).as_bytes());
                write_json(random, depth - 1, out);
            }
            out.push(b'}');
        }
    }
}

fn write_json_string(random: &mut Random, out: &mut Vec<u8>) {
    out.push(b'"');
    for _ in 0..random.below(4) {
        let pieces: [&[u8]; 14] = [
            b"a",
            b"key",
            b"\\n",
            b"\\u00e9",
            b"\\ud83d\\ude00",
            b"\\ud83d",
            b"\\u0000",
            b"/",
            b"\\/",
            b"\x7f",
            b"\xc3\xa9",
            b"\xff",
            b"\t",
            b"\\\"",
        ];
        out.extend_from_slice(random.pick(&pieces));
    }
    out.push(b'"');
}

/// Decodes the argument and shows what came of it.
pub(crate) const JSON_SCRIPT: &str = "\
local ok, value = pcall(cjson.decode, ARGV[1])
if not ok then return {'no', value} end
local ok, text = pcall(cjson.encode, value)
return {type(value), text, value}";
