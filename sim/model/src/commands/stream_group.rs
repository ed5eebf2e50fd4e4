//! Consumer groups of streams: `XGROUP`.

use super::{Entry, data, help};
use crate::arguments::{integer, is, shown, stream_id};
use crate::keyspace::Keyspace;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{Group, Stream, StreamId};

pub(super) const COMMANDS: &[Entry] = &[
    data("xgroup|create", create),
    data("xgroup|createconsumer", create_consumer),
    data("xgroup|delconsumer", delete_consumer),
    data("xgroup|destroy", destroy),
    data("xgroup|help", |_, _| Ok(help(HELP))),
    data("xgroup|setid", set_id),
];

const HELP: &[&str] = &[
    "XGROUP <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "CREATE <key> <groupname> <id|$> [option]",
    "    Create a new consumer group. Options are:",
    "    * MKSTREAM",
    "      Create the empty stream if it does not exist.",
    "    * ENTRIESREAD entries_read",
    "      Set the group's entries_read counter (internal use).",
    "CREATECONSUMER <key> <groupname> <consumer>",
    "    Create a new consumer in the specified group.",
    "DELCONSUMER <key> <groupname> <consumer>",
    "    Remove the specified consumer.",
    "DESTROY <key> <groupname>",
    "    Remove the specified group.",
    "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
    "    Set the current group ID and entries_read counter.",
    "HELP",
    "    Prints this help.",
];

/// The error for options that a subcommand does not have.
pub(super) fn wrong_options(argv: &[&[u8]]) -> Refusal {
    let subcommand = argv[1].get(..128).unwrap_or(argv[1]);
    Refusal::line(&[
        &"ERR unknown subcommand or wrong number of arguments for '",
        &shown(subcommand),
        &"'. Try ",
        &argv[0].to_ascii_uppercase(),
        &" HELP.",
    ])
}

/// The error for a group that a stream does not have.
pub(super) fn no_group(key: &[u8], group: &[u8]) -> Refusal {
    Refusal::line(&[
        &"NOGROUP No such consumer group '",
        &shown(group),
        &"' for key name '",
        &shown(key),
        &"'",
    ])
}

/// A stream that must be there.
fn find<'a>(keys: &'a mut Keyspace, key: &[u8]) -> Result<&'a mut Stream, Refusal> {
    keys.find::<Stream>(key)?.ok_or(Refusal::Text(
        "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want \
         to use the MKSTREAM option to create an empty stream automatically.",
    ))
}

/// A group that must be there.
fn find_group<'a>(state: &'a mut State, argv: &[&[u8]]) -> Result<&'a mut Group, Refusal> {
    let groups = &mut find(&mut state.keys, argv[2])?.groups;
    let group = groups.get_mut(argv[3]);
    group.ok_or_else(|| no_group(argv[2], argv[3]))
}

/// The options after the id of `CREATE` and `SETID`.
struct Options {
    make_stream: bool,
    entries_read: Option<i64>,
}

impl Options {
    fn parse(argv: &[&[u8]], may_make_stream: bool) -> Result<Self, Refusal> {
        let (mut make_stream, mut entries_read) = (false, None);
        let mut rest = &argv[5..];
        while let [option, after @ ..] = rest {
            rest = match after {
                _ if may_make_stream && is(option, "mkstream") => {
                    make_stream = true;
                    after
                }
                [value, after @ ..] if is(option, "entriesread") => {
                    let count = integer(value)?;
                    if count < -1 {
                        return Err(Refusal::Text(
                            "ERR value for ENTRIESREAD must be positive or -1",
                        ));
                    }
                    entries_read = Some(count).filter(|count| *count >= 0);
                    after
                }
                _ => return Err(wrong_options(argv)),
            };
        }
        Ok(Options {
            make_stream,
            entries_read,
        })
    }
}

fn create(state: &mut State, argv: &[&[u8]]) -> Answer {
    let options = Options::parse(argv, true)?;
    let (key, name, id) = (argv[2], argv[3], argv[4]);
    let stream = match options.make_stream {
        true => state.keys.find::<Stream>(key)?,
        false => Some(find(&mut state.keys, key)?),
    };
    let is_new = stream.is_none();
    let id = match id {
        b"$" => stream.map(|stream| stream.log.last_id).unwrap_or_default(),
        _ => stream_id(id)?,
    };
    let groups = &mut state.keys.find_or_create::<Stream>(key)?.groups;
    if groups.contains_key(name) {
        return Err(Refusal::Text(
            "BUSYGROUP Consumer Group name already exists",
        ));
    }
    groups.insert(name.to_vec(), Group::new(id, options.entries_read));
    if is_new {
        state.keys.touch(key);
    }
    Ok(Reply::ok())
}

fn set_id(state: &mut State, argv: &[&[u8]]) -> Answer {
    let options = Options::parse(argv, false)?;
    let last_id = find(&mut state.keys, argv[2])?.log.last_id;
    let group = find_group(state, argv)?;
    group.last_delivered_id = match argv[4] {
        b"$" => last_id,
        id => StreamId::parse_end(id, 0).ok_or(Refusal::StreamId)?,
    };
    group.entries_read = options.entries_read;
    Ok(Reply::ok())
}

fn destroy(state: &mut State, argv: &[&[u8]]) -> Answer {
    let groups = &mut find(&mut state.keys, argv[2])?.groups;
    let destroyed = groups.remove(argv[3]).is_some();
    if destroyed {
        state.keys.wake(argv[2]);
    }
    Ok(Reply::from(destroyed))
}

