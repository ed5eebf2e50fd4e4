//! `SET` and the commands that are short for one of its forms.

use std::slice::Iter;

use super::{Entry, data, wrong_arity};
use crate::arguments::{integer, is};
use crate::keyspace::Slot;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::text::Text;
use crate::value::Value;

use super::expiry::Unit;
use super::strings::bulk_or_nil;

pub(super) const COMMANDS: &[Entry] = &[
    data("set", set),
    data("setnx", set_new),
    data("setex", |state, argv| {
        set_expiring(state, argv, "setex", Unit::Seconds)
    }),
    data("psetex", |state, argv| {
        set_expiring(state, argv, "psetex", Unit::Milliseconds)
    }),
    data("getset", swap),
    data("getdel", take),
    data("mset", |state, argv| {
        set_many(state, argv, "mset", false)?;
        Ok(Reply::ok())
    }),
    data("msetnx", |state, argv| {
        set_many(state, argv, "msetnx", true).map(Reply::from)
    }),
    data("mget", get_many),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Only {
    New,
    Existing,
}

/// When a key set by `SET` ends, before the number is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    text: &'a [u8],
    unit: Unit,
    absolute: bool,
    word: &'static str,
}

#[derive(Debug, Default)]
struct Options<'a> {
    only: Option<Only>,
    end: Option<End<'a>>,
    keep: bool,
    get: bool,
}

const ENDS: [(&str, Unit, bool); 4] = [
    ("EX", Unit::Seconds, false),
    ("PX", Unit::Milliseconds, false),
    ("EXAT", Unit::Seconds, true),
    ("PXAT", Unit::Milliseconds, true),
];

impl<'a> End<'a> {
    /// Reads one from its word on. The same option twice is allowed and the last one counts; two
    /// different are not.
    pub(super) fn parse(
        word: &[u8],
        rest: &mut Iter<'_, &'a [u8]>,
        before: Option<Self>,
    ) -> Result<Self, Refusal> {
        let (word, unit, absolute) = ENDS
            .into_iter()
            .find(|(name, ..)| is(word, name))
            .ok_or(Refusal::Syntax)?;
        if before.is_some_and(|end| end.word != word) {
            return Err(Refusal::Syntax);
        }
        Ok(End {
            text: rest.next().ok_or(Refusal::Syntax)?,
            unit,
            absolute,
            word,
        })
    }

    /// The absolute millisecond.
    pub(super) fn ms(&self, now_ms: i64, command: &'static str) -> Result<i64, Refusal> {
        end_ms(self.text, self.unit, self.absolute, now_ms, command)
    }
}

impl<'a> Options<'a> {
    fn parse(words: &[&'a [u8]]) -> Result<Self, Refusal> {
        let mut found = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if is(word, "NX") && found.only != Some(Only::Existing) {
                found.only = Some(Only::New);
            } else if is(word, "XX") && found.only != Some(Only::New) {
                found.only = Some(Only::Existing);
            } else if is(word, "GET") {
                found.get = true;
            } else if is(word, "KEEPTTL") && found.end.is_none() {
                found.keep = true;
            } else if found.keep {
                return Err(Refusal::Syntax);
            } else {
                found.end = Some(End::parse(word, &mut words, found.end)?);
            }
        }
        Ok(found)
    }
}

/// The absolute millisecond of an `EX`, `PX`, `EXAT` or `PXAT` argument.
fn end_ms(
    text: &[u8],
    unit: Unit,
    absolute: bool,
    now_ms: i64,
    command: &'static str,
) -> Result<i64, Refusal> {
    let invalid = Refusal::ExpireTime(command);
    let amount = integer(text)?;
    if amount <= 0 {
        return Err(invalid);
    }
    let ms = match unit {
        Unit::Seconds => amount.checked_mul(1000),
        Unit::Milliseconds => Some(amount),
    };
    let base = if absolute { 0 } else { now_ms };
    ms.and_then(|ms| ms.checked_add(base)).ok_or(invalid)
}

fn set(state: &mut State, argv: &[&[u8]]) -> Answer {
    let options = Options::parse(&argv[3..])?;
    let now = state.time.now_ms();
    let mut expires_at_ms = match options.end {
        Some(end) => Some(end.ms(now, "set")?),
        None => None,
    };
    let old = if options.get {
        bulk_or_nil(state.keys.find::<Text>(argv[1])?)
    } else {
        Reply::Nil
    };
    let present = state.keys.slot(argv[1]);
    let blocked = match options.only {
        Some(Only::New) => present.is_some(),
        Some(Only::Existing) => present.is_none(),
        None => false,
    };
    if blocked {
        return Ok(old);
    }
    if options.keep {
        expires_at_ms = present.and_then(|slot| slot.expires_at_ms);
    }
    let value = Value::Text(Text::from(argv[2]));
    state.keys.put_slot(
        argv[1],
        Slot {
            value,
            expires_at_ms,
        },
    );
    Ok(if options.get { old } else { Reply::ok() })
}

