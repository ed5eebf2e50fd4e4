//! What streams, their groups and consumers are like: `XINFO`.

use super::stream_group::{no_group, wrong_options};
use super::stream_range::entry;
use super::{Entry, data, help};
use crate::arguments::{integer, is};
use crate::keyspace::Keyspace;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::shape::Shape;
use crate::state::State;
use crate::stream::{Group, Log, Stream, StreamId};

pub(super) const COMMANDS: &[Entry] = &[
    data("xinfo|consumers", consumers),
    data("xinfo|groups", groups),
    data("xinfo|help", |_, _| Ok(help(HELP))),
    data("xinfo|stream", stream),
];

const HELP: &[&str] = &[
    "XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "CONSUMERS <key> <groupname>",
    "    Show consumers of <groupname>.",
    "GROUPS <key>",
    "    Show the stream consumer groups.",
    "STREAM <key> [FULL [COUNT <count>]",
    "    Show information about the stream.",
    "HELP",
    "    Prints this help.",
];

fn find<'a>(keys: &'a mut Keyspace, key: &[u8]) -> Result<&'a Stream, Refusal> {
    let stream = keys.find::<Stream>(key)?;
    stream.map(|stream| &*stream).ok_or(Refusal::NoSuchKey)
}

fn integer_or_nil(number: Option<i64>) -> Reply {
    number.map_or(Reply::Nil, Reply::Integer)
}

fn consumers(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (shape, now_ms) = (state.shape(), state.time.now_ms());
    let stream = find(&mut state.keys, argv[2])?;
    let group = stream.groups.get(argv[3]);
    let group = group.ok_or_else(|| no_group(argv[2], argv[3]))?;
    let consumers = group.consumers().map(|(name, seen_at_ms)| {
        let pending = group.pending_of(name).count();
        let idle_ms = now_ms.wrapping_sub(seen_at_ms).max(0);
        shape.named([
            ("name", Reply::bulk(name)),
            ("pending", Reply::count(pending)),
            ("idle", Reply::Integer(idle_ms)),
        ])
    });
    Ok(Reply::Array(consumers.collect()))
}

fn groups(state: &mut State, argv: &[&[u8]]) -> Answer {
    let shape = state.shape();
    let stream = find(&mut state.keys, argv[2])?;
    let groups = stream.groups.iter().map(|(name, group)| {
        shape.named([
            ("name", Reply::bulk(name.clone())),
            ("consumers", Reply::count(group.consumers().len())),
            ("pending", Reply::count(group.pending.len())),
            ("last-delivered-id", id(group.last_delivered_id)),
            ("entries-read", integer_or_nil(group.entries_read)),
            ("lag", integer_or_nil(group.lag(&stream.log))),
        ])
    });
    Ok(Reply::Array(groups.collect()))
}

fn id(id: StreamId) -> Reply {
    Reply::bulk(id.to_string())
}

fn stream(state: &mut State, argv: &[&[u8]]) -> Answer {
    let shape = state.shape();
    let stream = find(&mut state.keys, argv[2])?;
    let count = match &argv[3..] {
        [] => None,
        [full] if is(full, "full") => Some(10),
        [full, option, count] if is(full, "full") && is(option, "count") => {
            let count = integer(count)?;
            // All of them if it is 0, and as many as usual if it makes no sense.
            Some(match usize::try_from(count) {
                Ok(0) => usize::MAX,
                Ok(count) => count,
                Err(_) => 10,
            })
        }
        _ => return Err(wrong_options(argv)),
    };
    let log = &stream.log;
    let mut pairs = about(log);
    match count {
        None => {
            let one = |found: Option<_>| found.map_or(Reply::Nil, entry);
            pairs.extend([
                ("groups", Reply::count(stream.groups.len())),
                ("first-entry", one(log.iter().next())),
                ("last-entry", one(log.iter().next_back())),
            ]);
        }
        Some(count) => {
            let entries = log.iter().take(count).map(entry).collect();
            let groups = stream.groups.iter();
            let groups = groups.map(|(name, group)| full_group(shape, log, name, group, count));
            pairs.extend([
                ("entries", Reply::Array(entries)),
                ("groups", Reply::Array(groups.collect())),
            ]);
        }
    }
    Ok(shape.named(pairs))
}

/// What both forms of `XINFO STREAM` begin with.
fn about(log: &Log) -> Vec<(&'static str, Reply)> {
    let (keys, nodes) = log.tree_size();
    vec![
        ("length", Reply::Integer(log.len() as i64)),
        ("radix-tree-keys", Reply::count(keys)),
        ("radix-tree-nodes", Reply::count(nodes)),
        ("last-generated-id", id(log.last_id)),
        ("max-deleted-entry-id", id(log.max_deleted_id)),
        ("entries-added", Reply::Integer(log.entries_added)),
        ("recorded-first-entry-id", id(log.first_entry_id())),
    ]
}