fn create_consumer(state: &mut State, argv: &[&[u8]]) -> Answer {
    let now_ms = state.time.now_ms();
    let group = find_group(state, argv)?;
    let is_new = !group.has_consumer(argv[4]);
    if is_new {
        group.see(argv[4], now_ms);
    }
    Ok(Reply::from(is_new))
}

fn delete_consumer(state: &mut State, argv: &[&[u8]]) -> Answer {
    let pending = find_group(state, argv)?.remove_consumer(argv[4]);
    Ok(Reply::count(pending))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn groups_need_a_stream() {
        let mut server = TestServer::new();
        for (command, reply) in [
            (
                "XGROUP CREATE s g x",
                "-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
            ),
            (
                "XGROUP SETID s g 0",
                "-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
            ),
            (
                "XGROUP DESTROY s g",
                "-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
            ),
            (
                "XGROUP CREATECONSUMER s g c",
                "-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
            ),
            (
                "XGROUP DELCONSUMER s g c",
                "-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
            ),
            (
                "XGROUP CREATE s g x MKSTREAM",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            ("EXISTS s", ":0"),
            (
                "XGROUP CREATE s g 0 NOSUCH",
                "-ERR unknown subcommand or wrong number of arguments for 'CREATE'. Try XGROUP HELP.",
            ),
            (
                "XGROUP CREATE s g 0 ENTRIESREAD",
                "-ERR unknown subcommand or wrong number of arguments for 'CREATE'. Try XGROUP HELP.",
            ),
            (
                "XGROUP CREATE s g 0 ENTRIESREAD -2",
                "-ERR value for ENTRIESREAD must be positive or -1",
            ),
            ("XGROUP CREATE s g $ MKSTREAM", "+OK"),
            (
                "XGROUP CREATE s g 0",
                "-BUSYGROUP Consumer Group name already exists",
            ),
            (
                "XGROUP SETID s h x",
                "-NOGROUP No such consumer group 'h' for key name 's'",
            ),
            (
                "XGROUP SETID s g x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            (
                "XGROUP SETID s g 0 MKSTREAM",
                "-ERR unknown subcommand or wrong number of arguments for 'SETID'. Try XGROUP HELP.",
            ),
            (
                "XGROUP CREATECONSUMER s h c",
                "-NOGROUP No such consumer group 'h' for key name 's'",
            ),
            (
                "XGROUP DELCONSUMER s h c",
                "-NOGROUP No such consumer group 'h' for key name 's'",
            ),
            ("XGROUP DESTROY s h", ":0"),
            ("SET str v", "+OK"),
            (
                "XGROUP CREATE str g 0 MKSTREAM",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn groups_and_consumers() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 2", "$3 2-1"),
            ("XGROUP CREATE s g $", "+OK"),
            ("XGROUP CREATE s h 1 ENTRIESREAD 1", "+OK"),
            (
                "XINFO GROUPS s",
                "*2 *12 $4 name $1 g $9 consumers :0 $7 pending :0 $17 last-delivered-id $3 2-1 $12 entries-read $-1 $3 lag :0 *12 $4 name $1 h $9 consumers :0 $7 pending :0 $17 last-delivered-id $3 1-0 $12 entries-read :1 $3 lag :1",
            ),
            ("XGROUP SETID s g -", "+OK"),
            (
                "XINFO GROUPS s",
                "*2 *12 $4 name $1 g $9 consumers :0 $7 pending :0 $17 last-delivered-id $3 0-0 $12 entries-read $-1 $3 lag :2 *12 $4 name $1 h $9 consumers :0 $7 pending :0 $17 last-delivered-id $3 1-0 $12 entries-read :1 $3 lag :1",
            ),
            ("XGROUP CREATECONSUMER s g c", ":1"),
            ("XGROUP CREATECONSUMER s g c", ":0"),
            (
                "XREADGROUP GROUP g c STREAMS s >",
                "*1 *2 $1 s *2 *2 $3 1-1 *2 $1 a $1 1 *2 $3 2-1 *2 $1 a $1 2",
            ),
            ("XGROUP DELCONSUMER s g c", ":2"),
            ("XGROUP DELCONSUMER s g c", ":0"),
            ("XREADGROUP GROUP g c STREAMS s >", "*-1"),
            ("XGROUP DESTROY s g", ":1"),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 h $9 consumers :0 $7 pending :0 $17 last-delivered-id $3 1-0 $12 entries-read :1 $3 lag :1",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn help_is_there() {
        let mut server = TestServer::new();
        for (command, reply) in [
            (
                "XGROUP HELP",
                "*17 +XGROUP <subcommand> [<arg> [value] [opt] ...]. Subcommands are: +CREATE <key> <groupname> <id|$> [option] +    Create a new consumer group. Options are: +    * MKSTREAM +      Create the empty stream if it does not exist. +    * ENTRIESREAD entries_read +      Set the group's entries_read counter (internal use). +CREATECONSUMER <key> <groupname> <consumer> +    Create a new consumer in the specified group. +DELCONSUMER <key> <groupname> <consumer> +    Remove the specified consumer. +DESTROY <key> <groupname> +    Remove the specified group. +SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read] +    Set the current group ID and entries_read counter. +HELP +    Prints this help.",
            ),
            (
                "XGROUP HELP x",
                "-ERR wrong number of arguments for 'xgroup|help' command",
            ),
            (
                "XGROUP NOSUCH",
                "-ERR unknown subcommand 'NOSUCH'. Try XGROUP HELP.",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
