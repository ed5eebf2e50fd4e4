//! Streams by range of ids.

use super::{Entry, data};
use crate::arguments::{integer, is, range_end, range_start};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{Stream, StreamEntry};

pub(super) const COMMANDS: &[Entry] = &[
    data("xlen", length),
    data("xrange", |state, argv| {
        range(state, argv, [argv[2], argv[3]], false)
    }),
    data("xrevrange", |state, argv| {
        range(state, argv, [argv[3], argv[2]], true)
    }),
];

/// An entry as commands answer it, in both protocols.
pub(super) fn entry(entry: &StreamEntry) -> Reply {
    let fields = entry.fields.iter().map(Vec::as_slice);
    Reply::Array(vec![
        Reply::bulk(entry.id.to_string()),
        Reply::bulks(fields),
    ])
}

fn length(state: &mut State, argv: &[&[u8]]) -> Answer {
    let stream = state.keys.find::<Stream>(argv[1])?;
    let length = stream.map_or(0, |stream| stream.log.len());
    Ok(Reply::Integer(length as i64))
}

fn range(state: &mut State, argv: &[&[u8]], [from, to]: [&[u8]; 2], newest_first: bool) -> Answer {
    let (from, to) = (range_start(from)?, range_end(to)?);
    let mut count = None;
    let (options, rest) = argv[4..].as_chunks::<2>();
    for [option, value] in options {
        if !is(option, "count") {
            return Err(Refusal::Syntax);
        }
        count = Some(usize::try_from(integer(value)?).unwrap_or(0));
    }
    if !rest.is_empty() {
        return Err(Refusal::Syntax);
    }
    let Some(stream) = state.keys.find::<Stream>(argv[1])? else {
        return Ok(Reply::Array(vec![]));
    };
    if count == Some(0) {
        return Ok(Reply::NilArray);
    }
    let count = count.unwrap_or(usize::MAX);
    let entries = stream.log.range(from, to);
    Ok(Reply::Array(match newest_first {
        true => entries.rev().take(count).map(entry).collect(),
        false => entries.take(count).map(entry).collect(),
    }))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn bad_ranges() {
        let mut server = TestServer::new();
        for (command, reply) in [
            (
                "XRANGE s x +",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            (
                "XRANGE s - x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            (
                "XRANGE s (- +",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            ("XRANGE s - (0-0", "-ERR invalid end ID for the interval"),
            (
                "XRANGE s (18446744073709551615-18446744073709551615 +",
                "-ERR invalid start ID for the interval",
            ),
            ("XRANGE s - + COUNT", "-ERR syntax error"),
            (
                "XRANGE s - + COUNT x",
                "-ERR value is not an integer or out of range",
            ),
            ("XRANGE s - + NOSUCH 1", "-ERR syntax error"),
            ("XRANGE s - + COUNT 0", "*0"),
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XRANGE s - + COUNT 0", "*-1"),
            ("XRANGE s + -", "*0"),
            ("SET str v", "+OK"),
            (
                "XRANGE str - +",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            (
                "XLEN str",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            ("XLEN none", ":0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn ranges_in_both_directions() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 1-2 b 2 c 3", "$3 1-2"),
            ("XADD s 2-1 a 4", "$3 2-1"),
            (
                "XRANGE s - +",
                "*3 *2 $3 1-1 *2 $1 a $1 1 *2 $3 1-2 *4 $1 b $1 2 $1 c $1 3 *2 $3 2-1 *2 $1 a $1 4",
            ),
            (
                "XRANGE s 1 1",
                "*2 *2 $3 1-1 *2 $1 a $1 1 *2 $3 1-2 *4 $1 b $1 2 $1 c $1 3",
            ),
            ("XRANGE s (1-1 (2-1", "*1 *2 $3 1-2 *4 $1 b $1 2 $1 c $1 3"),
            ("XRANGE s - + COUNT 1", "*1 *2 $3 1-1 *2 $1 a $1 1"),
            (
                "XREVRANGE s + -",
                "*3 *2 $3 2-1 *2 $1 a $1 4 *2 $3 1-2 *4 $1 b $1 2 $1 c $1 3 *2 $3 1-1 *2 $1 a $1 1",
            ),
            (
                "XREVRANGE s 1 1",
                "*2 *2 $3 1-2 *4 $1 b $1 2 $1 c $1 3 *2 $3 1-1 *2 $1 a $1 1",
            ),
            ("XREVRANGE s + - COUNT 1", "*1 *2 $3 2-1 *2 $1 a $1 4"),
            (
                "XREVRANGE s (2-1 (1-1",
                "*1 *2 $3 1-2 *4 $1 b $1 2 $1 c $1 3",
            ),
            ("XLEN s", ":3"),
        ] {
            server.expect(command, reply);
        }
    }
}
