//! Random JSON texts: every spelling, numbers at every boundary, and some that are broken.

use crate::random::Random;

/// The text of an object, or of something near to it.
pub(crate) fn document(random: &Random) -> String {
    let mut text = String::new();
    match random.below(30) {
        0 => value(random, &mut text, 3),
        _ => object(random, &mut text, 4),
    }
    if random.below(8) == 0 {
        damage(random, &mut text);
    }
    text
}

fn value(random: &Random, out: &mut String, depth: usize) {
    space(random, out);
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0..3 => out.push_str(&number(random)),
        3..5 => string(random, out),
        5 => out.push_str(random.pick(&["true", "false", "null", "null", "NaN", "-Infinity"])),
        6 => array(random, out, depth - 1),
        _ => object(random, out, depth - 1),
    }
    space(random, out);
}

fn array(random: &Random, out: &mut String, depth: usize) {
    out.push('[');
    for at in 0..random.below(4) {
        if at > 0 {
            out.push(',');
        }
        value(random, out, depth);
    }
    out.push(']');
}

fn object(random: &Random, out: &mut String, depth: usize) {
    out.push('{');
    for at in 0..random.below(5) {
        if at > 0 {
            out.push(',');
        }
        space(random, out);
        match random.below(3) {
            // Few, so that some are equal, in different spellings.
            0 => out.push_str(random.pick(&[r#""a""#, r#""\u0061""#, r#""b""#, r#""A""#, r#""""#])),
            _ => string(random, out),
        }
        space(random, out);
        out.push(':');
        value(random, out, depth);
    }
    out.push('}');
}

fn space(random: &Random, out: &mut String) {
    if random.below(6) == 0 {
        out.push_str(random.pick(&[" ", "\t", "\n", "\r\n", "  "]));
    }
}

fn string(random: &Random, out: &mut String) {
    out.push('"');
    for _ in 0..random.below(6) {
        let unit = match random.below(9) {
            0 => random.below(0x20),
            1 => random.pick(&[0x22, 0x2f, 0x5c, 0x7f, 0x80, 0x9f, 0xa0, 0xad]),
            2 => random.below(0x800),
            3 => random.below(0x1_0000),
            4 => 0x1_0000 + random.below(0x10_0000),
            5 => random.pick(&[
                0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x1_0000, 0x10_ffff, 0x2028,
            ]),
            _ => 0x20 + random.below(0x5f),
        };
        // Halves of pairs only now and then: they make the whole document unfit.
        let unit = match unit {
            0xd800..=0xdfff if random.below(20) > 0 => 0x41,
            unit => unit as u32,
        };
        character(random, out, unit);
    }
    out.push('"');
}

fn character(random: &Random, out: &mut String, unit: u32) {
    let short = match unit {
        0x22 => Some("\\\""),
        0x2f => Some("\\/"),
        0x5c => Some("\\\\"),
        0x08 => Some("\\b"),
        0x0c => Some("\\f"),
        0x0a => Some("\\n"),
        0x0d => Some("\\r"),
        0x09 => Some("\\t"),
        _ => None,
    };
    match (char::from_u32(unit), short) {
        (_, Some(short)) if random.below(2) == 0 => out.push_str(short),
        (Some(plain), None) if unit >= 0x20 && random.below(2) == 0 => out.push(plain),
        (Some(plain), _) => {
            for unit in plain.encode_utf16(&mut [0; 2]) {
                escape(random, out, u32::from(*unit));
            }
        }
        (None, _) => escape(random, out, unit),
    }
}

fn escape(random: &Random, out: &mut String, unit: u32) {
    let text = match random.below(2) {
        0 => format!("\\u{unit:04x}"),
        _ => format!("\\u{unit:04X}"),
    };
    out.push_str(&text);
}

fn number(random: &Random) -> String {
    let sign = random.pick(&["", "", "-"]);
    let text = match random.below(13) {
        // Any double, in any spelling.
        0 | 1 => spelled(random, f64::from_bits(random.next())),
        // Powers of two and their neighbours, where the distance of doubles changes.
        2 => {
            let bits = ((random.below(2047) as u64) << 52).wrapping_add(random.below(3) as u64);
            spelled(random, f64::from_bits(bits.wrapping_sub(1)))
        }
        // Fractions of powers of two, some right between the two shortest forms.
        11 => {
            let fraction = (random.next() >> random.below(60)) as f64;
            spelled(random, fraction / (1_u64 << random.below(64)) as f64)
        }
        // Around the exponents at which the form changes.
        3 => format!("{}e{}", random.below(100), random.below(48) as i64 - 24),
        4 => {
            let places = random.below(20);
            format!("{}.{:0places$}", random.below(1000), random.below(1000))
        }
        // Around the ends of what a double can be.
        5 => format!(
            "{}.{}e{}",
            1 + random.below(9),
            random.next(),
            300 + random.below(12)
        ),
        6 => format!(
            "{}.{}e-{}",
            1 + random.below(9),
            random.next(),
            300 + random.below(30)
        ),
        // More digits than a double has, some right between two doubles.
        7 => {
            let half = (1 << 53) + u128::from(random.next() >> 11) * 2 + 1;
            format!(
                "{half}{}",
                random.pick(&["", ".0", ".00000000000000000001", "e0", "e5", "E+17"])
            )
        }
        8 => digits(random, 1 + random.below(60)),
        9 => format!("0.{}", digits(random, 1 + random.below(800))),
        10 => random
            .pick(&[
                "0",
                "0.0",
                "0e0",
                "0E-5",
                "1e15",
                "1e16",
                "1e-4",
                "1e-5",
                "9999999999999999",
                "9999999999999999.0",
                "0.0001",
                "0.00001",
                "5e-324",
                "2e-324",
                "3e-324",
                "1e308",
                "1.7976931348623157e308",
                "1.7976931348623158e308",
                "1.7976931348623159e308",
                "1e309",
                "18446744073709551615",
                "18446744073709551616",
                "9223372036854775808",
                "2.2250738585072011e-308",
                "1e400",
                "1e-400",
            ])
            .into(),
        _ => random.below(1_000_000).to_string(),
    };
    if text.starts_with('-') {
        text
    } else {
        format!("{sign}{text}")
    }
}

fn digits(random: &Random, count: usize) -> String {
    let first = char::from(b'1' + random.below(9) as u8);
    let rest = (1..count).map(|_| char::from(b'0' + random.below(10) as u8));
    std::iter::once(first).chain(rest).collect()
}

fn spelled(random: &Random, number: f64) -> String {
    let number = if number.is_finite() { number } else { 0.1 };
    match random.below(4) {
        0 => format!("{number:e}"),
        1 => format!("{number:?}"),
        2 => format!("{number:.*e}", random.below(20)).replace('e', "E"),
        _ => format!("{number:.17e}")
            .replace("e-", "E-0")
            .replace('e', "e+"),
    }
}

/// Takes a character away, doubles one, or puts one in.
fn damage(random: &Random, text: &mut String) {
    let at = random.below(text.chars().count() + 1);
    let Some((at, character)) = text.char_indices().nth(at) else {
        text.push(random.pick(&['x', '}', ' ']));
        return;
    };
    match random.below(3) {
        0 => {
            text.remove(at);
        }
        1 => text.insert(at, character),
        _ => text.insert(
            at,
            random.pick(&['0', '-', '.', 'e', ',', '"', '\\', '\u{1}', '[', '}']),
        ),
    }
}
