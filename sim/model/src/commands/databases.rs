//! Commands about the numbered databases.

use super::{Entry, data};
use crate::arguments::{integer, is};
use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::{DATABASES, State};

pub(super) const COMMANDS: &[Entry] = &[
    data("select", |state, argv| {
        let database = database(argv[1])?;
        state.select(database);
        Ok(Reply::ok())
    }),
    data("move", relocate),
    data("copy", copy),
    data("swapdb", swap),
];

/// The number of a database, which Redis reads as an `int`.
fn database(text: &[u8]) -> Result<usize, Refusal> {
    let number = integer(text)?;
    if i32::try_from(number).is_err() {
        return Err(Refusal::Text(
            "ERR value is out of range, value must between -2147483648 and 2147483647",
        ));
    }
    in_range(number)
}

fn in_range(number: i64) -> Result<usize, Refusal> {
    usize::try_from(number)
        .ok()
        .filter(|number| *number < DATABASES)
        .ok_or(Refusal::Text("ERR DB index is out of range"))
}

fn relocate(state: &mut State, argv: &[&[u8]]) -> Answer {
    let key = argv[1];
    let target = database(argv[2])?;
    if target == state.selected() {
        return Err(Refusal::Text(
            "ERR source and destination objects are the same",
        ));
    }
    if !state.keys.contains(key) || state.in_database(target, |state| state.keys.contains(key)) {
        return Ok(Reply::Integer(0));
    }
    if let Some(slot) = state.keys.take(key) {
        state.in_database(target, |state| state.keys.put_slot(key, slot));
    }
    Ok(Reply::Integer(1))
}

fn copy(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (from, to) = (argv[1], argv[2]);
    let (mut target, mut replace) = (state.selected(), false);
    let mut options = argv[3..].iter();
    while let Some(option) = options.next() {
        if is(option, "replace") {
            replace = true;
        } else if is(option, "db") {
            target = database(options.next().ok_or(Refusal::Syntax)?)?;
        } else {
            return Err(Refusal::Syntax);
        }
    }
    if target == state.selected() && from == to {
        return Err(Refusal::Text(
            "ERR source and destination objects are the same",
        ));
    }
    let Some(slot) = state.keys.slot(from).cloned() else {
        return Ok(Reply::from(false));
    };
    let copied = state.in_database(target, |state| {
        let free = replace || !state.keys.contains(to);
        if free {
            state.keys.put_slot(to, slot);
        }
        free
    });
    Ok(Reply::from(copied))
}

fn swap(state: &mut State, argv: &[&[u8]]) -> Answer {
    let number = |text: &[u8], error| {
        number::parse_integer(text)
            .filter(|number| i32::try_from(*number).is_ok())
            .ok_or(Refusal::Text(error))
    };
    let one = number(argv[1], "ERR invalid first DB index")?;
    let two = number(argv[2], "ERR invalid second DB index")?;
    state.swap(in_range(one)?, in_range(two)?);
    Ok(Reply::ok())
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn databases_are_apart() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("SET k zero", "+OK"),
            ("SELECT 15", "+OK"),
            ("GET k", "$-1"),
            ("SET k fifteen", "+OK"),
            ("SELECT 0", "+OK"),
            ("GET k", "$4 zero"),
            ("SELECT x", "-ERR value is not an integer or out of range"),
            ("SELECT 16", "-ERR DB index is out of range"),
            ("SELECT -1", "-ERR DB index is out of range"),
            (
                "SELECT 2147483648",
                "-ERR value is out of range, value must between -2147483648 and 2147483647",
            ),
            ("FLUSHDB", "+OK"),
            ("SELECT 15", "+OK"),
            ("GET k", "$7 fifteen"),
            ("FLUSHALL", "+OK"),
            ("DBSIZE", ":0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn a_script_selects_for_itself() {
        let mut server = TestServer::new();
        server.run("SET k zero");
        let script =
            "redis.call('SELECT', 3) redis.call('SET', 'k', 'three') return redis.call('GET', 'k')";
        server.expect_script(script, "$5 three");
        server.expect("GET k", "$4 zero");
    }

    #[test]
    fn keys_are_copied() {
        const SAME: &str = "-ERR source and destination objects are the same";
        let mut server = TestServer::new();
        server.run("SET k v EX 100");
        server.run("RPUSH l a");
        for (command, reply) in [
            ("COPY k k", SAME),
            ("COPY none none", SAME),
            ("COPY k k DB 0 REPLACE", SAME),
            ("COPY k x DB 99", "-ERR DB index is out of range"),
            ("COPY k x DB -1", "-ERR DB index is out of range"),
            (
                "COPY k x DB x",
                "-ERR value is not an integer or out of range",
            ),
            (
                "COPY k x DB 99999999999",
                "-ERR value is out of range, value must between -2147483648 and 2147483647",
            ),
            ("COPY k x DB", "-ERR syntax error"),
            ("COPY k x BOGUS", "-ERR syntax error"),
            ("COPY none x", ":0"),
            ("COPY k x", ":1"),
            ("TTL x", ":100"),
            ("COPY k l", ":0"),
            ("COPY k l REPLACE", ":1"),
            ("TYPE l", "+string"),
            ("COPY k k DB 1", ":1"),
            ("COPY k k DB 1", ":0"),
            ("COPY k x DB 1 DB 2", ":1"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn keys_move() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("SET k v PX 5000", "+OK"),
            (
                "MOVE k 0",
                "-ERR source and destination objects are the same",
            ),
            ("MOVE k 99", "-ERR DB index is out of range"),
            (
                "MOVE k 2147483648",
                "-ERR value is out of range, value must between -2147483648 and 2147483647",
            ),
            ("MOVE k 1", ":1"),
            ("MOVE k 1", ":0"),
            ("SET k w", "+OK"),
            ("MOVE k 1", ":0"),
            ("SWAPDB x 1", "-ERR invalid first DB index"),
            ("SWAPDB 1 x", "-ERR invalid second DB index"),
            ("SWAPDB 0 16", "-ERR DB index is out of range"),
            ("SWAPDB 0 1", "+OK"),
            ("GET k", "$1 v"),
            ("PTTL k", ":5000"),
            ("SELECT 1", "+OK"),
            ("GET k", "$1 w"),
            ("SWAPDB 0 1", "+OK"),
            ("GET k", "$1 v"),
        ] {
            server.expect(command, reply);
        }
    }
}
