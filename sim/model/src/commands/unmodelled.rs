//! The commands of Redis 7.0 that this model knows by name only.
//!
//! They check their number of arguments and whether scripts may call them, and then answer a
//! clear error: a test must not take a gap of the model for an answer of Redis.

use std::sync::LazyLock;

use super::{Command, Flags, NO_KEYS, NO_SCRIPT, READ, command};
use crate::refusal::{Answer, Refusal};
use crate::state::State;

/// The lines of the table for these commands.
pub(super) fn commands() -> impl Iterator<Item = &'static Command> {
    static COMMANDS: LazyLock<Vec<Command>> = LazyLock::new(|| {
        let line = |flags: Flags| {
            move |&(name, arity): &(&'static str, i32)| command(name, arity, flags, NO_KEYS, refuse)
        };
        let callable = CALLABLE.iter().map(line(READ));
        callable
            .chain(REFUSED_TO_SCRIPTS.iter().map(line(NO_SCRIPT)))
            .collect()
    });
    COMMANDS.iter()
}

/// Whether a command of the table is one of these.
pub(super) fn is(command: &Command) -> bool {
    commands().any(|other| std::ptr::eq(other, command))
}

/// Whether a command waits for data. From 7.2 on scripts may call these, and do not wait.
pub(crate) fn blocks(command: &Command) -> bool {
    const BLOCKING: [&str; 6] = [
        "blmove",
        "blpop",
        "brpop",
        "brpoplpush",
        "bzpopmax",
        "bzpopmin",
    ];
    BLOCKING.contains(&command.name)
}

fn refuse(_: &mut State, argv: &[&[u8]]) -> Answer {
    let name = String::from_utf8_lossy(argv[0]).to_lowercase();
    Err(Refusal::unsupported(format!("the command '{name}'")))
}

const CALLABLE: &[(&str, i32)] = &[
    ("asking", 1),
    ("bitcount", -2),
    ("bitfield", -2),
    ("bitfield_ro", -2),
    ("bitop", -4),
    ("bitpos", -3),
    ("blmpop", -5),
    ("bzmpop", -5),
    ("copy", -3),
    ("dump", 2),
    ("geoadd", -5),
    ("geodist", -4),
    ("geohash", -2),
    ("geopos", -2),
    ("georadius", -6),
    ("georadius_ro", -6),
    ("georadiusbymember", -5),
    ("georadiusbymember_ro", -5),
    ("geosearch", -7),
    ("geosearchstore", -8),
    ("getbit", 3),
    ("getex", -2),
    ("getrange", 4),
    ("hincrbyfloat", 4),
    ("hrandfield", -2),
    ("hscan", -3),
    ("incrbyfloat", 3),
    ("lastsave", 1),
    ("lcs", -3),
    ("lmpop", -4),
    ("lolwut", -1),
    ("memory", -2),
    ("migrate", -6),
    ("move", 3),
    ("msetnx", -3),
    ("object", -2),
    ("pfadd", -2),
    ("pfcount", -2),
    ("pfdebug", 3),
    ("pfmerge", -2),
    ("pfselftest", 1),
    ("publish", 3),
    ("pubsub", -2),
    ("randomkey", 1),
    ("readonly", 1),
    ("readwrite", 1),
    ("restore", -4),
    ("restore-asking", -4),
    ("sadd", -3),
    ("scard", 2),
    ("sdiff", -2),
    ("sdiffstore", -3),
    ("setbit", 4),
    ("setrange", 4),
    ("sinter", -2),
    ("sintercard", -3),
    ("sinterstore", -3),
    ("sismember", 3),
    ("smembers", 2),
    ("smismember", -3),
    ("smove", 4),
    ("sort", -2),
    ("sort_ro", -2),
    ("spop", -2),
    ("spublish", 3),
    ("srandmember", -2),
    ("srem", -3),
    ("sscan", -3),
    ("substr", 4),
    ("sunion", -2),
    ("sunionstore", -3),
    ("swapdb", 3),
    ("xack", -4),
    ("xadd", -5),
    ("xautoclaim", -6),
    ("xclaim", -6),
    ("xdel", -3),
    ("xgroup", -2),
    ("xinfo", -2),
    ("xlen", 2),
    ("xpending", -3),
    ("xrange", -4),
    ("xread", -4),
    ("xreadgroup", -7),
    ("xrevrange", -4),
    ("xsetid", -3),
    ("xtrim", -4),
    ("zdiff", -3),
    ("zdiffstore", -4),
    ("zinter", -3),
    ("zintercard", -3),
    ("zinterstore", -4),
    ("zlexcount", 4),
    ("zmpop", -4),
    ("zrandmember", -2),
    ("zrangebylex", -4),
    ("zrangestore", -5),
    ("zremrangebylex", 4),
    ("zremrangebyrank", 4),
    ("zrevrangebylex", -4),
    ("zscan", -3),
    ("zunion", -3),
    ("zunionstore", -4),
];

/// Scripts get Redis' own refusal, so for them nothing is missing.
const REFUSED_TO_SCRIPTS: &[(&str, i32)] = &[
    ("acl", -2),
    ("auth", -2),
    ("bgrewriteaof", 1),
    ("bgsave", -1),
    ("blmove", 6),
    ("blpop", -3),
    ("brpop", -3),
    ("brpoplpush", 4),
    ("bzpopmax", -3),
    ("bzpopmin", -3),
    ("cluster", -2),
    ("debug", -2),
    ("discard", 1),
    ("exec", 1),
    ("failover", -1),
    ("fcall", -3),
    ("fcall_ro", -3),
    ("function", -2),
    ("latency", -2),
    ("module", -2),
    ("monitor", 1),
    ("multi", 1),
    ("psubscribe", -2),
    ("psync", -3),
    ("punsubscribe", -1),
    ("quit", -1),
    ("replconf", -1),
    ("replicaof", 3),
    ("reset", 1),
    ("role", 1),
    ("save", 1),
    ("shutdown", -1),
    ("slaveof", 3),
    ("slowlog", -2),
    ("ssubscribe", -2),
    ("subscribe", -2),
    ("sunsubscribe", -1),
    ("sync", 1),
    ("unsubscribe", -1),
    ("unwatch", 1),
    ("wait", 3),
    ("watch", -2),
];

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn a_gap_is_named_and_counted() {
        let mut server = TestServer::new();
        server.expect(
            "XLEN s",
            "-ERR leaseline-redis-model does not support the command 'xlen'",
        );
        server.expect("XLEN", "-ERR wrong number of arguments for 'xlen' command");
        assert_eq!(server.unsupported(), ["the command 'xlen'"]);
    }
}
