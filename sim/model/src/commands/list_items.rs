//! Lists by position and by value.

use super::{Entry, data};
use crate::arguments::{integer, is, natural, slice};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::value::List;

pub(super) const COMMANDS: &[Entry] = &[
    data("lrange", range),
    data("lindex", index),
    data("lset", set),
    data("linsert", insert),
    data("lrem", remove),
    data("ltrim", trim),
    data("lpos", position),
];

fn range(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (start, stop) = (integer(argv[2])?, integer(argv[3])?);
    let Some(list) = state.keys.find::<List>(argv[1])? else {
        return Ok(Reply::Array(vec![]));
    };
    let elements = list.range(slice(start, stop, list.len()));
    Ok(Reply::bulks(elements.cloned()))
}

/// Where a position lies in a list, if it does.
fn locate(position: i64, list: &List) -> Option<usize> {
    let from_head = if position < 0 {
        position.checked_add(list.len() as i64)?
    } else {
        position
    };
    let index = usize::try_from(from_head).ok()?;
    (index < list.len()).then_some(index)
}

fn index(state: &mut State, argv: &[&[u8]]) -> Answer {
    // The key is looked up before the number is read: a missing one is nil whatever follows.
    let Some(list) = state.keys.find::<List>(argv[1])? else {
        return Ok(Reply::Nil);
    };
    let index = locate(integer(argv[2])?, list);
    Ok(Reply::bulk_or_nil(
        index.and_then(|index| list.get(index).cloned()),
    ))
}

fn set(state: &mut State, argv: &[&[u8]]) -> Answer {
    let list = state
        .keys
        .find::<List>(argv[1])?
        .ok_or(Refusal::NoSuchKey)?;
    let index = locate(integer(argv[2])?, list).ok_or(Refusal::IndexOutOfRange)?;
    list[index] = argv[3].to_vec();
    state.keys.touch(argv[1]);
    Ok(Reply::ok())
}

fn insert(state: &mut State, argv: &[&[u8]]) -> Answer {
    let offset = if is(argv[2], "before") {
        0
    } else if is(argv[2], "after") {
        1
    } else {
        return Err(Refusal::Syntax);
    };
    let Some(list) = state.keys.find::<List>(argv[1])? else {
        return Ok(Reply::Integer(0));
    };
    match list.iter().position(|element| element == argv[3]) {
        Some(pivot) => {
            list.insert(pivot + offset, argv[4].to_vec());
            let length = Reply::count(list.len());
            state.keys.touch(argv[1]);
            Ok(length)
        }
        None => Ok(Reply::Integer(-1)),
    }
}

/// Removes the first `count` equal elements, the last ones if it is negative, all if it is 0.
fn remove(state: &mut State, argv: &[&[u8]]) -> Answer {
    let count = integer(argv[2])?;
    #[cfg(feature = "planted-faults")]
    let count = match state.makes(crate::Fault::RemovesFromHead) {
        true => count.saturating_abs(),
        false => count,
    };
    let Some(list) = state.keys.find::<List>(argv[1])? else {
        return Ok(Reply::Integer(0));
    };
    let wanted = match count {
        0 => usize::MAX,
        _ => usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX),
    };
    let matches = list.iter().filter(|element| *element == argv[3]).count();
    // From the tail: pass over the first of them, so that the last ones are left to go.
    let mut keep = if count < 0 {
        matches.saturating_sub(wanted)
    } else {
        0
    };
    let mut removed = 0;
    if matches > 0 {
        list.retain(|element| {
            if element != argv[3] || removed == wanted {
                return true;
            }
            if keep > 0 {
                keep -= 1;
                return true;
            }
            removed += 1;
            false
        });
    }
    if removed > 0 {
        state.keys.drop_if_empty(argv[1]);
        state.keys.touch(argv[1]);
    }
    Ok(Reply::count(removed))
}

fn trim(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (start, stop) = (integer(argv[2])?, integer(argv[3])?);
    if let Some(list) = state.keys.find::<List>(argv[1])? {
        let kept = slice(start, stop, list.len());
        list.truncate(kept.end);
        list.drain(..kept.start.min(list.len()));
        state.keys.drop_if_empty(argv[1]);
        // Even if everything stays.
        state.keys.touch(argv[1]);
    }
    Ok(Reply::ok())
}

/// The options of `LPOS`.
struct Search {
    rank: u64,
    from_tail: bool,
    count: Option<usize>,
    /// How many elements to compare at most; 0 for all.
    compare: usize,
}

