//! Sorted sets used as priority queues.

use super::pop_request::{PopRequest, pop_first, pop_or_wait};
use super::{Entry, data};
use crate::arguments::{count, is};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::sorted_set::SortedSet;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("zpopmin", |state, argv| pop(state, argv, End::Lowest)),
    data("zpopmax", |state, argv| pop(state, argv, End::Highest)),
    data("zmpop", |state, argv| {
        let PopRequest { keys, end, count } = PopRequest::parse(&argv[1..], end)?;
        let popped = pop_first(state, keys, |state, key| pop_many(state, key, end, count))?;
        Ok(popped.unwrap_or(Reply::NilArray))
    }),
    data("bzpopmin", |state, argv| {
        pop_one_or_wait(state, argv, End::Lowest)
    }),
    data("bzpopmax", |state, argv| {
        pop_one_or_wait(state, argv, End::Highest)
    }),
    data("bzmpop", |state, argv| {
        let PopRequest { keys, end, count } = PopRequest::parse(&argv[2..], end)?;
        pop_or_wait(state, keys, argv[1], argv, |state, key| {
            pop_many(state, key, end, count)
        })
    }),
];

/// One end of a sorted set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Lowest,
    Highest,
}

fn end(word: &[u8]) -> Result<End, Refusal> {
    match word {
        word if is(word, "min") => Ok(End::Lowest),
        word if is(word, "max") => Ok(End::Highest),
        _ => Err(Refusal::Syntax),
    }
}

/// Takes up to `count` members, `None` where there is no set.
fn take(
    state: &mut State,
    key: &[u8],
    end: End,
    count: usize,
) -> Result<Option<Vec<(Reply, Reply)>>, Refusal> {
    let shape = state.shape();
    let Some(set) = state.keys.find::<SortedSet>(key)? else {
        return Ok(None);
    };
    let popped: Vec<_> = (0..count)
        .map_while(|_| set.pop(end == End::Highest))
        .map(|(member, score)| (Reply::Bulk(member), shape.double(score)))
        .collect();
    if !popped.is_empty() {
        state.keys.drop_if_empty(key);
        state.keys.touch(key);
    }
    Ok(Some(popped))
}

fn pop(state: &mut State, argv: &[&[u8]], end: End) -> Answer {
    let wanted = match argv {
        [_, _] => None,
        [_, _, wanted] => Some(count(wanted)?),
        _ => return Err(Refusal::Syntax),
    };
    let popped = take(state, argv[1], end, wanted.unwrap_or(1))?.unwrap_or_default();
    Ok(match wanted {
        Some(_) => state.shape().pairs(popped),
        // Without a count the one pair is flat in RESP3, too.
        None => flat(popped),
    })
}

fn flat(pairs: Vec<(Reply, Reply)>) -> Reply {
    let words = pairs
        .into_iter()
        .flat_map(|(member, score)| [member, score]);
    Reply::Array(words.collect())
}

/// Pops for `ZMPOP`, which names the key. The pairs are nested in RESP2, too.
fn pop_many(
    state: &mut State,
    key: &[u8],
    end: End,
    count: usize,
) -> Result<Option<Reply>, Refusal> {
    let popped = take(state, key, end, count)?;
    Ok(popped.map(|popped| {
        let pairs = popped
            .into_iter()
            .map(|(member, score)| Reply::Array(vec![member, score]));
        Reply::Array(vec![Reply::bulk(key), Reply::Array(pairs.collect())])
    }))
}

fn pop_one_or_wait(state: &mut State, argv: &[&[u8]], end: End) -> Answer {
    let (keys, timeout) = (&argv[1..argv.len() - 1], argv[argv.len() - 1]);
    pop_or_wait(state, keys, timeout, argv, |state, key| {
        let taken = take(state, key, end, 1)?.unwrap_or_default();
        let pair = taken.into_iter().next();
        Ok(pair.map(|(member, score)| Reply::Array(vec![Reply::bulk(key), member, score])))
    })
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn popping() {
        let mut server = TestServer::new();
        server.run("ZADD z 1 zz 3 c 3 d 10 e");
        for (command, reply) in [
            ("ZPOPMIN z", "*2 $2 zz $1 1"),
            ("ZPOPMIN z 0", "*0"),
            (
                "ZPOPMIN z -1",
                "-ERR value is out of range, must be positive",
            ),
            (
                "ZPOPMIN z x",
                "-ERR value is out of range, must be positive",
            ),
            ("ZPOPMIN z 1 2", "-ERR syntax error"),
            ("ZPOPMIN none", "*0"),
            ("ZPOPMAX z 2", "*4 $1 e $2 10 $1 d $1 3"),
            ("ZPOPMAX z 10", "*2 $1 c $1 3"),
            ("EXISTS z", ":0"),
            ("SET s v", "+OK"),
            (
                "ZPOPMIN s 0",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn popping_from_one_of_several() {
        let mut server = TestServer::new();
        server.run("ZADD z 1 a 2 b 3 c 4 d");
        server.run("SET s v");
        for (command, reply) in [
            ("ZMPOP 2 none z MIN", "*2 $1 z *1 *2 $1 a $1 1"),
            (
                "ZMPOP 1 z max COUNT 2",
                "*2 $1 z *2 *2 $1 d $1 4 *2 $1 c $1 3",
            ),
            ("ZMPOP 1 none MIN", "*-1"),
            (
                "ZMPOP 2 s z MIN",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            ("BZMPOP 0 1 z MIN COUNT 9", "*2 $1 z *1 *2 $1 b $1 2"),
            ("EXISTS z", ":0"),
            ("BZMPOP 0 1 z MIN", "*-1"),
            ("BZPOPMIN none z 1", "*-1"),
            ("BZPOPMIN z -1", "-ERR timeout is negative"),
            (
                "BZMPOP x 1 z MIN",
                "-ERR timeout is not a float or out of range",
            ),
            ("BZMPOP x 0 z MIN", "-ERR numkeys should be greater than 0"),
            ("ZADD z 1 a 2 b", ":2"),
            ("BZPOPMAX none z 0", "*3 $1 z $1 b $1 2"),
        ] {
            server.expect(command, reply);
        }
        server.run("HELLO 3");
        server.expect("BZPOPMIN z 0", "*3 $1 z $1 a ,1");
        server.expect("ZMPOP 1 z MIN", "_");
    }
}
