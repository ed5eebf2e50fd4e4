//! How Redis keeps a value.

use super::{Entry, data, help};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::{Profile, State};
use crate::value::Value;

pub(super) const COMMANDS: &[Entry] = &[
    data("object|encoding", encoding),
    data("object|freq", frequency),
    data("object|help", |_, _| Ok(help(HELP))),
];

const HELP: &[&str] = &[
    "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "ENCODING <key>",
    "    Return the kind of internal representation used in order to store the value",
    "    associated with a <key>.",
    "FREQ <key>",
    "    Return the access frequency index of the <key>. The returned integer is",
    "    proportional to the logarithm of the recent access frequency of the key.",
    "IDLETIME <key>",
    "    Return the idle time of the <key>, that is the approximated number of",
    "    seconds elapsed since the last access to the key.",
    "REFCOUNT <key>",
    "    Return the number of references of the value associated with the specified",
    "    <key>.",
    "HELP",
    "    Prints this help.",
];

fn encoding(state: &mut State, argv: &[&[u8]]) -> Answer {
    let profile = state.profile;
    let Some(slot) = state.keys.slot(argv[2]) else {
        return Ok(Reply::Nil);
    };
    let word = match &slot.value {
        Value::Text(text) => text.encoding(),
        Value::Hash(fields) if fields.is_compact() => "listpack",
        Value::SortedSet(set) if set.is_compact() => "listpack",
        Value::Set(set) if set.is_compact() => "intset",
        Value::List(_) | Value::Set(_) if profile != Profile::Redis70 => {
            return Err(Refusal::unsupported(
                "the encodings of lists and sets after 7.0",
            ));
        }
        Value::Hash(_) | Value::Set(_) => "hashtable",
        Value::SortedSet(_) => "skiplist",
        Value::List(_) => "quicklist",
        Value::Stream(_) => "stream",
    };
    Ok(Reply::bulk(word))
}

/// Only a server that evicts what is used least could tell.
fn frequency(state: &mut State, argv: &[&[u8]]) -> Answer {
    match state.keys.contains(argv[2]) {
        false => Ok(Reply::Nil),
        true => Err(Refusal::Text(
            "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please \
             note that when switching between policies at runtime LRU and LFU data will take some \
             time to adjust.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use crate::test_server::TestServer;

    #[test]
    fn encodings() {
        let mut server = TestServer::new();
        let long = "x".repeat(65);
        for (command, encoding) in [
            ("SET k 12".to_owned(), "int"),
            ("SET k 012".to_owned(), "embstr"),
            (format!("SET k {long}"), "raw"),
            ("APPEND k 1".to_owned(), "int"),
            ("INCRBYFLOAT k 1".to_owned(), "embstr"),
            ("SETRANGE k 0 a".to_owned(), "raw"),
            ("RPUSH k a".to_owned(), "quicklist"),
            ("HSET k f v".to_owned(), "listpack"),
            (format!("HSET k {long} v"), "hashtable"),
            (format!("HSET k f {long}"), "hashtable"),
            ("ZADD k 1 m".to_owned(), "listpack"),
            (format!("ZADD k 1 {long}"), "skiplist"),
            ("SADD k 1 2".to_owned(), "intset"),
            ("SADD k 1 a".to_owned(), "hashtable"),
            ("XADD k * f v".to_owned(), "stream"),
        ] {
            server.run("DEL k");
            server.run(&command);
            let reply = format!("${} {encoding}", encoding.len());
            server.expect("OBJECT ENCODING k", &reply);
        }
        server.expect("OBJECT ENCODING none", "$-1");
    }

    #[test]
    fn large_hashes() {
        let mut server = TestServer::new();
        for field in 0..512 {
            server.run(&format!("HSET k {field} v"));
        }
        server.expect("OBJECT ENCODING k", "$8 listpack");
        server.run("HINCRBY k f 1");
        server.expect("OBJECT ENCODING k", "$9 hashtable");
        server.run("HDEL k f 1 2");
        server.expect("OBJECT ENCODING k", "$9 hashtable");
    }

    #[test]
    fn the_rest() {
        let mut server = TestServer::new();
        server.run("SET k v");
        server.expect("OBJECT FREQ none", "$-1");
        server.expect(
            "OBJECT FREQ k",
            "-ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please \
             note that when switching between policies at runtime LRU and LFU data will take some \
             time to adjust.",
        );
        let mut server = TestServer::with_profile(Profile::Redis72);
        server.run("RPUSH l a");
        server.expect(
            "OBJECT ENCODING l",
            "-ERR leaseline-redis-model does not support the encodings of lists and sets after 7.0",
        );
    }
}
