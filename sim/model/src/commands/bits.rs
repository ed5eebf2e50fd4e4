//! Single bits of a string, and how many there are. The first bit is the highest of the first
//! byte.

use std::ops::Range;

use super::{Entry, data};
use crate::arguments::{integer, is, slice};
use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::text::Text;

pub(super) const COMMANDS: &[Entry] = &[
    data("setbit", set),
    data("getbit", get),
    data("bitcount", count),
    data("bitpos", find),
];

/// How many bits the longest string has.
const MOST_BITS: u64 = 8 * 512 * 1024 * 1024;

pub(super) const OFFSET: Refusal =
    Refusal::Text("ERR bit offset is not an integer or out of range");

/// A place that a string can have.
pub(super) fn offset(place: Option<i64>) -> Result<usize, Refusal> {
    let place = place.and_then(|place| u64::try_from(place).ok());
    let place = place.filter(|place| *place < MOST_BITS);
    place
        .and_then(|place| usize::try_from(place).ok())
        .ok_or(OFFSET)
}

/// A bit; behind the end there are zeros.
pub(super) fn bit(bytes: &[u8], place: usize) -> bool {
    let byte = bytes.get(place / 8).copied().unwrap_or(0);
    byte >> (7 - place % 8) & 1 == 1
}

/// Sets a bit within the bytes.
pub(super) fn set_bit(bytes: &mut [u8], place: usize, on: bool) {
    if let Some(byte) = bytes.get_mut(place / 8) {
        let mask = 0x80 >> (place % 8);
        *byte = if on { *byte | mask } else { *byte & !mask };
    }
}

/// The string to be written up to this bit, with zeros where there was nothing.
pub(super) fn reaching<'a>(
    state: &'a mut State,
    key: &[u8],
    last: usize,
) -> Result<&'a mut Vec<u8>, Refusal> {
    let bytes = state.keys.find_or_create::<Text>(key)?.edit();
    if bytes.len() <= last / 8 {
        bytes.resize(last / 8 + 1, 0);
    }
    Ok(bytes)
}

fn set(state: &mut State, argv: &[&[u8]]) -> Answer {
    let place = offset(number::parse_integer(argv[2]))?;
    let on = match number::parse_integer(argv[3]) {
        Some(value @ (0 | 1)) => value == 1,
        _ => {
            return Err(Refusal::Text("ERR bit is not an integer or out of range"));
        }
    };
    let bytes = reaching(state, argv[1], place)?;
    let before = bit(bytes, place);
    set_bit(bytes, place, on);
    state.keys.touch(argv[1]);
    Ok(Reply::from(before))
}

fn get(state: &mut State, argv: &[&[u8]]) -> Answer {
    let place = offset(number::parse_integer(argv[2]))?;
    let text = state.keys.find::<Text>(argv[1])?;
    Ok(Reply::from(text.is_some_and(|text| bit(text, place))))
}

/// What a range counts in.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Bytes,
    Bits,
}

impl Unit {
    fn parse(words: &[&[u8]]) -> Result<Self, Refusal> {
        match words {
            [] => Ok(Unit::Bytes),
            [word] if is(word, "byte") => Ok(Unit::Bytes),
            [word] if is(word, "bit") => Ok(Unit::Bits),
            _ => Err(Refusal::Syntax),
        }
    }

    /// The bits of a range. One that ends before the head has the first byte or bit.
    fn range(self, start: i64, stop: i64, bytes: usize) -> Range<usize> {
        let (length, size) = match self {
            Unit::Bytes => (bytes, 8),
            Unit::Bits => (bytes * 8, 1),
        };
        let stop = match stop < 0 {
            true => stop.max(-(length as i64)),
            false => stop,
        };
        let units = slice(start, stop, length);
        units.start * size..units.end * size
    }
}

fn count(state: &mut State, argv: &[&[u8]]) -> Answer {
    let Some(text) = state.keys.find::<Text>(argv[1])? else {
        return Ok(Reply::Integer(0));
    };
    let bits = match &argv[2..] {
        [] => 0..text.len() * 8,
        [start, stop, unit @ ..] if unit.len() < 2 => {
            let (start, stop) = (integer(start)?, integer(stop)?);
            if start < 0 && stop < 0 && start > stop {
                return Ok(Reply::Integer(0));
            }
            Unit::parse(unit)?.range(start, stop, text.len())
        }
        _ => return Err(Refusal::Syntax),
    };
    Ok(Reply::count(ones(text, bits)))
}

fn ones(bytes: &[u8], bits: Range<usize>) -> usize {
    let single = |bits: Range<usize>| bits.filter(|place| bit(bytes, *place)).count();
    let whole = bits.start.div_ceil(8)..bits.end / 8;
    match bytes.get(whole.clone()) {
        Some(whole_bytes) => {
            let inside = whole_bytes.iter().map(|byte| byte.count_ones() as usize);
            let before = single(bits.start..whole.start * 8);
            before + inside.sum::<usize>() + single(whole.end * 8..bits.end)
        }
        // Within one byte.
        None => single(bits),
    }
}

