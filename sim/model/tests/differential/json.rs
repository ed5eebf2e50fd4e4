//! Random JSON texts, good ones and broken ones.

use crate::random::Random;

/// A text that is JSON, or nearly.
pub(crate) fn text(random: &mut Random) -> Vec<u8> {
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
pub(crate) const SCRIPT: &str = "\
local ok, value = pcall(cjson.decode, ARGV[1])
if not ok then return {'no', value} end
local ok, text = pcall(cjson.encode, value)
return {type(value), text, value}";
