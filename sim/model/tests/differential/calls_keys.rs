//! Calls on keys of any type.

use crate::calls::Form;
use crate::calls::Slot::{self, Key, Maybe, Perhaps, Word};

const PATTERN: Slot = Word(&["*", "k*", "k[12]", "?1", "", "x", "[^k]*", "\\k1"]);

pub(crate) const COMMANDS: &[Form] = &[
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
    ("KEYS", &[PATTERN]),
    ("MOVE", &[Key, Word(&["1", "1", "0", "16", "x"])]),
    ("RANDOMKEY", &[]),
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
