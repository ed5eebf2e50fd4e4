//! Calls on strings: their parts, their bits, and floats.

use crate::calls::Form;
use crate::calls::Slot::{
    self, Index, Instant, Integer, Key, Lifetime, Many, Maybe, Perhaps, Value, Word,
};

pub(crate) const FLOAT: Slot = Word(&[
    "1.5",
    "-0.1",
    "3.0e3",
    "0.00000000000000001",
    "123456789.123456789123456789",
    "-1",
    "1e30",
    "0x1.8p-3",
    "-7e-18",
    "9223372036854775807",
    "18446744073709551617",
    "-0",
    "1e4931",
    "-1e4932",
    "1e-4950",
    "1e-4952",
    "1e5000",
    "inf",
    "-Infinity",
    "nan",
    "x",
    "",
    " 1",
]);
const OFFSET: Slot = Word(&[
    "0",
    "1",
    "2",
    "5",
    "17",
    "-1",
    "536870912",
    "x",
    "9223372036854775807",
]);
const BIT: Slot = Word(&[
    "0",
    "1",
    "7",
    "8",
    "9",
    "15",
    "23",
    "30",
    "47",
    "-1",
    "4294967296",
    "x",
    "",
]);
const RANGE: Slot = Word(&[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-2",
    "8",
    "9",
    "13",
    "-7",
    "-9",
    "30",
    "100",
    "-100",
    "x",
    "9223372036854775807",
    "-9223372036854775808",
]);
const UNIT: Slot = Maybe(&["BYTE", "BIT", "bit", "bit", "NIBBLE"]);
const OPERATION: Slot = Word(&["AND", "OR", "XOR", "NOT", "not", "or", "DIFF"]);
const FIELD: Slot = Word(&[
    "u8", "i8", "u1", "i1", "u5", "i5", "u63", "i64", "i63", "u32", "u64", "i65", "u0", "x8", "U8",
]);
const PLACE: Slot = Word(&[
    "0",
    "1",
    "3",
    "#0",
    "#1",
    "7",
    "8",
    "12",
    "#2",
    "60",
    "-1",
    "#-1",
    "x",
    "#x",
    "",
    "4294967296",
    "#9223372036854775807",
]);
const NUMBER: Slot = Word(&[
    "1",
    "-1",
    "0",
    "5",
    "100",
    "-100",
    "255",
    "127",
    "-128",
    "128",
    "1000000",
    "9223372036854775807",
    "-9223372036854775808",
    "4611686018427387904",
    "x",
]);
const GET: &[Slot] = &[Word(&["GET", "get"]), FIELD, PLACE];
const CHANGE: &[Slot] = &[
    Maybe(&["OVERFLOW"]),
    Word(&["SET", "INCRBY", "incrby", "set", "FOO"]),
    FIELD,
    PLACE,
    NUMBER,
];
const OVERFLOW: &[Slot] = &[
    Word(&["OVERFLOW", "overflow"]),
    Word(&["WRAP", "SAT", "FAIL", "sat", "fail", "FOO"]),
];

pub(crate) const COMMANDS: &[Form] = &[
    ("BITCOUNT", &[Key, Perhaps(&[RANGE, RANGE, UNIT])]),
    ("BITCOUNT", &[Key, RANGE, RANGE, UNIT]),
    (
        "BITFIELD",
        &[Key, Perhaps(GET), Perhaps(OVERFLOW), Many(CHANGE)],
    ),
    (
        "BITFIELD",
        &[
            Key,
            Perhaps(OVERFLOW),
            Many(&[Word(&["SET", "INCRBY"]), FIELD, PLACE, NUMBER]),
            Perhaps(GET),
        ],
    ),
    (
        "BITFIELD",
        &[
            Key,
            Word(&["OVERFLOW"]),
            Word(&["SAT", "FAIL"]),
            Many(&[Word(&["SET", "INCRBY"]), FIELD, Word(&["0"]), NUMBER]),
            Perhaps(GET),
        ],
    ),
    ("BITFIELD_RO", &[Key, Many(GET)]),
    ("BITFIELD_RO", &[Key, Many(GET), Perhaps(CHANGE)]),
    ("BITOP", &[OPERATION, Key, Many(&[Key])]),
    ("BITOP", &[OPERATION, Key, Key]),
    ("BITPOS", &[Key, Word(&["0", "1", "2", "x"])]),
    (
        "BITPOS",
        &[Key, Word(&["0", "1"]), RANGE, Perhaps(&[RANGE, UNIT])],
    ),
    ("BITPOS", &[Key, Word(&["0", "1"]), RANGE, RANGE, UNIT]),
    ("GETBIT", &[Key, BIT]),
    (
        "GETEX",
        &[
            Key,
            Perhaps(&[Word(&["EX", "PX", "px", "EXAT"]), Lifetime]),
            Perhaps(&[Word(&["EXAT", "PXAT", "EX"]), Instant]),
            Maybe(&["PERSIST", "persist", "KEEPTTL"]),
        ],
    ),
    ("GETRANGE", &[Key, Index, Index]),
    ("GETRANGE", &[Key, RANGE, RANGE]),
    ("INCRBYFLOAT", &[Key, FLOAT]),
    ("INCRBYFLOAT", &[Key, FLOAT]),
    (
        "LCS",
        &[
            Key,
            Key,
            Maybe(&["LEN", "len", "X"]),
            Maybe(&["IDX", "idx"]),
            Perhaps(&[Word(&["MINMATCHLEN", "minmatchlen"]), Integer]),
            Maybe(&["WITHMATCHLEN", "withmatchlen"]),
        ],
    ),
    ("LCS", &[Key, Key, Word(&["IDX"]), Maybe(&["WITHMATCHLEN"])]),
    ("MSETNX", &[Many(&[Key, Value])]),
    ("OBJECT", &[Word(&["ENCODING", "encoding"]), Key]),
    ("OBJECT", &[Word(&["FREQ", "HELP"]), Perhaps(&[Key])]),
    (
        "SET",
        &[
            Key,
            Word(&[
                "ohmytext",
                "mynewtext",
                "aaaa",
                "aabaa",
                "\u{7f}\u{1}x\u{0}",
                "1234567890123456789012345678901234567890123456",
            ]),
        ],
    ),
    ("SET", &[Key, FLOAT]),
    ("SETBIT", &[Key, BIT, Word(&["1", "0", "2", "x"])]),
    ("SETRANGE", &[Key, OFFSET, Value]),
    ("SUBSTR", &[Key, Index, Index]),
];
