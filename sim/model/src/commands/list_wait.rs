//! Lists used as queues by those who wait: `BLPOP` and the others, and `LMPOP`.

use super::list_ends::{End, end, move_one};
use super::pop_request::PopRequest;
use super::{Entry, data};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::value::List;

pub(super) const COMMANDS: &[Entry] = &[
    data("lmpop", |state, argv| {
        let request = PopRequest::parse(&argv[1..], end)?;
        Ok(pop_first(state, request)?.unwrap_or(Reply::NilArray))
    }),
    data("blmpop", |state, argv| {
        let request = PopRequest::parse(&argv[2..], end)?;
        let deadline = state.deadline_of_seconds(argv[1])?;
        match pop_first(state, request)? {
            Some(popped) => Ok(popped),
            None => state.wait_or(Reply::NilArray, request.keys, deadline, argv),
        }
    }),
    data("blpop", |state, argv| pop_or_wait(state, argv, End::Head)),
    data("brpop", |state, argv| pop_or_wait(state, argv, End::Tail)),
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

/// Pops from the first key that is there, and names it.
fn pop_first(state: &mut State, request: PopRequest<End>) -> Result<Option<Reply>, Refusal> {
    for key in request.keys {
        if let Some(popped) = take(state, key, request.end, request.count)? {
            let reply = vec![Reply::bulk(*key), Reply::bulks(popped)];
            return Ok(Some(Reply::Array(reply)));
        }
    }
    Ok(None)
}

fn pop_or_wait(state: &mut State, argv: &[&[u8]], end: End) -> Answer {
    let (keys, timeout) = (&argv[1..argv.len() - 1], argv[argv.len() - 1]);
    let deadline = state.deadline_of_seconds(timeout)?;
    for key in keys {
        let popped = take(state, key, end, 1)?.unwrap_or_default();
        if let Some(element) = popped.into_iter().next() {
            return Ok(Reply::bulks([key.to_vec(), element]));
        }
    }
    state.wait_or(Reply::NilArray, keys, deadline, argv)
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
            let words: Vec<&[u8]> = call.split(' ').map(str::as_bytes).collect();
            assert_eq!(server.call(client, &words), None);
            server.advance(Duration::from_millis(250));
            assert_eq!(server.take_replies(), [(client, Reply::NilArray)]);
        }
    }
}
