//! Streams by entry: adding and deleting, and setting what the stream remembers.

use super::stream_trim::TrimOptions;
use super::{Entry, data, wrong_arity};
use crate::arguments::{integer, is, stream_id};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{NewId, NotAdded, Stream, StreamId, Trim};

pub(super) const COMMANDS: &[Entry] = &[
    data("xadd", add),
    data("xdel", delete),
    data("xsetid", set_id),
];

/// A call of `XADD`.
struct Addition {
    may_create: bool,
    trim: Option<Trim>,
    id: NewId,
    fields: Vec<Vec<u8>>,
}

impl Addition {
    fn parse(argv: &[&[u8]]) -> Result<Self, Refusal> {
        let (mut may_create, mut id) = (true, None);
        let mut options = TrimOptions::default();
        let mut at = 2;
        while id.is_none() && at < argv.len() {
            let taken = options.read(&argv[at..])?;
            if taken > 0 {
                at += taken;
                continue;
            }
            if is(argv[at], "nomkstream") {
                may_create = false;
            } else {
                id = Some(NewId::parse(argv[at]).ok_or(Refusal::StreamId)?);
            }
            at += 1;
        }
        let trim = options.finish(false)?;
        let fields = argv.get(at..).unwrap_or_default();
        let pairs = !fields.is_empty() && fields.len().is_multiple_of(2);
        let id = id.filter(|_| pairs).ok_or_else(|| wrong_arity("xadd"))?;
        if id == NewId::Exactly(StreamId::MIN) {
            return Err(Refusal::Text(
                "ERR The ID specified in XADD must be greater than 0-0",
            ));
        }
        Ok(Addition {
            may_create,
            trim,
            id,
            fields: fields.iter().map(|word| word.to_vec()).collect(),
        })
    }
}

fn add(state: &mut State, argv: &[&[u8]]) -> Answer {
    let addition = Addition::parse(argv)?;
    let now_ms = state.time.now_ms();
    if !addition.may_create && state.keys.find::<Stream>(argv[1])?.is_none() {
        return Ok(Reply::Nil);
    }
    let log = &mut state.keys.find_or_create::<Stream>(argv[1])?.log;
    let added = log.add(addition.id, addition.fields, now_ms);
    let id = added.map_err(|why| {
        Refusal::Text(match why {
            NotAdded::NotGreater => {
                "ERR The ID specified in XADD is equal or smaller than the target stream top item"
            }
            // A server that has refused an id before may show that text here.
            NotAdded::ExhaustedWithin => "ERR Elements are too large to be stored",
            NotAdded::Exhausted => {
                "ERR The stream has exhausted the last possible ID, unable to add more items"
            }
        })
    })?;
    if let Some(trim) = addition.trim {
        log.trim(trim);
    }
    state.keys.touch(argv[1]);
    Ok(Reply::bulk(id.to_string()))
}

fn delete(state: &mut State, argv: &[&[u8]]) -> Answer {
    // A missing key is 0 whatever follows.
    let Some(stream) = state.keys.find::<Stream>(argv[1])? else {
        return Ok(Reply::Integer(0));
    };
    let ids: Vec<_> = argv[2..]
        .iter()
        .map(|text| stream_id(text))
        .collect::<Result<_, _>>()?;
    let deleted = ids.into_iter().filter(|id| stream.log.delete(*id)).count();
    if deleted > 0 {
        state.keys.touch_quietly(argv[1]);
    }
    Ok(Reply::count(deleted))
}

