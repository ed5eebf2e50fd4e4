//! Literals.

use crate::random::Random;

/// Texts that patterns and other functions of strings find something in.
pub(super) const TEXTS: [&str; 16] = [
    "hello",
    "hello world",
    "a",
    "",
    "aaa",
    "abcabc",
    "THE (quick) fox",
    "x=1, y=22",
    "f(a(b)c)d",
    "a\0b\0",
    "12.5",
    " 7 ",
    "0x1F",
    "]^-%",
    "\r\n\t\\\"'",
    "\u{e9}\u{7f}",
];

/// A literal of a text.
pub(super) fn quoted(text: &str) -> String {
    quoted_bytes(text.as_bytes())
}

/// A literal of any bytes.
pub(super) fn quoted_bytes(text: &[u8]) -> String {
    let mut literal = String::from("'");
    for &byte in text {
        match byte {
            b'\'' | b'\\' => literal.extend(['\\', char::from(byte)]),
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => literal.push_str(&format!("\\{byte:03}")),
        }
    }
    literal.push('\'');
    literal
}

pub(super) fn text(random: &mut Random) -> String {
    quoted(random.pick(&TEXTS))
}

pub(super) fn number(random: &mut Random) -> String {
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
            "2^31",
            "-2^31-1",
            "2^32+5",
            "2^53",
            "2^63",
            "-2^63",
            "2^64",
            "1700000000123",
            "123456789012345678",
            "1/3",
            "1/0",
            "-1/0",
            "1e300*1e10",
            "0/0",
            "-(0/0)",
            "-0",
            "5e-324",
            "1e-7",
            "10/2",
            "7 % 3",
            "-7 % 3",
            "tonumber('0x10')",
        ])
        .to_owned()
}

/// A whole number that is not large.
pub(super) fn small(random: &mut Random) -> String {
    random
        .pick(&["0", "1", "2", "3", "5", "-1", "-2", "100", "1.9", "'2'"])
        .to_owned()
}
