//! Integers of any width within a string.

use super::bits::{bit, offset, reaching, set_bit};
use super::{Entry, data};
use crate::arguments::{integer, is};
use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::text::Text;

pub(super) const COMMANDS: &[Entry] = &[
    data("bitfield", |state, argv| {
        let operations = parse(&argv[2..])?;
        run(state, argv[1], &operations)
    }),
    data("bitfield_ro", |state, argv| {
        let operations = parse(&argv[2..])?;
        if operations.iter().any(|operation| operation.writes()) {
            return Err(Refusal::Text(
                "ERR BITFIELD_RO only supports the GET subcommand",
            ));
        }
        run(state, argv[1], &operations)
    }),
];

/// What happens to a number that does not fit.
#[derive(Debug, Clone, Copy)]
enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Get,
    Set(i64),
    Add(i64),
}

#[derive(Debug, Clone, Copy)]
struct Operation {
    field: Field,
    action: Action,
    overflow: Overflow,
}

/// Where an integer is, and which it can be.
#[derive(Debug, Clone, Copy)]
struct Field {
    place: usize,
    width: u32,
    signed: bool,
}

fn parse(words: &[&[u8]]) -> Result<Vec<Operation>, Refusal> {
    let mut operations = Vec::new();
    let mut overflow = Overflow::Wrap;
    let mut words = words;
    while let [name, rest @ ..] = words {
        if is(name, "overflow") {
            let [kind, rest @ ..] = rest else {
                return Err(Refusal::Syntax);
            };
            overflow = Overflow::parse(kind)?;
            words = rest;
            continue;
        }
        let (kind, place, value, rest) = match rest {
            [kind, place, rest @ ..] if is(name, "get") => (kind, place, None, rest),
            [kind, place, value, rest @ ..] if is(name, "set") || is(name, "incrby") => {
                (kind, place, Some(value), rest)
            }
            _ => return Err(Refusal::Syntax),
        };
        let field = Field::parse(kind, place)?;
        let action = match value {
            None => Action::Get,
            Some(value) if is(name, "set") => Action::Set(integer(value)?),
            Some(value) => Action::Add(integer(value)?),
        };
        operations.push(Operation {
            field,
            action,
            overflow,
        });
        words = rest;
    }
    Ok(operations)
}

impl Overflow {
    fn parse(word: &[u8]) -> Result<Self, Refusal> {
        let kinds = [
            ("wrap", Overflow::Wrap),
            ("sat", Overflow::Saturate),
            ("fail", Overflow::Fail),
        ];
        let found = kinds.into_iter().find(|(name, _)| is(word, name));
        found
            .map(|(_, kind)| kind)
            .ok_or(Refusal::Text("ERR Invalid OVERFLOW type specified"))
    }
}

impl Field {
    fn parse(kind: &[u8], place: &[u8]) -> Result<Self, Refusal> {
        let invalid = Refusal::Text(
            "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported \
             but i64 is.",
        );
        let (signed, digits) = match kind {
            [b'i', digits @ ..] => (true, digits),
            [b'u', digits @ ..] => (false, digits),
            _ => return Err(invalid),
        };
        let widest = if signed { 64 } else { 63 };
        let width = number::parse_integer(digits)
            .and_then(|width| u32::try_from(width).ok())
            .filter(|width| (1..=widest).contains(width))
            .ok_or(invalid)?;
        let place = match place {
            // In multiples of the width. What is far too large wraps round, as in C.
            [b'#', digits @ ..] => {
                number::parse_integer(digits).map(|number| number.wrapping_mul(i64::from(width)))
            }
            digits => number::parse_integer(digits),
        };
        let place = offset(place)?;
        Ok(Field {
            place,
            width,
            signed,
        })
    }

    fn last_bit(self) -> usize {
        self.place + self.width as usize - 1
    }

