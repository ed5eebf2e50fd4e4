//! Reading and changing the value of a string.

use super::{Entry, data};
use crate::arguments::integer;
use crate::number::{self, LongDouble};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::text::{Text, check_length};
use crate::value::Value;

pub(super) const COMMANDS: &[Entry] = &[
    data("get", get),
    data("strlen", length),
    data("append", append),
    data("incr", |state, argv| add(state, argv[1], 1)),
    data("decr", |state, argv| add(state, argv[1], -1)),
    data("incrby", |state, argv| {
        add(state, argv[1], integer(argv[2])?)
    }),
    data("incrbyfloat", add_float),
    data("decrby", |state, argv| {
        let amount = integer(argv[2])?.checked_neg();
        let amount = amount.ok_or(Refusal::Text("ERR decrement would overflow"))?;
        add(state, argv[1], amount)
    }),
];

/// The answer of whatever reads a string.
pub(super) fn bulk_or_nil(text: Option<&mut Text>) -> Reply {
    Reply::bulk_or_nil(text.map(|text| text.to_bytes()))
}

fn get(state: &mut State, argv: &[&[u8]]) -> Answer {
    Ok(bulk_or_nil(state.keys.find::<Text>(argv[1])?))
}

fn length(state: &mut State, argv: &[&[u8]]) -> Answer {
    let value = state.keys.find::<Text>(argv[1])?;
    Ok(Reply::count(value.map_or(0, |value| value.len())))
}

fn append(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (key, part) = (argv[1], argv[2]);
    let Some(value) = state.keys.find::<Text>(key)? else {
        state.keys.put(key, Value::Text(Text::from(part)));
        return Ok(Reply::count(part.len()));
    };
    let length = value.len().saturating_add(part.len());
    check_length(length)?;
    value.edit().extend_from_slice(part);
    state.keys.touch(key);
    Ok(Reply::count(length))
}

/// The counters. They keep the expiry of the key.
fn add(state: &mut State, key: &[u8], amount: i64) -> Answer {
    let old = match state.keys.find::<Text>(key)? {
        Some(text) => number::parse_integer(text).ok_or(Refusal::NotInteger)?,
        None => 0,
    };
    #[cfg(feature = "planted-faults")]
    if amount < 0 && state.makes(crate::Fault::DecrementWraps) {
        let new = old.wrapping_add(amount);
        *state.keys.find_or_create::<Text>(key)? = new.to_string().into_bytes().into();
        state.keys.touch(key);
        return Ok(Reply::Integer(new));
    }
    let new = old.checked_add(amount).ok_or(Refusal::Overflow)?;
    *state.keys.find_or_create::<Text>(key)? = new.to_string().into_bytes().into();
    state.keys.touch(key);
    Ok(Reply::Integer(new))
}

/// Adds what need not be whole, with the precision that C gives Redis. Keeps the expiry, too.
fn add_float(state: &mut State, argv: &[&[u8]]) -> Answer {
    let old = match state.keys.find::<Text>(argv[1])? {
        Some(text) => LongDouble::parse(text).ok_or(Refusal::NotFloat)?,
        None => LongDouble::ZERO,
    };
    let amount = LongDouble::parse(argv[2]).ok_or(Refusal::NotFloat)?;
    let new = old.plus(amount).ok_or(Refusal::FloatOverflow)?.to_string();
    *state.keys.find_or_create::<Text>(argv[1])? = Text::written(new.clone().into_bytes());
    state.keys.touch(argv[1]);
    Ok(Reply::bulk(new))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn floats() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("INCRBYFLOAT f 1.5", "$3 1.5"),
            ("INCRBYFLOAT f 0.1", "$3 1.6"),
            ("INCRBYFLOAT f 5.0e3", "$22 5001.60000000000000009"),
            ("PEXPIRE f 1000", ":1"),
            ("INCRBYFLOAT f -5001.60000000000000009", "$1 0"),
            ("PTTL f", ":1000"),
            ("INCRBYFLOAT f x", "-ERR value is not a valid float"),
            ("INCRBYFLOAT f '1 '", "-ERR value is not a valid float"),
            ("INCRBYFLOAT f nan", "-ERR value is not a valid float"),
            (
                "INCRBYFLOAT f inf",
                "-ERR increment would produce NaN or Infinity",
            ),
            ("SET f abc", "+OK"),
            ("INCRBYFLOAT f 1", "-ERR value is not a valid float"),
            ("RPUSH l a", ":1"),
            (
                "INCRBYFLOAT l x",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn values() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("GET k", "$-1"),
            ("STRLEN k", ":0"),
            ("APPEND k ab", ":2"),
            ("APPEND k c", ":3"),
            ("GET k", "$3 abc"),
            ("STRLEN k", ":3"),
            ("RPUSH l x", ":1"),
            ("GET", "-ERR wrong number of arguments for 'get' command"),
        ] {
            server.expect(command, reply);
        }
        for command in ["GET l", "STRLEN l", "APPEND l x", "INCR l"] {
            server.expect(
                command,
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            );
        }
    }

    #[test]
    fn counters() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("INCR n", ":1"),
            ("DECRBY n 3", ":-2"),
            ("DECR n", ":-3"),
            ("SET n 9223372036854775807 PX 9", "+OK"),
            ("INCR n", "-ERR increment or decrement would overflow"),
            ("INCRBY n -1", ":9223372036854775806"),
            ("PTTL n", ":9"),
            (
                "INCRBY n abc",
                "-ERR value is not an integer or out of range",
            ),
            (
                "DECRBY n -9223372036854775808",
                "-ERR decrement would overflow",
            ),
            ("INCRBY fresh -9223372036854775808", ":-9223372036854775808"),
            ("DECR fresh", "-ERR increment or decrement would overflow"),
        ] {
            server.expect(command, reply);
        }
        for text in ["' 1'", "'1 '", "01", "+1", "-0", "''", "1.0"] {
            server.run(&format!("SET n {text}"));
            server.expect("INCR n", "-ERR value is not an integer or out of range");
        }
    }
}