/// A group in `XINFO STREAM FULL`, with up to so many pending entries of it and of each consumer.
fn full_group(shape: Shape, log: &Log, name: &[u8], group: &Group, count: usize) -> Reply {
    let pending = group.pending.iter().take(count).map(|(of, pending)| {
        Reply::Array(vec![
            id(*of),
            Reply::bulk(pending.consumer.clone()),
            Reply::Integer(pending.delivered_at_ms),
            Reply::Integer(pending.deliveries),
        ])
    });
    let consumers = group.consumers().map(|(name, seen_at_ms)| {
        let pending = group.pending_of(name).take(count).map(|(of, pending)| {
            Reply::Array(vec![
                id(of),
                Reply::Integer(pending.delivered_at_ms),
                Reply::Integer(pending.deliveries),
            ])
        });
        shape.named([
            ("name", Reply::bulk(name)),
            ("seen-time", Reply::Integer(seen_at_ms)),
            ("pel-count", Reply::count(group.pending_of(name).count())),
            ("pending", Reply::Array(pending.collect())),
        ])
    });
    shape.named([
        ("name", Reply::bulk(name)),
        ("last-delivered-id", id(group.last_delivered_id)),
        ("entries-read", integer_or_nil(group.entries_read)),
        ("lag", integer_or_nil(group.lag(log))),
        ("pel-count", Reply::count(group.pending.len())),
        ("pending", Reply::Array(pending.collect())),
        ("consumers", Reply::Array(consumers.collect())),
    ])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::test_server::TestServer;

    #[test]
    fn nothing_to_tell() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XINFO STREAM s", "-ERR no such key"),
            ("XINFO GROUPS s", "-ERR no such key"),
            ("XINFO CONSUMERS s g", "-ERR no such key"),
            ("XGROUP CREATE s g 0 MKSTREAM", "+OK"),
            (
                "XINFO STREAM s NOSUCH",
                "-ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.",
            ),
            (
                "XINFO STREAM s FULL COUNT",
                "-ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.",
            ),
            (
                "XINFO STREAM s FULL COUNT x",
                "-ERR value is not an integer or out of range",
            ),
            (
                "XINFO CONSUMERS s h",
                "-NOGROUP No such consumer group 'h' for key name 's'",
            ),
            (
                "XINFO STREAM s",
                "*20 $6 length :0 $15 radix-tree-keys :0 $16 radix-tree-nodes :1 $17 last-generated-id $3 0-0 $20 max-deleted-entry-id $3 0-0 $13 entries-added :0 $23 recorded-first-entry-id $3 0-0 $6 groups :1 $11 first-entry $-1 $10 last-entry $-1",
            ),
            ("XINFO CONSUMERS s g", "*0"),
            ("SET str v", "+OK"),
            (
                "XINFO STREAM str",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            (
                "XINFO HELP",
                "*9 +XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommands are: +CONSUMERS <key> <groupname> +    Show consumers of <groupname>. +GROUPS <key> +    Show the stream consumer groups. +STREAM <key> [FULL [COUNT <count>] +    Show information about the stream. +HELP +    Prints this help.",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn lags_are_told_if_known() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XGROUP CREATE s g 0 MKSTREAM", "+OK"),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :0 $7 pending :0 $17 last-delivered-id $3 0-0 $12 entries-read $-1 $3 lag :0",
            ),
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 1", "$3 2-1"),
            ("XADD s 3-1 a 1", "$3 3-1"),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :0 $7 pending :0 $17 last-delivered-id $3 0-0 $12 entries-read $-1 $3 lag :3",
            ),
            (
                "XREADGROUP GROUP g c COUNT 1 STREAMS s >",
                "*1 *2 $1 s *1 *2 $3 1-1 *2 $1 a $1 1",
            ),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :1 $7 pending :1 $17 last-delivered-id $3 1-1 $12 entries-read :1 $3 lag :2",
            ),
            ("XDEL s 3-1", ":1"),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :1 $7 pending :1 $17 last-delivered-id $3 1-1 $12 entries-read :1 $3 lag $-1",
            ),
            (
                "XREADGROUP GROUP g c STREAMS s >",
                "*1 *2 $1 s *1 *2 $3 2-1 *2 $1 a $1 1",
            ),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :1 $7 pending :2 $17 last-delivered-id $3 2-1 $12 entries-read $-1 $3 lag $-1",
            ),
            ("XADD s 4-1 a 1", "$3 4-1"),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :1 $7 pending :2 $17 last-delivered-id $3 2-1 $12 entries-read $-1 $3 lag $-1",
            ),
            ("XTRIM s MAXLEN 0", ":3"),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :1 $7 pending :2 $17 last-delivered-id $3 2-1 $12 entries-read $-1 $3 lag :0",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn streams_are_told_in_full() {
        let mut server = TestServer::new();
        for command in [
            "XADD s 1-1 a 1",
            "XADD s 2-1 a 2",
            "XGROUP CREATE s g 0",
            "XREADGROUP GROUP g c STREAMS s >",
        ] {
            server.run(command);
        }
        server.expect(
            "XINFO STREAM s FULL COUNT 1",
            "*18 $6 length :2 $15 radix-tree-keys :1 $16 radix-tree-nodes :2 \
             $17 last-generated-id $3 2-1 $20 max-deleted-entry-id $3 0-0 $13 entries-added :2 \
             $23 recorded-first-entry-id $3 1-1 $7 entries *1 *2 $3 1-1 *2 $1 a $1 1 \
             $6 groups *1 *14 $4 name $1 g $17 last-delivered-id $3 2-1 $12 entries-read :2 \
             $3 lag :0 $9 pel-count :2 $7 pending *1 *4 $3 1-1 $1 c :1700000000000 :1 \
             $9 consumers *1 *8 $4 name $1 c $9 seen-time :1700000000000 $9 pel-count :2 \
             $7 pending *1 *3 $3 1-1 :1700000000000 :1",
        );
        server.advance(Duration::from_millis(9));
        server.expect(
            "XINFO CONSUMERS s g",
            "*1 *6 $4 name $1 c $7 pending :2 $4 idle :9",
        );
    }
}
