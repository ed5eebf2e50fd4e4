//! The members of one set, and moving them to another.

use super::scan_request::{ScanRequest, cursor, scanned};
use super::{Entry, data};
use crate::refusal::Answer;
use crate::reply::Reply;
use crate::set::Set;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("sadd", add),
    data("srem", remove),
    data("scard", length),
    data("sismember", contains),
    data("smismember", contain),
    data("smembers", all),
    data("smove", relocate),
    data("sscan", scan),
];

fn add(state: &mut State, argv: &[&[u8]]) -> Answer {
    let set = state.keys.find_or_create::<Set>(argv[1])?;
    let added = argv[2..].iter().filter(|member| set.add(member)).count();
    if added > 0 {
        state.keys.touch(argv[1]);
    }
    Ok(Reply::count(added))
}

fn remove(state: &mut State, argv: &[&[u8]]) -> Answer {
    let Some(set) = state.keys.find::<Set>(argv[1])? else {
        return Ok(Reply::Integer(0));
    };
    let removed = argv[2..].iter().filter(|member| set.remove(member)).count();
    if removed > 0 {
        state.keys.drop_if_empty(argv[1]);
        state.keys.touch(argv[1]);
    }
    Ok(Reply::count(removed))
}

fn length(state: &mut State, argv: &[&[u8]]) -> Answer {
    let set = state.keys.find::<Set>(argv[1])?;
    Ok(Reply::count(set.map_or(0, |set| set.len())))
}

fn contains(state: &mut State, argv: &[&[u8]]) -> Answer {
    let set = state.keys.find::<Set>(argv[1])?;
    Ok(Reply::from(set.is_some_and(|set| set.contains(argv[2]))))
}

fn contain(state: &mut State, argv: &[&[u8]]) -> Answer {
    let set = state.keys.find::<Set>(argv[1])?;
    let found = argv[2..].iter().map(|member| {
        let found = set.as_ref().is_some_and(|set| set.contains(member));
        Reply::from(found)
    });
    Ok(Reply::Array(found.collect()))
}

fn all(state: &mut State, argv: &[&[u8]]) -> Answer {
    let shape = state.shape();
    let set = state.keys.find::<Set>(argv[1])?;
    let members = set.iter().flat_map(|set| set.iter());
    Ok(shape.set(members.map(Reply::Bulk).collect()))
}

/// A missing source hides a target of the wrong type.
fn relocate(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (from, to, member) = (argv[1], argv[2], argv[3]);
    let Some(set) = state.keys.find::<Set>(from)? else {
        return Ok(Reply::from(false));
    };
    let found = set.contains(member);
    state.keys.find::<Set>(to)?;
    if !found || from == to {
        return Ok(Reply::from(found));
    }
    if let Some(set) = state.keys.find::<Set>(from)? {
        set.remove(member);
    }
    state.keys.drop_if_empty(from);
    state.keys.touch(from);
    if state.keys.find_or_create::<Set>(to)?.add(member) {
        state.keys.touch(to);
    }
    Ok(Reply::from(true))
}

/// Answers everything at once. A set of integers does so in Redis, too, whatever the cursor is.
fn scan(state: &mut State, argv: &[&[u8]]) -> Answer {
    let at_start = cursor(argv[2])? == 0;
    let Some(set) = state.keys.find::<Set>(argv[1])? else {
        return Ok(scanned(std::iter::empty()));
    };
    let request = ScanRequest::parse(&argv[3..], false)?;
    let whole = at_start || set.is_compact();
    let found = set.iter().filter(|member| whole && request.matches(member));
    Ok(scanned(found.map(Reply::Bulk)))
}

#[cfg(test)]
mod tests {
    use crate::Protocol;
    use crate::test_server::TestServer;

    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