fn set_new(state: &mut State, argv: &[&[u8]]) -> Answer {
    let free = !state.keys.contains(argv[1]);
    if free {
        state.keys.put(argv[1], Value::Text(Text::from(argv[2])));
    }
    Ok(Reply::from(free))
}

fn set_expiring(state: &mut State, argv: &[&[u8]], name: &'static str, unit: Unit) -> Answer {
    let now = state.time.now_ms();
    let slot = Slot {
        expires_at_ms: Some(end_ms(argv[2], unit, false, now, name)?),
        value: Value::Text(Text::from(argv[3])),
    };
    state.keys.put_slot(argv[1], slot);
    Ok(Reply::ok())
}

fn swap(state: &mut State, argv: &[&[u8]]) -> Answer {
    let old = bulk_or_nil(state.keys.find::<Text>(argv[1])?);
    state.keys.put(argv[1], Value::Text(Text::from(argv[2])));
    Ok(old)
}

fn take(state: &mut State, argv: &[&[u8]]) -> Answer {
    let value = bulk_or_nil(state.keys.find::<Text>(argv[1])?);
    state.keys.take(argv[1]);
    Ok(value)
}

/// Tells whether it set them: if all have to be new, one that is there keeps all from being set.
fn set_many(
    state: &mut State,
    argv: &[&[u8]],
    name: &str,
    only_new: bool,
) -> Result<bool, Refusal> {
    let (pairs, rest) = argv[1..].as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong_arity(name));
    }
    if only_new && pairs.iter().any(|[key, _]| state.keys.contains(key)) {
        return Ok(false);
    }
    for [key, value] in pairs {
        state.keys.put(key, Value::Text(Text::from(*value)));
    }
    Ok(true)
}

/// Answers nil for a value of another type, where `GET` refuses it.
fn get_many(state: &mut State, argv: &[&[u8]]) -> Answer {
    let values = argv[1..].iter().map(|key| {
        let found = state.keys.find::<Text>(key);
        bulk_or_nil(found.ok().flatten())
    });
    Ok(Reply::Array(values.collect()))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn options_of_set() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("SET k v PX 0", "-ERR invalid expire time in 'set' command"),
            ("SET k v EX -1", "-ERR invalid expire time in 'set' command"),
            (
                "SET k v EX 9223372036854775807",
                "-ERR invalid expire time in 'set' command",
            ),
            (
                "SET k v PX abc",
                "-ERR value is not an integer or out of range",
            ),
            ("SET k v PX", "-ERR syntax error"),
            ("SET k v NX XX", "-ERR syntax error"),
            ("SET k v EX 10 PX 10", "-ERR syntax error"),
            ("SET k v EX 10 KEEPTTL", "-ERR syntax error"),
            ("SET k v KEEPTTL EX 10", "-ERR syntax error"),
            ("SET k v BOGUS", "-ERR syntax error"),
            ("SET nk v XX", "$-1"),
            ("SET nk v NX", "+OK"),
            ("SET nk v2 NX", "$-1"),
            ("SET nk v3 XX GET", "$1 v"),
            ("SET nk v4 NX GET", "$2 v3"),
            ("GET nk", "$2 v3"),
            ("SET fresh v NX GET", "$-1"),
            ("GET fresh", "$1 v"),
            ("SET nk v PX 1 px 100000", "+OK"),
            ("SET nk v2 KEEPTTL", "+OK"),
            ("PTTL nk", ":100000"),
            ("SET nk v3", "+OK"),
            ("PTTL nk", ":-1"),
            ("SET nk v EXAT 1", "+OK"),
            ("EXISTS nk", ":0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn set_replaces_any_type_but_reads_only_strings() {
        let mut server = TestServer::new();
        let wrong_type = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        server.run("RPUSH l a");
        server.expect("SET l v GET", wrong_type);
        server.expect("SET l v NX GET", wrong_type);
        server.expect("GETSET l v", wrong_type);
        server.expect("GETDEL l", wrong_type);
        server.expect("SET l v NX", "$-1");
        server.expect("SET l v", "+OK");
        server.expect("TYPE l", "+string");
    }

    #[test]
    fn short_forms() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("SETNX k v", ":1"),
            ("SETNX k w", ":0"),
            ("SETEX k 0 y", "-ERR invalid expire time in 'setex' command"),
            (
                "PSETEX k -1 y",
                "-ERR invalid expire time in 'psetex' command",
            ),
            ("SETEX k 7 y", "+OK"),
            ("PTTL k", ":7000"),
            ("PSETEX k 7 z", "+OK"),
            ("GETSET k x", "$1 z"),
            ("PTTL k", ":-1"),
            ("GETDEL k", "$1 x"),
            ("GETDEL k", "$-1"),
            (
                "MSET a 1 b",
                "-ERR wrong number of arguments for 'mset' command",
            ),
            ("MSET a 1 b 2", "+OK"),
            ("RPUSH l x", ":1"),
            ("MGET a l none b", "*4 $1 1 $-1 $-1 $1 2"),
        ] {
            server.expect(command, reply);
        }
    }
}
