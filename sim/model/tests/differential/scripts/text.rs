//! The functions of `string`, above all those with patterns.

use super::expressions::{expression as any, mostly};
use super::values::{quoted, small, text};
use crate::random::Random;

const ITEMS: [&str; 32] = [
    "a", "l", "o", ".", "%a", "%d", "%s", "%w", "%x", "%p", "%z", "%A", "%W", "%l", "%u", "%c",
    "[abc]", "[^a]", "[a-l]", "[%a_]", "[]]", "[^]]", "[a-]", "%%", "%.", "%(", "%f[%w]", "%b()",
    "%bao", "%1", "%2", "=",
];

const WRONG: [&str; 12] = [
    "%", "[", "[a", "[^", "[%", "(", ")", "%b", "%bx", "%f", "%fa", "%0",
];

/// A pattern, mostly a good one.
fn pattern(random: &mut Random) -> String {
    let mut pattern = String::new();
    if random.one_in(6) {
        pattern.push('^');
    }
    for _ in 0..=random.below(4) {
        let opens = random.one_in(5);
        if opens {
            pattern.push('(');
        }
        if !(opens && random.one_in(3)) {
            pattern.push_str(match random.below(20) {
                0 => random.pick(&WRONG),
                _ => random.pick(&ITEMS),
            });
            pattern.push_str(random.pick(&["", "", "", "*", "+", "-", "?"]));
        }
        if opens {
            pattern.push(')');
        }
    }
    if random.one_in(6) {
        pattern.push('$');
    }
    pattern
}

fn pattern_literal(random: &mut Random) -> String {
    match random.below(12) {
        0 => any(random, 0),
        1 => text(random),
        _ => quoted(&pattern(random)),
    }
}

fn replacement(random: &mut Random) -> String {
    match random.below(12) {
        0 => any(random, 0),
        1 => "{a = 'X', l = false, h = 5}".to_owned(),
        2 => "{l = {}}".to_owned(),
        3 => "function(a, b) return b and b .. a end".to_owned(),
        4 => "function() return 1 end".to_owned(),
        5 => "function() return {} end".to_owned(),
        6 => "function(a) error('in ' .. tostring(a), 0) end".to_owned(),
        7 => "string.upper".to_owned(),
        _ => quoted(random.pick(&["x", "", "%0", "<%1>", "%2%1", "%%", "%", "%x", "a\0b"])),
    }
}

pub(super) fn expression(random: &mut Random, depth: usize) -> String {
    let subject = match random.below(8) {
        0 => any(random, depth),
        _ => text(random),
    };
    match random.below(14) {
        0 | 1 => format!("{{string.find({subject}, {})}}", pattern_literal(random)),
        2 => {
            let (pattern, start) = (pattern_literal(random), mostly(random, small));
            let plain = random.pick(&["", ", true", ", false", ", nil", ", 0"]);
            format!("{{string.find({subject}, {pattern}, {start}{plain})}}")
        }
        3 => format!("{{string.match({subject}, {})}}", pattern_literal(random)),
        4 => format!(
            "{{string.match({subject}, {}, {})}}",
            pattern_literal(random),
            mostly(random, small)
        ),
        5 => format!(
            "(function() local r = {{}} for a, b in string.gmatch({subject}, {}) do r[#r+1] = a \
             r[#r+1] = b end return r end)()",
            pattern_literal(random)
        ),
        6 | 7 => format!(
            "{{string.gsub({subject}, {}, {})}}",
            pattern_literal(random),
            replacement(random)
        ),
        8 => format!(
            "{{string.gsub({subject}, {}, {}, {})}}",
            pattern_literal(random),
            replacement(random),
            mostly(random, small)
        ),
        // A large number would fill the real server's memory.
        9 => format!("string.rep({subject}, {})", small(random)),
        10 => {
            let (from, to) = (mostly(random, small), mostly(random, small));
            let name = random.pick(&["sub", "byte"]);
            format!("{{string.{name}({subject}, {from}, {to})}}")
        }
        11 => {
            let (one, two) = (mostly(random, small), mostly(random, small));
            format!("string.char({one}, 65, {two})")
        }
        12 => format!("({subject}):{}()", method(random)),
        _ => format!("string.{}({subject})", method(random)),
    }
}

fn method(random: &mut Random) -> &'static str {
    ["upper", "lower", "reverse", "len", "sub", "nosuch"][random.below(6)]
}
