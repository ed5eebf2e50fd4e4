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

    /// What a number becomes, or nothing.
    fn fit(self, value: i128, overflow: Overflow) -> Option<i64> {
        let (lowest, highest) = match self.signed {
            true => (-1 << (self.width - 1), (1 << (self.width - 1)) - 1),
            false => (0, (1 << self.width) - 1),
        };
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

    /// What a number that was given means: in an unsigned field, the bits of a negative one.
    fn given(&self, value: i64) -> i128 {
        match self.field.signed {
            true => i128::from(value),
            false => i128::from(value.cast_unsigned()),
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
