//! Commands about keys of any type.

use super::scan_request::{ScanRequest, cursor, scanned};
use super::{Entry, data};
use crate::arguments::is;
use crate::glob;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("dbsize", dbsize),
    data("flushall", |state, argv| {
        check_flush(argv)?;
        for database in state.databases() {
            state.in_database(database, |state| state.keys.clear());
        }
        Ok(Reply::ok())
    }),
    data("flushdb", |state, argv| {
        check_flush(argv)?;
        state.keys.clear();
        Ok(Reply::ok())
    }),
    data("keys", keys),
    data("scan", scan),
    data("randomkey", random),
    data("type", kind),
    data("exists", exists),
    data("touch", exists),
    data("del", delete),
    data("unlink", delete),
    data("rename", rename),
    data("renamenx", rename_to_new),
];

/// Counts the living keys, as if a real server's sweeper had already been round.
fn dbsize(state: &mut State, _: &[&[u8]]) -> Answer {
    Ok(Reply::count(state.keys.len()))
}

fn check_flush(argv: &[&[u8]]) -> Result<(), Refusal> {
    match argv {
        [_] => Ok(()),
        [_, mode] if is(mode, "sync") || is(mode, "async") => Ok(()),
        _ => Err(Refusal::Syntax),
    }
}

fn keys(state: &mut State, argv: &[&[u8]]) -> Answer {
    let names = state.keys.iter().map(|(key, _)| key);
    Ok(Reply::bulks(
        names.filter(|key| glob::matches(argv[1], key)),
    ))
}

/// Answers everything at once: `COUNT` is a hint, and one pass is a valid iteration.
fn scan(state: &mut State, argv: &[&[u8]]) -> Answer {
    let at_start = cursor(argv[1])? == 0;
    let request = ScanRequest::parse(&argv[2..], true)?;
    let found = state.keys.iter().filter(|(key, slot)| {
        at_start
            && request.matches(key)
            && request.kind.is_none_or(|kind| is(kind, slot.value.kind()))
    });
    Ok(scanned(found.map(|(key, _)| Reply::bulk(key))))
}

fn random(state: &mut State, _: &[&[u8]]) -> Answer {
    let number = state.keys.len();
    let chosen = state.random.below(number);
    let key = state.keys.iter().nth(chosen);
    Ok(Reply::bulk_or_nil(key.map(|(key, _)| key.to_vec())))
}

fn kind(state: &mut State, argv: &[&[u8]]) -> Answer {
    let kind = state
        .keys
        .slot(argv[1])
        .map_or("none", |slot| slot.value.kind());
    Ok(Reply::Status(kind.into()))
}

fn exists(state: &mut State, argv: &[&[u8]]) -> Answer {
    let found = argv[1..].iter().filter(|key| state.keys.contains(key));
    Ok(Reply::count(found.count()))
}

fn delete(state: &mut State, argv: &[&[u8]]) -> Answer {
    let deleted = argv[1..]
        .iter()
        .filter(|key| state.keys.take(key).is_some());
    Ok(Reply::count(deleted.count()))
}

fn rename(state: &mut State, argv: &[&[u8]]) -> Answer {
    match state.keys.rename(argv[1], argv[2]) {
        true => Ok(Reply::ok()),
        false => Err(Refusal::NoSuchKey),
    }
}

fn rename_to_new(state: &mut State, argv: &[&[u8]]) -> Answer {
    if !state.keys.contains(argv[1]) {
        return Err(Refusal::NoSuchKey);
    }
    if state.keys.contains(argv[2]) {
        return Ok(Reply::from(false));
    }
    rename(state, argv)?;
    Ok(Reply::from(true))
}

#[cfg(test)]
mod tests {
    use crate::Reply;
    use crate::test_server::TestServer;

    #[test]
    fn names_and_types() {
        let mut server = TestServer::new();
        server.run("SET s v");
        server.run("RPUSH list a");
        server.run("HSET h f v");
        server.run("ZADD z 1 m");
        server.expect("DBSIZE", ":4");
        server.expect("KEYS *", "*4 $1 h $4 list $1 s $1 z");
        server.expect("KEYS l?st", "*1 $4 list");
        for (key, kind) in [
            ("s", "string"),
            ("list", "list"),
            ("h", "hash"),
            ("z", "zset"),
        ] {
            server.expect(&format!("TYPE {key}"), &format!("+{kind}"));
        }
        server.expect("TYPE none", "+none");
        server.expect("EXISTS s s none h", ":3");
        server.expect("DEL s s none", ":1");
        server.expect("UNLINK h", ":1");
        server.expect("FLUSHALL x", "-ERR syntax error");
        server.expect("FLUSHALL ASYNC", "+OK");
        server.expect("DBSIZE", ":0");
    }

    #[test]
    fn scan_is_one_pass() {
        let mut server = TestServer::new();
        server.run("SET s v");
        server.run("RPUSH l a");
        server.expect("SCAN 0", "*2 $1 0 *2 $1 l $1 s");
        server.expect("SCAN 0 MATCH l* COUNT 100", "*2 $1 0 *1 $1 l");
        server.expect("SCAN 0 TYPE string", "*2 $1 0 *1 $1 s");
        server.expect("SCAN 17", "*2 $1 0 *0");
        server.expect("SCAN -1", "*2 $1 0 *0");
        server.expect("SCAN abc", "-ERR invalid cursor");
        server.expect("SCAN 18446744073709551616", "-ERR invalid cursor");
        server.expect("SCAN 0 COUNT 0", "-ERR syntax error");
        server.expect(
            "SCAN 0 COUNT abc",
            "-ERR value is not an integer or out of range",
        );
        server.expect("SCAN 0 BOGUS", "-ERR syntax error");
    }

    #[test]
    fn a_key_is_chosen() {
        let mut server = TestServer::new();
        server.expect("RANDOMKEY", "$-1");
        server.run("SET one v");
        server.expect("RANDOMKEY", "$3 one");
    }

    #[test]
    fn renaming_keeps_the_expiry() {
        let mut server = TestServer::new();
        server.run("SET a v PX 1000");
        server.run("SET b w");
        server.expect("RENAMENX a b", ":0");
        server.expect("RENAME a b", "+OK");
        server.expect("PTTL b", ":1000");
        server.expect("RENAME b b", "+OK");
        server.expect("RENAMENX b c", ":1");
        server.expect("RENAME a b", "-ERR no such key");
        server.expect("RENAMENX a b", "-ERR no such key");
    }

    #[test]
    fn a_renamed_key_comes_into_being() {
        let mut server = TestServer::new();
        let (waiter, watcher) = (server.connect(), server.connect());
        let words = |call: &'static str| call.split(' ').map(str::as_bytes).collect::<Vec<_>>();
        server.run("XADD s 1-1 a 1");
        assert_eq!(server.call(waiter, &words("BLPOP to 0")), None);
        server.call(watcher, &words("WATCH s"));
        server.run("SET to v");
        server.run("RPUSH from a");
        server.expect("RENAME s s", "+OK");
        server.expect("RENAME from to", "+OK");
        let served = vec![(waiter, Reply::bulks(["to", "a"]))];
        assert_eq!(server.take_replies(), served);
        server.call(watcher, &words("MULTI"));
        let executed = server.call(watcher, &words("EXEC"));
        assert_eq!(executed, Some(Reply::Array(vec![])));
    }
}
