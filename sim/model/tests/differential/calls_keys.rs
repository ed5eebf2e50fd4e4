//! Calls on keys of any type.

use crate::calls::Form;
use crate::calls::Slot::{
    self, Field, Index, Instant, Key, Lifetime, Many, Maybe, Perhaps, Value, Word,
};

const EXPIRE_OPTIONS: &[&str] = &["NX", "XX", "GT", "LT", "nx", "ZZ"];
const PATTERN: Slot = Word(&["*", "k*", "k[12]", "?1", "", "x", "[^k]*", "\\k1"]);

pub(crate) const COMMANDS: &[Form] = &[
    ("DEL", &[Many(&[Key])]),
    ("ECHO", &[Value]),
    ("EXISTS", &[Many(&[Key])]),
    ("EXPIRE", &[Key, Lifetime, Maybe(EXPIRE_OPTIONS)]),
    (
        "EXPIREAT",
        &[Key, Instant, Maybe(EXPIRE_OPTIONS), Maybe(EXPIRE_OPTIONS)],
    ),
    ("EXPIRETIME", &[Key]),
    ("PERSIST", &[Key]),
    ("PEXPIRE", &[Key, Lifetime, Maybe(EXPIRE_OPTIONS)]),
    ("PEXPIREAT", &[Key, Instant]),
    ("PEXPIRETIME", &[Key]),
    ("PING", &[Perhaps(&[Value])]),
    ("PTTL", &[Key]),
    ("RENAME", &[Key, Key]),
    ("RENAMENX", &[Key, Key]),
    ("TOUCH", &[Many(&[Key])]),
    ("TTL", &[Key]),
    ("TYPE", &[Key]),
    ("UNLINK", &[Many(&[Key])]),
    (
        "COPY",
        &[
            Key,
            Key,
            Perhaps(&[
                Word(&["DB", "db"]),
                Word(&["0", "1", "1", "16", "-1", "x", "9999999999"]),
            ]),
            Maybe(&["REPLACE", "replace", "X"]),
        ],
    ),
    ("HSET", &[Key, Many(&[Field, Value])]),
    ("KEYS", &[PATTERN]),
    ("MOVE", &[Key, Word(&["1", "1", "0", "16", "x"])]),
    ("RANDOMKEY", &[]),
    ("RPUSH", &[Key, Many(&[Value])]),
    ("SADD", &[Key, Many(&[Value])]),
    ("SET", &[Key, Value]),
    ("ZADD", &[Key, Index, Field]),
    (
        "SCAN",
        &[
            Word(&["0", "0", "x"]),
            Perhaps(&[Word(&["MATCH", "match", "X"]), PATTERN]),
            Perhaps(&[Word(&["COUNT", "count"]), Word(&["100", "0", "x"])]),
            Perhaps(&[
                Word(&["TYPE", "type"]),
                Word(&["string", "HASH", "set", "list", "zset", "stream", "none"]),
            ]),
        ],
    ),
];
