//! Lists used as queues: pushing, popping, moving.

use super::{Entry, data, wrong_arity};
use crate::arguments::{count, is};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::value::List;

pub(super) const COMMANDS: &[Entry] = &[
    data("lpush", |state, argv| push(state, argv, End::Head)),
    data("rpush", |state, argv| push(state, argv, End::Tail)),
    data("lpushx", |state, argv| {
        push_to_existing(state, argv, End::Head)
    }),
    data("rpushx", |state, argv| {
        push_to_existing(state, argv, End::Tail)
    }),
    data("lpop", |state, argv| pop(state, argv, End::Head, "lpop")),
    data("rpop", |state, argv| pop(state, argv, End::Tail, "rpop")),
    data("llen", length),
    data("lmove", |state, argv| {
        let (from, to) = (end(argv[3])?, end(argv[4])?);
        move_one(state, argv, from, to)
    }),
    data("rpoplpush", |state, argv| {
        move_one(state, argv, End::Tail, End::Head)
    }),
];

/// One end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Head,
    Tail,
}

impl End {
    fn push(self, list: &mut List, element: Vec<u8>) {
        match self {
            End::Head => list.push_front(element),
            End::Tail => list.push_back(element),
        }
    }

    pub(super) fn pop(self, list: &mut List) -> Option<Vec<u8>> {
        match self {
            End::Head => list.pop_front(),
            End::Tail => list.pop_back(),
        }
    }
}

pub(super) fn end(word: &[u8]) -> Result<End, Refusal> {
    if is(word, "left") {
        Ok(End::Head)
    } else if is(word, "right") {
        Ok(End::Tail)
    } else {
        Err(Refusal::Syntax)
    }
}

fn push(state: &mut State, argv: &[&[u8]], end: End) -> Answer {
    let list = state.keys.find_or_create::<List>(argv[1])?;
    for element in &argv[2..] {
        end.push(list, element.to_vec());
    }
    let length = Reply::count(list.len());
    state.keys.touch(argv[1]);
    Ok(length)
}

fn push_to_existing(state: &mut State, argv: &[&[u8]], end: End) -> Answer {
    match state.keys.find::<List>(argv[1])? {
        Some(_) => push(state, argv, end),
        None => Ok(Reply::Integer(0)),
    }
}

fn pop(state: &mut State, argv: &[&[u8]], end: End, name: &str) -> Answer {
    let wanted = match argv {
        [_, _] => None,
        [_, _, wanted] => Some(count(wanted)?),
        _ => return Err(wrong_arity(name)),
    };
    let Some(list) = state.keys.find::<List>(argv[1])? else {
        return Ok(wanted.map_or(Reply::Nil, |_| Reply::NilArray));
    };
    let reply = match wanted {
        None => Reply::bulk_or_nil(end.pop(list)),
        Some(wanted) => {
            let wanted = wanted.min(list.len());
            Reply::bulks((0..wanted).filter_map(|_| end.pop(list)))
        }
    };
    if wanted != Some(0) {
        state.keys.drop_if_empty(argv[1]);
        state.keys.touch(argv[1]);
    }
    Ok(reply)
}

fn length(state: &mut State, argv: &[&[u8]]) -> Answer {
    let list = state.keys.find::<List>(argv[1])?;
    Ok(Reply::count(list.map_or(0, |list| list.len())))
}

/// Takes from one list and puts into another or the same; a target of another type changes
/// nothing.
pub(super) fn move_one(state: &mut State, argv: &[&[u8]], from: End, to: End) -> Answer {
    let (source, target) = (argv[1], argv[2]);
    if state.keys.find::<List>(source)?.is_none() {
        return Ok(Reply::Nil);
    }
    state.keys.find::<List>(target)?;
    let Some(element) = state
        .keys
        .find::<List>(source)?
        .and_then(|list| from.pop(list))
    else {
        return Ok(Reply::Nil);
    };
    to.push(state.keys.find_or_create(target)?, element.clone());
    state.keys.drop_if_empty(source);
    state.keys.touch(source);
    state.keys.touch(target);
    Ok(Reply::Bulk(element))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

    #[test]
    fn pushing_and_popping() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("RPUSH l a b", ":2"),
            ("LPUSH l x y", ":4"),
            ("LRANGE l 0 -1", "*4 $1 y $1 x $1 a $1 b"),
            ("LPUSHX none a", ":0"),
            ("RPUSHX l c", ":5"),
            ("LLEN l", ":5"),
            ("LLEN none", ":0"),
            ("LPOP l", "$1 y"),
            ("LPOP l 0", "*0"),
            ("LPOP l 2", "*2 $1 x $1 a"),
            ("LPOP l -1", "-ERR value is out of range, must be positive"),
            ("LPOP l x", "-ERR value is out of range, must be positive"),
            (
                "LPOP l 1 2",
                "-ERR wrong number of arguments for 'lpop' command",
            ),
            ("LPOP none", "$-1"),
            ("LPOP none 0", "*-1"),
            ("RPOP l 100", "*2 $1 c $1 b"),
            ("EXISTS l", ":0"),
            (
                "LPUSH l",
                "-ERR wrong number of arguments for 'lpush' command",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn moving() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("RPUSH s 1 2 3", ":3"),
            ("LMOVE s d LEFT RIGHT", "$1 1"),
            ("LMOVE s s left right", "$1 2"),
            ("LRANGE s 0 -1", "*2 $1 3 $1 2"),
            ("LMOVE none d LEFT RIGHT", "$-1"),
            ("LMOVE s d UP RIGHT", "-ERR syntax error"),
            ("RPOPLPUSH s d", "$1 2"),
            ("RPOPLPUSH s d", "$1 3"),
            ("EXISTS s", ":0"),
            ("LRANGE d 0 -1", "*3 $1 3 $1 2 $1 1"),
            ("SET str v", "+OK"),
            ("LMOVE d str LEFT LEFT", WRONG_TYPE),
            ("LMOVE str d LEFT LEFT", WRONG_TYPE),
            ("LLEN d", ":3"),
            ("LPOP str 0", WRONG_TYPE),
            ("LPUSH str x", WRONG_TYPE),
            ("RPUSH one x", ":1"),
            ("LMOVE one one LEFT LEFT", "$1 x"),
            ("LLEN one", ":1"),
        ] {
            server.expect(command, reply);
        }
    }
}