/// The first bit that is set, or not set. Where no end is given, the string goes on with zeros.
fn find(state: &mut State, argv: &[&[u8]]) -> Answer {
    let wanted = match integer(argv[2])? {
        0 => false,
        1 => true,
        _ => return Err(Refusal::Text("ERR The bit argument must be 1 or 0.")),
    };
    let Some(text) = state.keys.find::<Text>(argv[1])? else {
        return Ok(Reply::Integer(if wanted { -1 } else { 0 }));
    };
    let (bits, endless) = match &argv[3..] {
        [] => (0..text.len() * 8, true),
        [start] => (Unit::Bytes.range(integer(start)?, -1, text.len()), true),
        [start, stop, unit @ ..] if unit.len() < 2 => {
            let start = integer(start)?;
            let unit = Unit::parse(unit)?;
            (unit.range(start, integer(stop)?, text.len()), false)
        }
        _ => return Err(Refusal::Syntax),
    };
    let found = first(text, bits.clone(), wanted);
    Ok(match found {
        Some(place) => Reply::count(place),
        None if endless && !wanted && !bits.is_empty() => Reply::count(bits.end),
        None => Reply::Integer(-1),
    })
}

fn first(bytes: &[u8], bits: Range<usize>, wanted: bool) -> Option<usize> {
    let nothing = if wanted { 0 } else { 0xff };
    let mut place = bits.start;
    while place < bits.end {
        if place.is_multiple_of(8) && bytes.get(place / 8) == Some(&nothing) {
            place += 8;
        } else if bit(bytes, place) == wanted {
            return Some(place);
        } else {
            place += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    const OFFSET: &str = "-ERR bit offset is not an integer or out of range";
    const BIT: &str = "-ERR bit is not an integer or out of range";
    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    const NOT_INTEGER: &str = "-ERR value is not an integer or out of range";

    #[test]
    fn single_bits() {
        let mut server = TestServer::new();
        server.run("RPUSH l a");
        for (command, reply) in [
            ("SETBIT b 7 1", ":0"),
            ("GET b", "$1 \u{1}"),
            ("SETBIT b 7 0", ":1"),
            ("SETBIT b 9 0", ":0"),
            ("STRLEN b", ":2"),
            ("SETBIT b 0 2", BIT),
            ("SETBIT b 0 x", BIT),
            ("SETBIT b -1 1", OFFSET),
            ("SETBIT b 4294967296 2", OFFSET),
            ("SETBIT l 1 2", BIT),
            ("SETBIT l 1 1", WRONG_TYPE),
            ("SET i 12345", "+OK"),
            ("GETBIT i 2", ":1"),
            ("GETBIT i 4294967295", ":0"),
            ("GETBIT i 4294967296", OFFSET),
            ("GETBIT none 3", ":0"),
            ("GETBIT l x", OFFSET),
            ("GETBIT l 1", WRONG_TYPE),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn counting() {
        let mut server = TestServer::new();
        server.run("SET s foobar");
        server.run("RPUSH l a");
        for (command, reply) in [
            ("BITCOUNT s", ":26"),
            ("BITCOUNT s 1 1", ":6"),
            ("BITCOUNT s 1 1 BYTE", ":6"),
            ("BITCOUNT s 5 30 bit", ":17"),
            ("BITCOUNT s 17 19 BIT", ":2"),
            ("BITCOUNT s -2 -1", ":7"),
            ("BITCOUNT s -1 -5 FOO", ":0"),
            ("BITCOUNT s -100 -90", ":4"),
            ("BITCOUNT s 1 -10", ":0"),
            (
                "BITCOUNT s -9223372036854775808 9223372036854775807 BIT",
                ":26",
            ),
            ("BITCOUNT s 0", "-ERR syntax error"),
            ("BITCOUNT s 0 1 BIT X", "-ERR syntax error"),
            ("BITCOUNT s 0 1 FOO", "-ERR syntax error"),
            ("BITCOUNT s x 1 FOO", NOT_INTEGER),
            ("BITCOUNT none x y FOO", ":0"),
            ("BITCOUNT l x", WRONG_TYPE),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn finding() {
        let mut server = TestServer::new();
        server.run("SETRANGE g 3 a");
        server.run("SETBIT full 0 1");
        server.run("BITFIELD full SET u8 0 255");
        server.run("SET empty ''");
        for (command, reply) in [
            ("BITPOS g 1", ":25"),
            ("BITPOS g 0", ":0"),
            ("BITPOS g 1 2", ":25"),
            ("BITPOS g 1 -1 -1", ":25"),
            ("BITPOS g 1 0 2", ":-1"),
            ("BITPOS g 1 0 24 BIT", ":-1"),
            ("BITPOS g 1 5 25 BIT", ":25"),
            ("BITPOS g 1 26 25 BIT", ":-1"),
            ("BITPOS g 0 -2 -100", ":-1"),
            ("BITPOS g 0 -4 -100", ":0"),
            ("BITPOS g 0 x 1 FOO", NOT_INTEGER),
            ("BITPOS g 0 1 x FOO", "-ERR syntax error"),
            ("BITPOS g 0 x x", NOT_INTEGER),
            ("BITPOS full 0", ":8"),
            ("BITPOS full 0 0", ":8"),
            ("BITPOS full 0 0 -1", ":-1"),
            ("BITPOS full 0 1", ":-1"),
            ("BITPOS empty 0", ":-1"),
            ("BITPOS none 0 x", ":0"),
            ("BITPOS none 1", ":-1"),
            ("BITPOS none 2", "-ERR The bit argument must be 1 or 0."),
            ("BITPOS none x", NOT_INTEGER),
        ] {
            server.expect(command, reply);
        }
    }
}
