//! Which calls count as a change of a key, whether or not its value is another: seen by watching
//! the key, as measured on Redis 7.0.15.

use crate::test_server::TestServer;

/// Calls that make the data, a call of another client, and whether that changed `k`.
const CHANGES: &[(&str, &str, bool)] = &[
    ("", "SET k v", true),
    ("SET k w", "SET k v NX", false),
    ("", "SET k v XX", false),
    ("SET k w", "SET k v XX", true),
    ("RPUSH k a", "SET k v GET", false),
    ("", "SETNX k v", true),
    ("SET k w", "SETNX k v", false),
    ("", "SETEX k 100 v", true),
    ("", "PSETEX k 100000 v", true),
    ("", "PSETEX k 0 v", false),
    ("", "GETSET k v", true),
    ("", "GETDEL k", false),
    ("SET k v", "GETDEL k", true),
    ("", "MSET a 1 k 2", true),
    ("", "APPEND k a", true),
    ("SET k v", "APPEND k ''", true),
    ("", "INCR k", true),
    ("SET k 1", "INCRBY k 0", true),
    ("SET k x", "DECR k", false),
    ("", "DECRBY k 1", true),
    ("", "HSET k f v", true),
    ("HSET k f v", "HSET k f v", true),
    ("HSET k f v", "HMSET k f v", true),
    ("", "HSETNX k f v", true),
    ("HSET k f v", "HSETNX k f v", false),
    ("", "HDEL k f", false),
    ("HSET k f v", "HDEL k g", false),
    ("HSET k f v", "HDEL k f", true),
    ("HSET k f v g v", "HDEL k f", true),
    ("", "HINCRBY k f 1", true),
    ("HSET k f 1", "HINCRBY k f 0", true),
    ("HSET k f x", "HINCRBY k f 1", false),
    ("", "DEL k", false),
    ("SET k v", "DEL k", true),
    ("SET k v", "UNLINK k", true),
    ("SET k v", "RENAME k b", true),
    ("SET a v", "RENAME a k", true),
    ("SET a v;SET k v", "RENAME a k", true),
    ("SET k v", "RENAME k k", false),
    ("", "RENAME k b", false),
    ("SET a v", "RENAMENX a k", true),
    ("SET a v;SET k v", "RENAMENX a k", false),
    ("SET k v", "RENAMENX k b", true),
    ("SET k v", "RENAMENX k k", false),
    ("SET k v", "FLUSHDB", true),
    ("", "FLUSHALL", false),
    ("SET k v", "TOUCH k", false),
    ("SET k v", "EXPIRE k 100", true),
    ("", "EXPIRE k 100", false),
    ("SET k v", "EXPIRE k 100 XX", false),
    ("SET k v", "EXPIRE k -1", true),
    ("SET k v", "PEXPIRE k 100000", true),
    ("SET k v", "EXPIREAT k 4102444800", true),
    ("SET k v", "PEXPIREAT k 1", true),
    ("SET k v", "PERSIST k", false),
    ("SET k v EX 100", "PERSIST k", true),
    ("", "SADD k a", true),
    ("SADD k a", "SADD k a", false),
    ("SADD k a", "SREM k a", true),
    ("SADD k a", "SREM k b", false),
    ("", "SREM k a", false),
    ("SADD k a", "SPOP k", true),
    ("SADD k a", "SPOP k 0", false),
    ("", "SPOP k", false),
    ("SADD k a", "SRANDMEMBER k", false),
    ("SADD k x", "SMOVE k b x", true),
    ("SADD k x", "SMOVE k b y", false),
    ("SADD k x", "SMOVE k k x", false),
    ("SADD a x", "SMOVE a k x", true),
    ("SADD a x;SADD k x", "SMOVE a k x", false),
    ("", "SINTERSTORE k a", false),
    ("SET k v", "SINTERSTORE k a", true),
    ("SADD a x", "SUNIONSTORE k a", true),
    ("SADD k x", "SDIFFSTORE k k", true),
    ("SET k v", "GETEX k", false),
    ("SET k v", "GETEX k PERSIST", false),
    ("SET k v EX 100", "GETEX k PERSIST", true),
    ("SET k v", "GETEX k EX 100", true),
    ("SET k v", "GETEX k EXAT 1", true),
    ("", "MSETNX a 1 k 2", true),
    ("SET a v", "MSETNX a 1 k 2", false),
    ("SET k v", "SETRANGE k 0 ''", false),
    ("", "SETRANGE k 5 x", true),
    ("SET k v", "SETRANGE k 0 v", true),
    ("SET a v", "COPY a k", true),
    ("SET a v;SET k v", "COPY a k", false),
    ("SET a v;SET k v", "COPY a k REPLACE", true),
    ("SET k v", "COPY k a", false),
];

fn words(call: &str) -> Vec<&[u8]> {
    let words = call.split(' ');
    words
        .map(|word| if word == "''" { "" } else { word })
        .map(str::as_bytes)
        .collect()
}

#[test]
fn a_watch_sees_what_redis_calls_a_change() {
    for (before, change, changed) in CHANGES {
        let mut server = TestServer::new();
        let other = server.connect();
        for call in before.split_terminator(';') {
            server.execute(&words(call));
        }
        server.expect("WATCH k", "+OK");
        assert!(server.call(other, &words(change)).is_some(), "{change}");
        server.expect("MULTI", "+OK");
        let refused = server.run("EXEC") == crate::Reply::NilArray;
        assert_eq!(refused, *changed, "{before} | {change}");
    }
}