    fn read(self, bytes: &[u8]) -> i64 {
        let places = self.place..=self.last_bit();
        let bits = places.fold(0, |bits, place| bits << 1 | u64::from(bit(bytes, place)));
        self.wrap(i128::from(bits))
    }

    fn write(self, bytes: &mut [u8], value: i64) {
        for (place, shift) in (self.place..=self.last_bit()).zip((0..self.width).rev()) {
            set_bit(bytes, place, value >> shift & 1 == 1);
        }
    }

    /// The number that the lowest bits mean.
    fn wrap(self, value: i128) -> i64 {
        let unused = 128 - self.width;
        let value = value << unused;
        // Either way it fits.
        match self.signed {
            true => (value >> unused) as i64,
            false => (value.cast_unsigned() >> unused) as i64,
        }
    }

    /// The lowest number and the highest.
    fn range(self) -> (i128, i128) {
        match self.signed {
            true => (-1 << (self.width - 1), (1 << (self.width - 1)) - 1),
            false => (0, (1 << self.width) - 1),
        }
    }

    /// What a number becomes, or nothing.
    fn fit(self, value: i128, overflow: Overflow) -> Option<i64> {
        let (lowest, highest) = self.range();
        match overflow {
            _ if (lowest..=highest).contains(&value) => Some(value as i64),
            Overflow::Wrap => Some(self.wrap(value)),
            Overflow::Saturate => Some(value.clamp(lowest, highest) as i64),
            Overflow::Fail => None,
        }
    }
}

impl Operation {
    fn writes(&self) -> bool {
        !matches!(self.action, Action::Get)
    }

    /// What a number that was given means: in an unsigned field, the bits of a negative one. In a
    /// signed one, what is so low that Redis' arithmetic overflows counts as high.
    fn given(&self, value: i64) -> i128 {
        if !self.field.signed {
            return i128::from(value.cast_unsigned());
        }
        let (_, highest) = self.field.range();
        let value = i128::from(value);
        let overflows = self.field.width < 64 && highest - value > i128::from(i64::MAX);
        match self.overflow {
            Overflow::Saturate if overflows => highest,
            _ => value,
        }
    }

    fn run(&self, bytes: &mut [u8]) -> Option<i64> {
        let old = self.field.read(bytes);
        let (new, answer) = match self.action {
            Action::Get => return Some(old),
            Action::Set(value) => {
                let new = self.field.fit(self.given(value), self.overflow)?;
                (new, old)
            }
            Action::Add(amount) => {
                let sum = i128::from(old) + i128::from(amount);
                let new = self.field.fit(sum, self.overflow)?;
                (new, new)
            }
        };
        self.field.write(bytes, new);
        Some(answer)
    }
}

