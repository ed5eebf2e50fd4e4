//! Parts of a string.

use super::{Entry, data};
use crate::arguments::{integer, slice};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::text::{Text, check_length};

pub(super) const COMMANDS: &[Entry] = &[
    data("getrange", get),
    data("substr", get),
    data("setrange", set),
];

/// Unlike a range of a list, one that ends before the head has the first byte, unless its ends
/// are the wrong way round.
fn get(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (start, stop) = (integer(argv[2])?, integer(argv[3])?);
    let value = state.keys.find::<Text>(argv[1])?;
    let value: &[u8] = value.map_or(&[], |value| value);
    let reversed = start < 0 && stop < 0 && start > stop;
    let stop = stop.max(if stop < 0 { -(value.len() as i64) } else { 0 });
    let part = match reversed {
        true => None,
        false => value.get(slice(start, stop, value.len())),
    };
    Ok(Reply::bulk(part.unwrap_or_default()))
}

fn set(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (key, part) = (argv[1], argv[3]);
    let offset = integer(argv[2])?;
    let offset =
        usize::try_from(offset).map_err(|_| Refusal::Text("ERR offset is out of range"))?;
    let length = state.keys.find::<Text>(key)?.map_or(0, |value| value.len());
    if part.is_empty() {
        return Ok(Reply::count(length));
    }
    let end = offset.saturating_add(part.len());
    check_length(end)?;
    let value = state.keys.find_or_create::<Text>(key)?.edit();
    value.resize(length.max(end), 0);
    if let Some(place) = value.get_mut(offset..end) {
        place.copy_from_slice(part);
    }
    state.keys.touch(key);
    Ok(Reply::count(length.max(end)))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    const NOT_INTEGER: &str = "-ERR value is not an integer or out of range";

    #[test]
    fn reading() {
        let mut server = TestServer::new();
        server.run("SET k hello");
        server.run("RPUSH l a");
        for (command, reply) in [
            ("GETRANGE l 0 -1", WRONG_TYPE),
            ("GETRANGE l x 1", NOT_INTEGER),
            ("GETRANGE k 0 x", NOT_INTEGER),
            ("GETRANGE none 0 -1", "$0 "),
            ("GETRANGE k 0 -1", "$5 hello"),
            ("GETRANGE k 1 3", "$3 ell"),
            ("GETRANGE k -3 -2", "$2 ll"),
            ("GETRANGE k -100 100", "$5 hello"),
            ("GETRANGE k 3 1", "$0 "),
            ("GETRANGE k -1 -5", "$0 "),
            ("GETRANGE k -10 -8", "$1 h"),
            ("GETRANGE k -8 -10", "$0 "),
            ("GETRANGE k 5 10", "$0 "),
            ("GETRANGE k 9223372036854775807 -9223372036854775808", "$0 "),
            (
                "GETRANGE k -9223372036854775808 9223372036854775807",
                "$5 hello",
            ),
            ("SUBSTR k 1 2", "$2 el"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn writing() {
        const OFFSET: &str = "-ERR offset is out of range";
        const TOO_LONG: &str = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)";
        let mut server = TestServer::new();
        server.run("SET k hello");
        server.run("RPUSH l a");
        for (command, reply) in [
            ("SETRANGE l x x", NOT_INTEGER),
            ("SETRANGE l -1 x", OFFSET),
            ("SETRANGE l 0 ''", WRONG_TYPE),
            ("SETRANGE l 0 x", WRONG_TYPE),
            ("SETRANGE none 536870912 x", TOO_LONG),
            ("SETRANGE k 536870911 xx", TOO_LONG),
            ("SETRANGE k 9223372036854775807 x", TOO_LONG),
            ("SETRANGE none 5 ''", ":0"),
            ("EXISTS none", ":0"),
            ("SETRANGE k 536870912 ''", ":5"),
            ("SETRANGE k 1 EY", ":5"),
            ("SETRANGE k 6 !", ":7"),
            ("GET k", "$7 hEYlo\u{0}!"),
            ("SETRANGE n 2 x", ":3"),
        ] {
            server.expect(command, reply);
        }
    }
}