impl Search {
    fn parse(words: &[&[u8]]) -> Result<Self, Refusal> {
        let mut search = Search {
            rank: 1,
            from_tail: false,
            count: None,
            compare: 0,
        };
        let (options, rest) = words.as_chunks::<2>();
        for [option, value] in options {
            if is(option, "rank") {
                let rank = integer(value)?;
                if rank == 0 {
                    return Err(Refusal::Text(
                        "ERR RANK can't be zero: use 1 to start from the first match, 2 from \
                         the second ... or use negative to start from the end of the list",
                    ));
                }
                search.rank = rank.unsigned_abs();
                search.from_tail = rank < 0;
            } else if is(option, "count") {
                search.count = Some(natural(value, "ERR COUNT can't be negative")?);
            } else if is(option, "maxlen") {
                search.compare = natural(value, "ERR MAXLEN can't be negative")?;
            } else {
                return Err(Refusal::Syntax);
            }
        }
        if !rest.is_empty() {
            return Err(Refusal::Syntax);
        }
        // The smallest rank has no positive counterpart: Redis takes it for the first match, and
        // then loses count.
        if search.rank == i64::MIN.unsigned_abs() {
            search.rank = 1;
            search.count = search.count.map(|_| 0);
        }
        Ok(search)
    }
}

fn position(state: &mut State, argv: &[&[u8]]) -> Answer {
    let search = Search::parse(&argv[3..])?;
    let none = match search.count {
        Some(_) => Reply::Array(vec![]),
        None => Reply::Nil,
    };
    let Some(list) = state.keys.find::<List>(argv[1])? else {
        return Ok(none);
    };
    let length = list.len();
    let compared = match search.compare {
        0 => length,
        limit => length.min(limit),
    };
    let indices = (0..compared).map(|step| match search.from_tail {
        true => length - 1 - step,
        false => step,
    });
    let mut found = indices
        .filter(|index| list[*index] == argv[2])
        .skip(usize::try_from(search.rank - 1).unwrap_or(usize::MAX));
    match search.count {
        None => Ok(found.next().map_or(none, Reply::count)),
        Some(0) => Ok(Reply::Array(found.map(Reply::count).collect())),
        Some(wanted) => Ok(Reply::Array(found.take(wanted).map(Reply::count).collect())),
    }
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn by_position() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("RPUSH l a b c d e", ":5"),
            ("LRANGE l -100 100", "*5 $1 a $1 b $1 c $1 d $1 e"),
            ("LRANGE l 3 1", "*0"),
            (
                "LRANGE l a 1",
                "-ERR value is not an integer or out of range",
            ),
            ("LRANGE none 0 -1", "*0"),
            ("LINDEX l -1", "$1 e"),
            ("LINDEX l 99", "$-1"),
            ("LINDEX l x", "-ERR value is not an integer or out of range"),
            ("LINDEX none x", "$-1"),
            ("LSET l 99 x", "-ERR index out of range"),
            ("LSET none 0 x", "-ERR no such key"),
            ("LSET l -1 F", "+OK"),
            ("LTRIM l 1 -2", "+OK"),
            ("LRANGE l 0 -1", "*3 $1 b $1 c $1 d"),
            (
                "LTRIM l x 1",
                "-ERR value is not an integer or out of range",
            ),
            ("LTRIM l 5 1", "+OK"),
            ("EXISTS l", ":0"),
            ("LTRIM none 0 1", "+OK"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn by_value() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("RPUSH l x y x z x", ":5"),
            ("LINSERT l BEFORE zz x", ":-1"),
            ("LINSERT l AFTER y y2", ":6"),
            ("LINSERT none AFTER a b", ":0"),
            ("LINSERT l MID a b", "-ERR syntax error"),
            ("LREM l 2 x", ":2"),
            ("LRANGE l 0 -1", "*4 $1 y $2 y2 $1 z $1 x"),
            ("LPUSH l x", ":5"),
            ("LREM l -1 x", ":1"),
            ("LINDEX l 0", "$1 x"),
            ("LREM l 0 nope", ":0"),
            ("LREM none 0 x", ":0"),
            (
                "LREM l abc x",
                "-ERR value is not an integer or out of range",
            ),
            ("DEL l", ":1"),
            ("RPUSH l x x", ":2"),
            ("LREM l 0 x", ":2"),
            ("EXISTS l", ":0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn positions() {
        let mut server = TestServer::new();
        server.run("RPUSH l a b c 1 2 3 c c");
        for (command, reply) in [
            ("LPOS l c", ":2"),
            ("LPOS l c RANK 2", ":6"),
            ("LPOS l c RANK -1", ":7"),
            ("LPOS l c COUNT 2", "*2 :2 :6"),
            ("LPOS l c COUNT 0 RANK -1", "*3 :7 :6 :2"),
            ("LPOS l c RANK -9223372036854775808", ":7"),
            ("LPOS l c RANK -9223372036854775808 COUNT 1", "*3 :7 :6 :2"),
            ("LPOS l c MAXLEN 2", "$-1"),
            ("LPOS l c MAXLEN 3 COUNT 0", "*1 :2"),
            ("LPOS l none COUNT 0", "*0"),
            ("LPOS nokey a", "$-1"),
            ("LPOS l c RANK", "-ERR syntax error"),
            ("LPOS l c COUNT -1", "-ERR COUNT can't be negative"),
            ("LPOS l c MAXLEN -1", "-ERR MAXLEN can't be negative"),
            (
                "LPOS l c RANK x",
                "-ERR value is not an integer or out of range",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