    #[test]
    fn a_value_of_another_type_is_refused() {
        let mut server = TestServer::new();
        server.run("SET str v");
        server.run("SADD p z y");
        for command in [
            "SADD str a",
            "SREM str a",
            "SCARD str",
            "SISMEMBER str a",
            "SMISMEMBER str a",
            "SMEMBERS str",
            "SMOVE str p z",
            "SMOVE p str z",
            "SMOVE p str nope",
            "SSCAN str 0",
        ] {
            server.expect(command, WRONG_TYPE);
        }
        server.expect("SMOVE none str z", ":0");
        server.expect("SSCAN str x", "-ERR invalid cursor");
    }

    #[test]
    fn members() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("SREM none a", ":0"),
            ("SMEMBERS none", "*0"),
            ("SISMEMBER none a", ":0"),
            ("SMISMEMBER none a x", "*2 :0 :0"),
            ("SADD s a b a", ":2"),
            ("SADD s c", ":1"),
            ("SADD s c", ":0"),
            ("TYPE s", "+set"),
            ("SISMEMBER s a", ":1"),
            ("SMISMEMBER s a x", "*2 :1 :0"),
            ("SADD i 3 1 2 10 -5", ":5"),
            ("SMEMBERS i", "*5 $2 -5 $1 1 $1 2 $1 3 $2 10"),
            ("SADD i 01", ":1"),
            ("SREM i nope", ":0"),
            ("SREM i 01 3 3", ":2"),
            ("SCARD i", ":4"),
            ("SREM i 1 2 10 -5", ":4"),
            ("EXISTS i", ":0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn moving() {
        let mut server = TestServer::new();
        server.run("SADD p z y 1");
        server.run("SADD q 1 y");
        for (command, reply) in [
            ("SMOVE p q nope", ":0"),
            ("SMOVE p q z", ":1"),
            ("SMOVE p p y", ":1"),
            ("SMOVE p p nope", ":0"),
            ("SMOVE p q y", ":1"),
            ("SMOVE p new 1", ":1"),
            ("TYPE p", "+none"),
            ("SMEMBERS new", "*1 $1 1"),
            ("SCARD q", ":3"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn scanning() {
        let mut server = TestServer::new();
        server.run("SADD s a b c");
        server.run("SADD i 1 2");
        for (command, reply) in [
            ("SSCAN s 0 COUNT 0", "-ERR syntax error"),
            (
                "SSCAN s 0 COUNT x",
                "-ERR value is not an integer or out of range",
            ),
            ("SSCAN s 0 BOGUS", "-ERR syntax error"),
            ("SSCAN s 0 TYPE set", "-ERR syntax error"),
            ("SSCAN none 0 BOGUS", "*2 $1 0 *0"),
            ("SSCAN none x", "-ERR invalid cursor"),
            ("SSCAN s 18446744073709551616", "-ERR invalid cursor"),
            ("SSCAN s 0", "*2 $1 0 *3 $1 a $1 b $1 c"),
            ("SSCAN s 0 MATCH [ab] COUNT 1", "*2 $1 0 *2 $1 a $1 b"),
            ("SSCAN s 17", "*2 $1 0 *0"),
            ("SSCAN i 17", "*2 $1 0 *2 $1 1 $1 2"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn resp3_has_sets() {
        let mut server = TestServer::new();
        server.run("HELLO 3");
        server.run("SADD i 2 1");
        for (command, reply) in [
            ("SMEMBERS i", "~2\r\n$1\r\n1\r\n$1\r\n2\r\n"),
            ("SMEMBERS none", "~0\r\n"),
            ("SMISMEMBER i 1 x", "*2\r\n:1\r\n:0\r\n"),
            ("SRANDMEMBER i 5", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n"),
            ("SUNION i none", "~2\r\n$1\r\n1\r\n$1\r\n2\r\n"),
            ("SINTER i none", "~0\r\n"),
            ("SPOP none", "_\r\n"),
            ("SPOP none 1", "~0\r\n"),
            ("SPOP i 5", "~2\r\n$1\r\n1\r\n$1\r\n2\r\n"),
        ] {
            let bytes = server.run(command).to_bytes(Protocol::Resp3);
            assert_eq!(String::from_utf8_lossy(&bytes), reply, "{command}");
        }
    }
}