/// A call that may write makes the string long enough at first, whatever becomes of it.
fn run(state: &mut State, key: &[u8], operations: &[Operation]) -> Answer {
    let show = |answer: Option<i64>| answer.map_or(Reply::Nil, Reply::Integer);
    let writes = operations.iter().filter(|operation| operation.writes());
    let Some(last) = writes.map(|operation| operation.field.last_bit()).max() else {
        let text = state.keys.find::<Text>(key)?;
        let mut bytes = text.map(|text| text.to_bytes()).unwrap_or_default();
        let answers = operations.iter().map(|operation| operation.run(&mut bytes));
        return Ok(Reply::Array(answers.map(show).collect()));
    };
    let bytes = reaching(state, key, last)?;
    let answers = operations.iter().map(|operation| operation.run(bytes));
    let answers = answers.map(show).collect();
    state.keys.touch(key);
    Ok(Reply::Array(answers))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    const OFFSET: &str = "-ERR bit offset is not an integer or out of range";
    const TYPE: &str = "-ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is \
                        not supported but i64 is.";
    const NOT_INTEGER: &str = "-ERR value is not an integer or out of range";
    const SYNTAX: &str = "-ERR syntax error";
    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

    #[test]
    fn numbers() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("BITFIELD b GET u8 0", "*1 :0"),
            ("EXISTS b", ":0"),
            ("BITFIELD b SET u8 0 255", "*1 :0"),
            (
                "BITFIELD b GET u8 0 GET i8 0 GET u4 #1 GET i63 100",
                "*4 :255 :-1 :15 :0",
            ),
            ("BITFIELD b GET i64 0", "*1 :-72057594037927936"),
            ("BITFIELD b INCRBY u8 0 1 GET u8 0", "*2 :0 :0"),
            ("BITFIELD b SET i64 1 5 GET u8 60", "*2 :0 :40"),
            ("BITFIELD n OVERFLOW FAIL INCRBY u1 100 5", "*1 $-1"),
            ("STRLEN n", ":13"),
            ("BITFIELD n", "*0"),
            ("BITFIELD n OVERFLOW SAT", "*0"),
            ("BITFIELD_RO b GET u8 60 OVERFLOW SAT", "*1 :40"),
            ("BITFIELD b GET u4 #4611686018427387905", "*1 :0"),
            ("BITFIELD b GET u8 4294967295", "*1 :0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn overflow() {
        let mut server = TestServer::new();
        for (operations, reply) in [
            ("FAIL INCRBY u8 0 255 INCRBY u8 0 1", "*2 :255 $-1"),
            ("SAT INCRBY u8 0 300 INCRBY u8 0 1", "*2 :255 :255"),
            ("SAT INCRBY i8 0 -300 INCRBY i8 0 -1", "*2 :-128 :-128"),
            ("WRAP INCRBY i8 0 -300 INCRBY i8 0 -1", "*2 :-44 :-45"),
            ("SAT SET u4 0 -16 GET u4 0", "*2 :0 :15"),
            ("SAT SET i4 0 -16 SET i4 0 100 GET i4 0", "*3 :0 :-8 :7"),
            (
                "SAT SET i5 0 -9223372036854775808 GET i5 0 SET i5 0 -9223372036854775792 GET i5 0",
                "*4 :0 :15 :15 :-16",
            ),
            ("WRAP SET u63 0 -2 GET u63 0", "*2 :0 :9223372036854775806"),
            (
                "WRAP SET i64 0 9223372036854775807 INCRBY i64 0 9223372036854775807",
                "*2 :0 :-2",
            ),
            ("SAT INCRBY u63 0 -9223372036854775808", "*1 :0"),
        ] {
            server.run("DEL b");
            server.expect(&format!("BITFIELD b OVERFLOW {operations}"), reply);
        }
    }

    #[test]
    fn mistakes() {
        let mut server = TestServer::new();
        server.run("RPUSH l a");
        for (command, reply) in [
            ("BITFIELD b GET u64 0", TYPE),
            ("BITFIELD b GET u0 0", TYPE),
            ("BITFIELD b GET U8 0", TYPE),
            ("BITFIELD b GET u8 -1", OFFSET),
            ("BITFIELD b GET u8 #", OFFSET),
            ("BITFIELD b GET u8 4294967296", OFFSET),
            ("BITFIELD b GET u8", SYNTAX),
            ("BITFIELD b SET u8 0", SYNTAX),
            ("BITFIELD b FOO", SYNTAX),
            ("BITFIELD b OVERFLOW", SYNTAX),
            ("BITFIELD b SET u8 0 x", NOT_INTEGER),
            (
                "BITFIELD b OVERFLOW FOO",
                "-ERR Invalid OVERFLOW type specified",
            ),
            (
                "BITFIELD_RO b SET u8 0 1",
                "-ERR BITFIELD_RO only supports the GET subcommand",
            ),
            ("BITFIELD_RO b INCRBY u8 0 x", NOT_INTEGER),
            ("BITFIELD l", WRONG_TYPE),
            ("BITFIELD l GET u8 x", OFFSET),
        ] {
            server.expect(command, reply);
        }
    }
}
