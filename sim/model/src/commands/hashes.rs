//! Hashes.

use super::{Entry, data, wrong_arity};
use crate::arguments::integer;
use crate::fields::Fields;
use crate::number::{self, LongDouble};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("hset", |state, argv| {
        set(state, argv, "hset").map(Reply::count)
    }),
    data("hmset", |state, argv| {
        set(state, argv, "hmset").map(|_| Reply::ok())
    }),
    data("hsetnx", set_new),
    data("hget", get),
    data("hmget", get_many),
    data("hdel", delete),
    data("hlen", length),
    data("hexists", exists),
    data("hstrlen", value_length),
    data("hincrby", add),
    data("hincrbyfloat", add_float),
    data("hgetall", all),
    data("hkeys", |state, argv| list(state, argv, |field, _| field)),
    data("hvals", |state, argv| list(state, argv, |_, value| value)),
];

fn all(state: &mut State, argv: &[&[u8]]) -> Answer {
    let shape = state.shape();
    let fields = state.keys.find::<Fields>(argv[1])?;
    let fields = fields.iter().flat_map(|fields| fields.iter());
    Ok(shape.map(fields.map(|(field, value)| (Reply::bulk(field), Reply::bulk(value)))))
}

/// Sets pairs and tells how many fields are new.
fn set(state: &mut State, argv: &[&[u8]], name: &str) -> Result<usize, Refusal> {
    let (pairs, rest) = argv[2..].as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong_arity(name));
    }
    let fields = state.keys.find_or_create::<Fields>(argv[1])?;
    let new = pairs
        .iter()
        .filter(|[field, value]| fields.set(field, value.to_vec()));
    let new = new.count();
    state.keys.touch(argv[1]);
    Ok(new)
}

fn set_new(state: &mut State, argv: &[&[u8]]) -> Answer {
    let fields = state.keys.find_or_create::<Fields>(argv[1])?;
    let free = fields.get(argv[2]).is_none();
    if free {
        fields.set(argv[2], argv[3].to_vec());
        state.keys.touch(argv[1]);
    }
    Ok(Reply::from(free))
}

fn value<'a>(state: &'a mut State, argv: &[&[u8]]) -> Result<Option<&'a Vec<u8>>, Refusal> {
    let fields = state.keys.find::<Fields>(argv[1])?;
    Ok(fields.and_then(|fields| fields.get(argv[2])))
}

fn get(state: &mut State, argv: &[&[u8]]) -> Answer {
    Ok(Reply::bulk_or_nil(value(state, argv)?.cloned()))
}

fn get_many(state: &mut State, argv: &[&[u8]]) -> Answer {
    let fields = state.keys.find::<Fields>(argv[1])?;
    let values = argv[2..].iter().map(|field| {
        let value = fields.as_ref().and_then(|fields| fields.get(field));
        Reply::bulk_or_nil(value.cloned())
    });
    Ok(Reply::Array(values.collect()))
}

fn delete(state: &mut State, argv: &[&[u8]]) -> Answer {
    let Some(fields) = state.keys.find::<Fields>(argv[1])? else {
        return Ok(Reply::Integer(0));
    };
    let removed = argv[2..].iter().filter(|field| fields.remove(field));
    let removed = removed.count();
    if removed > 0 {
        state.keys.drop_if_empty(argv[1]);
        state.keys.touch(argv[1]);
    }
    Ok(Reply::count(removed))
}

fn length(state: &mut State, argv: &[&[u8]]) -> Answer {
    let fields = state.keys.find::<Fields>(argv[1])?;
    Ok(Reply::count(fields.map_or(0, |fields| fields.len())))
}

fn exists(state: &mut State, argv: &[&[u8]]) -> Answer {
    Ok(Reply::from(value(state, argv)?.is_some()))
}

fn value_length(state: &mut State, argv: &[&[u8]]) -> Answer {
    Ok(Reply::count(value(state, argv)?.map_or(0, Vec::len)))
}

fn add(state: &mut State, argv: &[&[u8]]) -> Answer {
    let amount = integer(argv[3])?;
    let old = match value(state, argv)? {
        Some(text) => {
            number::parse_integer(text).ok_or(Refusal::Text("ERR hash value is not an integer"))?
        }
        None => 0,
    };
    let new = old.checked_add(amount).ok_or(Refusal::Overflow)?;
    let fields = state.keys.find_or_create::<Fields>(argv[1])?;
    fields.set(argv[2], new.to_string().into_bytes());
    state.keys.touch(argv[1]);
    Ok(Reply::Integer(new))
}

