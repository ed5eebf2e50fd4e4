//! Calls on hashes beyond the common ones.

use crate::calls::Form;
use crate::calls::Slot::{Field, Integer, Key, Many, Maybe, Perhaps, Value, Word};
use crate::calls_strings::FLOAT;

const LONG: &str = "a field or value that is too long for the compact encoding, with its 70 bytes.";

pub(crate) const COMMANDS: &[Form] = &[
    ("HDEL", &[Key, Many(&[Field])]),
    ("HEXISTS", &[Key, Field]),
    ("HGET", &[Key, Field]),
    ("HGETALL", &[Key]),
    ("HINCRBY", &[Key, Field, Integer]),
    ("HKEYS", &[Key]),
    ("HLEN", &[Key]),
    ("HMGET", &[Key, Many(&[Field])]),
    ("HMSET", &[Key, Many(&[Field, Value])]),
    ("HSET", &[Key, Many(&[Field, Value])]),
    ("HSETNX", &[Key, Field, Value]),
    ("HSTRLEN", &[Key, Field]),
    ("HVALS", &[Key]),
    ("HINCRBYFLOAT", &[Key, Field, FLOAT]),
    ("HINCRBYFLOAT", &[Key, Field, FLOAT]),
    (
        "HRANDFIELD",
        &[
            Key,
            Perhaps(&[
                Word(&[
                    "1",
                    "2",
                    "100",
                    "-3",
                    "0",
                    "x",
                    "-9223372036854775808",
                    "4611686018427387904",
                ]),
                Maybe(&["WITHVALUES", "withvalues", "X"]),
            ]),
        ],
    ),
    (
        "HSCAN",
        &[
            Key,
            Word(&["0", "0", "x"]),
            Perhaps(&[
                Word(&["MATCH", "match", "NOVALUES"]),
                Word(&["a*", "*", "[bc]"]),
            ]),
            Perhaps(&[Word(&["COUNT", "count"]), Word(&["100", "0", "x"])]),
        ],
    ),
    (
        "HSET",
        &[Key, Word(&["a", "b", LONG]), Word(&["1", "0.5", LONG])],
    ),
    (
        "HSETNX",
        &[Key, Word(&["a", "b", LONG]), Word(&["1", LONG])],
    ),
];
