//! Lists used as queues by those who wait: `BLPOP` and the others, and `LMPOP`.

use super::list_ends::{End, end, move_one};
use super::pop_request::{PopRequest, pop_first, pop_or_wait};
use super::{Entry, data};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::value::List;

pub(super) const COMMANDS: &[Entry] = &[
    data("lmpop", |state, argv| {
        let PopRequest { keys, end, count } = PopRequest::parse(&argv[1..], end)?;
        let popped = pop_first(state, keys, |state, key| pop_many(state, key, end, count))?;
        Ok(popped.unwrap_or(Reply::NilArray))
    }),
    data("blmpop", |state, argv| {
        let PopRequest { keys, end, count } = PopRequest::parse(&argv[2..], end)?;
        pop_or_wait(state, keys, argv[1], argv, |state, key| {
            pop_many(state, key, end, count)
        })
    }),
    data("blpop", |state, argv| {
        pop_one_or_wait(state, argv, End::Head)
    }),
    data("brpop", |state, argv| {
        pop_one_or_wait(state, argv, End::Tail)
    }),
    data("blmove", |state, argv| {
        let (from, to) = (end(argv[3])?, end(argv[4])?);
        move_or_wait(state, argv, from, to)
    }),
    data("brpoplpush", |state, argv| {
        move_or_wait(state, argv, End::Tail, End::Head)
    }),
];

/// Takes up to `count` elements, `None` where there is no list.
fn take(
    state: &mut State,
    key: &[u8],
    end: End,
    count: usize,
) -> Result<Option<Vec<Vec<u8>>>, Refusal> {
    let Some(list) = state.keys.find::<List>(key)? else {
        return Ok(None);
    };
    let popped = (0..count).map_while(|_| end.pop(list)).collect();
    state.keys.drop_if_empty(key);
    state.keys.touch(key);
    Ok(Some(popped))
}

/// Pops for `LMPOP`, which names the key.
fn pop_many(
    state: &mut State,
    key: &[u8],
    end: End,
    count: usize,
) -> Result<Option<Reply>, Refusal> {
    let popped = take(state, key, end, count)?;
    Ok(popped.map(|popped| Reply::Array(vec![Reply::bulk(key), Reply::bulks(popped)])))
}

fn pop_one_or_wait(state: &mut State, argv: &[&[u8]], end: End) -> Answer {
    let (keys, timeout) = (&argv[1..argv.len() - 1], argv[argv.len() - 1]);
    pop_or_wait(state, keys, timeout, argv, |state, key| {
        let taken = take(state, key, end, 1)?.unwrap_or_default();
        let element = taken.into_iter().next();
        Ok(element.map(|element| Reply::bulks([key.to_vec(), element])))
    })
}

/// `BLMOVE`. Who must not wait gets another nil than who has waited in vain.
fn move_or_wait(state: &mut State, argv: &[&[u8]], from: End, to: End) -> Answer {
    let deadline = state.deadline_of_seconds(argv[argv.len() - 1])?;
    match move_one(state, argv, from, to)? {
        Reply::Nil if state.may_wait => state.wait_or(Reply::NilArray, &argv[1..2], deadline, argv),
        reply => Ok(reply),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::reply::Reply;
    use crate::test_server::TestServer;

    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

    #[test]
    fn popping_from_one_of_several() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("RPUSH l a b c d", ":4"),
            ("SET s v", "+OK"),
            ("LMPOP 2 none l LEFT", "*2 $1 l *1 $1 a"),
            ("LMPOP 1 l right COUNT 2", "*2 $1 l *2 $1 d $1 c"),
            ("LMPOP 1 none LEFT", "*-1"),
            ("LMPOP 2 s l LEFT", WRONG_TYPE),
            ("LMPOP 1 l MIN", "-ERR syntax error"),
            ("BLMPOP 0 1 l LEFT COUNT 9", "*2 $1 l *1 $1 b"),
            ("EXISTS l", ":0"),
            ("BLMPOP 0 1 l LEFT", "*-1"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn who_must_not_wait_is_answered_at_once() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("BLPOP none 0", "*-1"),
            ("BRPOP none 0.5", "*-1"),
            ("BLMOVE none l LEFT LEFT 0", "$-1"),
            ("BRPOPLPUSH none l 0", "$-1"),
            ("RPUSH l a b c", ":3"),
            ("BLPOP none l 0", "*2 $1 l $1 a"),
            ("BRPOP none l 0", "*2 $1 l $1 c"),
            ("BLMOVE l m LEFT LEFT 0", "$1 b"),
            ("EXISTS l", ":0"),
            ("SET s v", "+OK"),
            ("BLPOP s m 0", WRONG_TYPE),
            ("BLPOP m s 0", "*2 $1 m $1 b"),
            ("BLMOVE s m LEFT LEFT 0", WRONG_TYPE),
            ("BLMOVE l m UP LEFT x", "-ERR syntax error"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn timeouts() {
        const NO_FLOAT: &str = "-ERR timeout is not a float or out of range";
        const NEGATIVE: &str = "-ERR timeout is negative";
        let mut server = TestServer::new();
        for (timeout, reply) in [
            ("0", "*-1"),
            ("-0.0001", "*-1"),
            ("1e-400", "*-1"),
            ("0x10", "*-1"),
            ("9.2e15", "*-1"),
            ("-1", NEGATIVE),
            ("inf", NEGATIVE),
            ("-inf", NEGATIVE),
            ("1e400", NEGATIVE),
            ("9.3e15", NEGATIVE),
            ("x", NO_FLOAT),
            ("nan", NO_FLOAT),
            ("'1 '", NO_FLOAT),
            ("' 1'", NO_FLOAT),
            ("''", NO_FLOAT),
        ] {
            server.expect(&format!("BLPOP none {timeout}"), reply);
        }
    }

    #[test]
    fn a_client_waits_until_its_time_is_up() {
        let mut server = TestServer::new();
        let client = server.connect();
        for call in ["BLMOVE a b LEFT LEFT 0.25", "BLPOP a a 1e-400"] {
            assert_eq!(server.ask(client, call), None);
            server.advance(Duration::from_millis(250));
            assert_eq!(server.take_replies(), [(client, Reply::NilArray)]);
        }
    }
}