fn add_float(state: &mut State, argv: &[&[u8]]) -> Answer {
    let amount = LongDouble::parse(argv[3]).ok_or(Refusal::NotFloat)?;
    if amount.is_infinite() {
        return Err(Refusal::Text("ERR value is NaN or Infinity"));
    }
    let old = match value(state, argv)? {
        Some(text) => {
            LongDouble::parse(text).ok_or(Refusal::Text("ERR hash value is not a float"))?
        }
        None => LongDouble::ZERO,
    };
    let new = old.plus(amount).ok_or(Refusal::FloatOverflow)?.to_string();
    let fields = state.keys.find_or_create::<Fields>(argv[1])?;
    fields.set(argv[2], new.clone().into_bytes());
    state.keys.touch(argv[1]);
    Ok(Reply::bulk(new))
}

fn list(
    state: &mut State,
    argv: &[&[u8]],
    pick: for<'a> fn(&'a [u8], &'a [u8]) -> &'a [u8],
) -> Answer {
    Ok(match state.keys.find::<Fields>(argv[1])? {
        None => Reply::Array(vec![]),
        Some(fields) => Reply::bulks(fields.iter().map(|(field, value)| pick(field, value))),
    })
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

    #[test]
    fn fields() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("HSET h f 1 g 2", ":2"),
            ("HSET h f 9", ":0"),
            (
                "HSET h f",
                "-ERR wrong number of arguments for 'hset' command",
            ),
            (
                "HSET h a 1 b",
                "-ERR wrong number of arguments for 'hset' command",
            ),
            ("HGET h f", "$1 9"),
            ("HGET h zz", "$-1"),
            ("HGET none f", "$-1"),
            ("HMGET h f zz", "*2 $1 9 $-1"),
            ("HMGET none f", "*1 $-1"),
            ("HGETALL h", "*4 $1 f $1 9 $1 g $1 2"),
            ("HGETALL none", "*0"),
            ("HKEYS h", "*2 $1 f $1 g"),
            ("HVALS h", "*2 $1 9 $1 2"),
            ("HEXISTS h f", ":1"),
            ("HEXISTS none f", ":0"),
            ("HLEN h", ":2"),
            ("HSETNX h f 0", ":0"),
            ("HSETNX h n 0", ":1"),
            ("HDEL h n zz f", ":2"),
            ("HDEL h g", ":1"),
            ("EXISTS h", ":0"),
            ("HDEL h g", ":0"),
            ("HMSET h a 12", "+OK"),
            (
                "HMSET h a",
                "-ERR wrong number of arguments for 'hmset' command",
            ),
            ("HSTRLEN h a", ":2"),
            ("HSTRLEN h b", ":0"),
            ("SET str v", "+OK"),
            ("HGET str f", WRONG_TYPE),
            ("HSET str f v", WRONG_TYPE),
            ("HDEL str f", WRONG_TYPE),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn scanning() {
        let mut server = TestServer::new();
        server.run("HSET h f 1 g 2");
        server.run("SET str v");
        for (command, reply) in [
            ("HSCAN str 0", WRONG_TYPE),
            ("HSCAN str x", "-ERR invalid cursor"),
            ("HSCAN none 0 BOGUS", "*2 $1 0 *0"),
            ("HSCAN h 0 COUNT 0", "-ERR syntax error"),
            ("HSCAN h 0 NOVALUES", "-ERR syntax error"),
            ("HSCAN h 17", "*2 $1 0 *4 $1 f $1 1 $1 g $1 2"),
            ("HSCAN h 0 MATCH f COUNT 1", "*2 $1 0 *2 $1 f $1 1"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn floats() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("HINCRBYFLOAT h f 1.5", "$3 1.5"),
            ("HINCRBYFLOAT h f 0.1", "$3 1.6"),
            ("HINCRBYFLOAT h f x", "-ERR value is not a valid float"),
            ("HINCRBYFLOAT h f inf", "-ERR value is NaN or Infinity"),
            ("HSET h g abc i inf", ":2"),
            ("HINCRBYFLOAT h g 1", "-ERR hash value is not a float"),
            (
                "HINCRBYFLOAT h i 1",
                "-ERR increment would produce NaN or Infinity",
            ),
            ("HINCRBYFLOAT none f inf", "-ERR value is NaN or Infinity"),
            ("EXISTS none", ":0"),
            ("SET str v", "+OK"),
            ("HINCRBYFLOAT str f 1", WRONG_TYPE),
            ("HINCRBYFLOAT str f x", "-ERR value is not a valid float"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn counters() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("HINCRBY h c 5", ":5"),
            ("HINCRBY h c -10", ":-5"),
            (
                "HINCRBY h c 1.5",
                "-ERR value is not an integer or out of range",
            ),
            ("HSET h m 9223372036854775807 s x", ":2"),
            (
                "HINCRBY h m 1",
                "-ERR increment or decrement would overflow",
            ),
            ("HINCRBY h s 1", "-ERR hash value is not an integer"),
            (
                "HINCRBY none s x",
                "-ERR value is not an integer or out of range",
            ),
            ("EXISTS none", ":0"),
        ] {
            server.expect(command, reply);
        }
    }
}