fn set_id(state: &mut State, argv: &[&[u8]]) -> Answer {
    let id = stream_id(argv[2])?;
    let (mut added, mut max_deleted) = (None, None);
    let (options, rest) = argv[3..].as_chunks::<2>();
    for [option, value] in options {
        if is(option, "entriesadded") {
            let count = integer(value)?;
            if count < 0 {
                return Err(Refusal::Text("ERR entries_added must be positive"));
            }
            added = Some(count);
        } else if is(option, "maxdeletedid") {
            let deleted = stream_id(value)?;
            if id < deleted {
                return Err(Refusal::Text(
                    "ERR The ID specified in XSETID is smaller than the provided \
                     max_deleted_entry_id",
                ));
            }
            max_deleted = Some(deleted).filter(|deleted| *deleted != StreamId::MIN);
        } else {
            return Err(Refusal::Syntax);
        }
    }
    if !rest.is_empty() {
        return Err(Refusal::Syntax);
    }
    let stream = state.keys.find::<Stream>(argv[1])?;
    let log = &mut stream.ok_or(Refusal::NoSuchKey)?.log;
    if id < log.last_entry_id() {
        return Err(Refusal::Text(
            "ERR The ID specified in XSETID is smaller than the target stream top item",
        ));
    }
    if added.is_some_and(|added| log.len() > added.unsigned_abs()) {
        return Err(Refusal::Text(
            "ERR The entries_added specified in XSETID is smaller than the target stream length",
        ));
    }
    log.last_id = id;
    log.entries_added = added.unwrap_or(log.entries_added);
    log.max_deleted_id = max_deleted.unwrap_or(log.max_deleted_id);
    Ok(Reply::ok())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::test_server::TestServer;

    #[test]
    fn ids_come_from_the_clock() {
        let mut server = TestServer::new();
        server.expect("XADD s * a 1", "$15 1700000000000-0");
        server.expect("XADD s * a 1", "$15 1700000000000-1");
        server.advance(Duration::from_millis(5));
        server.expect("XADD s * a 1", "$15 1700000000005-0");
        server.set_time_us(1);
        server.expect("XADD s * a 1", "$15 1700000000005-1");
    }

    #[test]
    fn refused_entries_are_not_added() {
        let mut server = TestServer::new();
        for (command, reply) in [
            (
                "XADD s 0-0 a 1",
                "-ERR The ID specified in XADD must be greater than 0-0",
            ),
            (
                "XADD s 1-1 a",
                "-ERR wrong number of arguments for 'xadd' command",
            ),
            (
                "XADD s * a 1 b",
                "-ERR wrong number of arguments for 'xadd' command",
            ),
            (
                "XADD s x a 1",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            (
                "XADD s - a 1",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            (
                "XADD s MAXLEN 5",
                "-ERR wrong number of arguments for 'xadd' command",
            ),
            (
                "XADD s MAXLEN x 1-1 a 1",
                "-ERR value is not an integer or out of range",
            ),
            (
                "XADD s LIMIT 5 1-1 a 1",
                "-ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
            ),
            ("XADD s NOMKSTREAM 1-1 a 1", "$-1"),
            ("EXISTS s", ":0"),
            ("XADD s 5-5 a 1", "$3 5-5"),
            (
                "XADD s 5-5 a 1",
                "-ERR The ID specified in XADD is equal or smaller than the target stream top item",
            ),
            (
                "XADD s 4-* a 1",
                "-ERR The ID specified in XADD is equal or smaller than the target stream top item",
            ),
            ("XADD s 5-* a 1", "$3 5-6"),
            (
                "XADD s 5-18446744073709551615 a 1",
                "$22 5-18446744073709551615",
            ),
            ("XADD s 5-* a 1", "-ERR Elements are too large to be stored"),
            (
                "XADD s 18446744073709551615-18446744073709551615 a 1",
                "$41 18446744073709551615-18446744073709551615",
            ),
            (
                "XADD s * a 1",
                "-ERR The stream has exhausted the last possible ID, unable to add more items",
            ),
            ("XLEN s", ":4"),
            ("SET str v", "+OK"),
            (
                "XADD str 1-1 a 1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn entries_are_added_and_trimmed() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 0-* a 1", "$3 0-1"),
            ("XADD s 7 b 2 a 1", "$3 7-0"),
            ("XADD s MAXLEN = 2 8-* a 1", "$3 8-0"),
            (
                "XRANGE s - +",
                "*2 *2 $3 7-0 *4 $1 b $1 2 $1 a $1 1 *2 $3 8-0 *2 $1 a $1 1",
            ),
            ("XADD s MINID 8 9-1 a 1", "$3 9-1"),
            ("XLEN s", ":2"),
            ("XADD s MAXLEN 0 10 a 1", "$4 10-0"),
            ("XLEN s", ":0"),
            ("TYPE s", "+stream"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn deleting() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 1", "$3 2-1"),
            (
                "XDEL s 1-1 x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            ("XLEN s", ":2"),
            ("XDEL none x", ":0"),
            ("XDEL s 1-1 1-1 9-9", ":1"),
            ("XDEL s 2", ":0"),
            ("XDEL s 2-1", ":1"),
            ("EXISTS s", ":1"),
            (
                "XINFO STREAM s",
                "*20 $6 length :0 $15 radix-tree-keys :0 $16 radix-tree-nodes :1 $17 last-generated-id $3 2-1 $20 max-deleted-entry-id $3 2-1 $13 entries-added :2 $23 recorded-first-entry-id $3 0-0 $6 groups :0 $11 first-entry $-1 $10 last-entry $-1",
            ),
            ("SET str v", "+OK"),
            (
                "XDEL str 1-1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn setting_what_is_remembered() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XSETID none 1-1", "-ERR no such key"),
            ("XADD s 5-5 a 1", "$3 5-5"),
            (
                "XSETID s x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            (
                "XSETID s 5-4",
                "-ERR The ID specified in XSETID is smaller than the target stream top item",
            ),
            (
                "XSETID s 6 ENTRIESADDED -1",
                "-ERR entries_added must be positive",
            ),
            (
                "XSETID s 6 ENTRIESADDED 0",
                "-ERR The entries_added specified in XSETID is smaller than the target stream length",
            ),
            (
                "XSETID s 6 MAXDELETEDID 7",
                "-ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id",
            ),
            ("XSETID s 6 ENTRIESADDED", "-ERR syntax error"),
            ("XSETID s 6 NOSUCH 1", "-ERR syntax error"),
            ("XSETID s 6-1 ENTRIESADDED 9 MAXDELETEDID 3", "+OK"),
            (
                "XINFO STREAM s",
                "*20 $6 length :1 $15 radix-tree-keys :1 $16 radix-tree-nodes :2 $17 last-generated-id $3 6-1 $20 max-deleted-entry-id $3 3-0 $13 entries-added :9 $23 recorded-first-entry-id $3 5-5 $6 groups :0 $11 first-entry *2 $3 5-5 *2 $1 a $1 1 $10 last-entry *2 $3 5-5 *2 $1 a $1 1",
            ),
            (
                "XADD s 6-0 a 1",
                "-ERR The ID specified in XADD is equal or smaller than the target stream top item",
            ),
            ("XDEL s 5-5", ":1"),
            ("XSETID s 1", "+OK"),
            ("XADD s 1-* a 1", "$3 1-1"),
            ("SET str v", "+OK"),
            (
                "XSETID str 1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
