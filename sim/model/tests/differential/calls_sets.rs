//! Calls on sets.

use crate::calls::Form;
use crate::calls::Slot::{Field, Key, Many, Maybe, Perhaps, Word};

const INTEGERS: &[&str] = &["1", "2", "-3", "40", "9223372036854775807", "01"];
const NUMKEYS: &[&str] = &["1", "2", "0", "x", "-1"];

pub(crate) const COMMANDS: &[Form] = &[
    ("SADD", &[Key, Many(&[Field])]),
    ("SADD", &[Key, Many(&[Word(INTEGERS)])]),
    ("SCARD", &[Key]),
    ("SDIFFSTORE", &[Key, Many(&[Key])]),
    (
        "SINTERCARD",
        &[
            Word(NUMKEYS),
            Many(&[Key]),
            Perhaps(&[Maybe(&["LIMIT", "limit", "X"]), Word(NUMKEYS)]),
        ],
    ),
    ("SINTERSTORE", &[Key, Many(&[Key])]),
    ("SISMEMBER", &[Key, Field]),
    ("SISMEMBER", &[Key, Word(INTEGERS)]),
    ("SMISMEMBER", &[Key, Many(&[Field])]),
    ("SMOVE", &[Key, Key, Field]),
    ("SMOVE", &[Key, Key, Word(INTEGERS)]),
    ("SMEMBERS", &[Key]),
    ("SDIFF", &[Many(&[Key])]),
    ("SINTER", &[Many(&[Key])]),
    ("SUNION", &[Many(&[Key])]),
    (
        "SPOP",
        &[Key, Perhaps(&[Word(&["1", "2", "0", "-1", "x"])])],
    ),
    (
        "SRANDMEMBER",
        &[
            Key,
            Perhaps(&[Word(&[
                "1",
                "2",
                "100",
                "-3",
                "0",
                "-9223372036854775808",
                "x",
            ])]),
        ],
    ),
    (
        "SSCAN",
        &[
            Key,
            Word(&["0", "0", "x"]),
            Perhaps(&[Word(&["MATCH", "match", "X"]), Word(&["a*", "*", "[12]"])]),
            Perhaps(&[Word(&["COUNT", "count"]), Word(&["100", "0", "x"])]),
        ],
    ),
    ("SREM", &[Key, Many(&[Field])]),
    ("SREM", &[Key, Many(&[Word(INTEGERS)])]),
    ("SUNIONSTORE", &[Key, Many(&[Key])]),
];
