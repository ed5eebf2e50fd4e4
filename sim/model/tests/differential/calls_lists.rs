//! Calls about lists.

use crate::calls::Form;
use crate::calls::Slot::{
    Count, CountedKeys, Index, Integer, Key, Many, Perhaps, Timeout, Value, Word,
};

const SIDES: &[&str] = &["LEFT", "RIGHT", "left", "Right", "UP"];
const POSITION_OPTIONS: &[&str] = &["RANK", "COUNT", "MAXLEN", "rank", "X"];

pub(crate) const COMMANDS: &[Form] = &[
    ("LINDEX", &[Key, Index]),
    (
        "LINSERT",
        &[Key, Word(&["BEFORE", "AFTER", "MID"]), Value, Value],
    ),
    ("LLEN", &[Key]),
    ("LMOVE", &[Key, Key, Word(SIDES), Word(SIDES)]),
    ("LPOP", &[Key, Perhaps(&[Count])]),
    ("LPUSH", &[Key, Many(&[Value])]),
    ("LPUSHX", &[Key, Many(&[Value])]),
    ("LRANGE", &[Key, Index, Index]),
    ("LREM", &[Key, Index, Value]),
    ("LSET", &[Key, Index, Value]),
    ("LTRIM", &[Key, Index, Index]),
    ("RPOP", &[Key, Perhaps(&[Count])]),
    ("RPOPLPUSH", &[Key, Key]),
    ("RPUSH", &[Key, Many(&[Value])]),
    ("RPUSHX", &[Key, Many(&[Value])]),
    (
        "LPOS",
        &[
            Key,
            Value,
            Perhaps(&[Word(POSITION_OPTIONS), Index]),
            Perhaps(&[Word(POSITION_OPTIONS), Index]),
            Perhaps(&[Word(POSITION_OPTIONS), Index]),
        ],
    ),
    (
        "LMPOP",
        &[
            CountedKeys,
            Word(SIDES),
            Perhaps(&[Word(&["COUNT", "count", "X"]), Count]),
        ],
    ),
    // Numbers at the edge of what is one.
    ("LINDEX", &[Key, Integer]),
    (
        "LMPOP",
        &[CountedKeys, Word(SIDES), Word(&["COUNT"]), Integer],
    ),
    ("LPOP", &[Key, Integer]),
    ("LPOS", &[Key, Value, Word(POSITION_OPTIONS), Integer]),
    ("LRANGE", &[Key, Integer, Integer]),
    ("LREM", &[Key, Integer, Value]),
    ("LSET", &[Key, Integer, Value]),
    ("LTRIM", &[Key, Integer, Integer]),
    ("LPUSH", &[Key, Many(&[Word(&["a", "b"])])]),
    ("LREM", &[Key, Index, Word(&["a", "b"])]),
    // A second time so that there is something to pop.
    ("RPUSH", &[Key, Many(&[Value])]),
    ("LPUSH", &[Key, Many(&[Value])]),
];

/// The commands that a client may have to wait for.
pub(crate) const BLOCKING: &[Form] = &[
    (
        "BLMPOP",
        &[
            Timeout,
            CountedKeys,
            Word(SIDES),
            Perhaps(&[Word(&["COUNT"]), Count]),
        ],
    ),
    ("BLMOVE", &[Key, Key, Word(SIDES), Word(SIDES), Timeout]),
    ("BLPOP", &[Many(&[Key]), Timeout]),
    ("BRPOP", &[Many(&[Key]), Timeout]),
    ("BRPOPLPUSH", &[Key, Key, Timeout]),
];
