//! Calls on streams. Ids are small, so that the sequences meet; times are far off or not at all,
//! so that the clocks of the two servers need not agree.

use crate::calls::Slot::{self, Many, Maybe, Perhaps, Value, Word};
use crate::calls::{Form, call_of};
use crate::random::Random;

const KEY: Slot = Word(&["k1", "k1", "k2", "k3", "k4", ""]);
const GROUP: Slot = Word(&["g", "g", "h", "none"]);
const CONSUMER: Slot = Word(&["c", "d", "e", ""]);
pub(crate) const FIELD: Slot = Word(&["a", "b", "c", ""]);
const ID: Slot = Word(&[
    "1-1",
    "1-2",
    "2-1",
    "3",
    "3-3",
    "4-0",
    "5-5",
    "5",
    "6-1",
    "0-1",
    "7",
    "9-9",
    "8-18446744073709551615",
    "0",
    "0-0",
    "-",
    "+",
    "$",
    ">",
    "x",
    "",
    "18446744073709551615",
    "18446744073709551615-18446744073709551615",
]);
const NEW_ID: Slot = Word(&[
    "0-*",
    "1-*",
    "2-*",
    "3-*",
    "4-*",
    "5-*",
    "1-1",
    "2-1",
    "3-3",
    "9-*",
    "6-*",
    // Nothing ever asks for `8-*`: which error that is, is up to what has been refused before.
    "8-18446744073709551615",
    "7-*",
    "8",
    "0-0",
    "*-1",
    "5-**",
    "x",
    "18446744073709551614-*",
]);
pub(crate) const FROM: Slot = Word(&[
    "-",
    "-",
    "0",
    "(1-1",
    "2",
    "(2",
    "3-3",
    "(",
    "+",
    "(-",
    "x",
    "(18446744073709551615-18446744073709551615",
]);
pub(crate) const TO: Slot = Word(&[
    "+", "+", "5", "(3-3", "3", "(2", "(0-0", "-", "(+", "x", "9-9",
]);
const COUNT: Slot = Word(&["1", "2", "3", "0", "100", "-1", "x"]);
const MIN_IDLE: Slot = Word(&["0", "0", "50000000", "-1", "9223372036854775807", "x"]);
const IDLE: Slot = Word(&[
    "100000000",
    "200000000",
    "0",
    "-5",
    "9223372036854775807",
    "x",
]);
const SIGN: Slot = Maybe(&["=", "~", "~", "!"]);
pub(crate) const ENTRIES_READ: Slot = Perhaps(&[
    Word(&["ENTRIESREAD", "entriesread", "X"]),
    Word(&["0", "1", "3", "-1", "10", "-2", "x", "9223372036854775807"]),
]);
const TRIM: Slot = Perhaps(&[
    Word(&["MAXLEN", "maxlen", "LIMIT"]),
    SIGN,
    Word(&["3", "5", "0", "1", "10", "-1", "x"]),
    Perhaps(&[Word(&["LIMIT", "limit", "MINID"]), COUNT]),
]);
const TRIM_BY_ID: Slot = Perhaps(&[Word(&["MINID", "minid", "MAXLEN"]), SIGN, ID]);
const STREAMS: Slot = Word(&["STREAMS", "streams", "STREAM"]);

pub(crate) const COMMANDS: &[Form] = &[
    ("DEL", &[KEY]),
    ("RENAME", &[KEY, KEY]),
    ("XACK", &[KEY, GROUP, Many(&[ID])]),
    ("XADD", &[KEY, NEW_ID, Many(&[FIELD, Value])]),
    ("XADD", &[KEY, NEW_ID, FIELD, Value]),
    ("XADD", &[KEY, Word(&["9-*"]), FIELD, Value]),
    (
        "XADD",
        &[
            KEY,
            Maybe(&["NOMKSTREAM", "nomkstream", "X"]),
            TRIM,
            TRIM_BY_ID,
            NEW_ID,
            Many(&[FIELD, Value]),
        ],
    ),
    (
        "XAUTOCLAIM",
        &[
            KEY,
            GROUP,
            CONSUMER,
            MIN_IDLE,
            FROM,
            Perhaps(&[Word(&["COUNT", "count"]), COUNT]),
            Maybe(&["JUSTID", "justid", "X"]),
        ],
    ),
    ("XCLAIM", &[KEY, GROUP, CONSUMER, MIN_IDLE, Many(&[ID])]),
    (
        "XCLAIM",
        &[
            KEY,
            GROUP,
            CONSUMER,
            MIN_IDLE,
            Many(&[ID]),
            Maybe(&["FORCE", "force", "X"]),
            Perhaps(&[Word(&["IDLE", "idle"]), IDLE]),
            Perhaps(&[
                Word(&["RETRYCOUNT", "retrycount"]),
                Word(&["3", "0", "-1", "9223372036854775807", "x"]),
            ]),
            Maybe(&["JUSTID", "justid"]),
            Perhaps(&[Word(&["LASTID", "lastid"]), ID]),
            Maybe(&["FORCE", "IDLE"]),
        ],
    ),
    (
        "XCLAIM",
        &[
            KEY,
            GROUP,
            CONSUMER,
            MIN_IDLE,
            ID,
            Word(&["TIME", "time"]),
            Word(&["1000000", "0", "-1", "9223372036854775807", "x"]),
        ],
    ),
    ("XDEL", &[KEY, Many(&[ID])]),
    ("XDEL", &[KEY, Many(&[ID])]),
    (
        "XGROUP",
        &[
            Word(&["CREATE", "create"]),
            KEY,
            GROUP,
            ID,
            Maybe(&["MKSTREAM", "mkstream", "X"]),
            ENTRIES_READ,
        ],
    ),
    (
        "XGROUP",
        &[
            Word(&["CREATE"]),
            KEY,
            GROUP,
            Word(&["0", "$", "1-1", "3"]),
            Word(&["MKSTREAM"]),
        ],
    ),
    ("XGROUP", &[Word(&["CREATECONSUMER"]), KEY, GROUP, CONSUMER]),
    ("XGROUP", &[Word(&["DELCONSUMER"]), KEY, GROUP, CONSUMER]),
    ("XGROUP", &[Word(&["DESTROY"]), KEY, GROUP]),
    ("XGROUP", &[Word(&["HELP", "help", "NOSUCH"])]),
    (
        "XGROUP",
        &[Word(&["SETID", "setid"]), KEY, GROUP, ID, ENTRIES_READ],
    ),
    ("XINFO", &[Word(&["CONSUMERS"]), KEY, GROUP]),
    ("XINFO", &[Word(&["GROUPS"]), KEY]),
    ("XINFO", &[Word(&["HELP", "help", "NOSUCH"])]),
    ("XINFO", &[Word(&["STREAM"]), KEY]),
    (
        "XINFO",
        &[
            Word(&["STREAM"]),
            KEY,
            Word(&["FULL", "full", "X"]),
            Perhaps(&[Word(&["COUNT", "count", "X"]), COUNT]),
        ],
    ),
    ("XLEN", &[KEY]),
    ("XPENDING", &[KEY, GROUP]),
    (
        "XPENDING",
        &[
            KEY,
            GROUP,
            Perhaps(&[Word(&["IDLE", "idle"]), MIN_IDLE]),
            FROM,
            TO,
            COUNT,
            Perhaps(&[CONSUMER]),
        ],
    ),
    ("XPENDING", &[KEY, GROUP, FROM, TO, Word(&["100"])]),
    (
        "XRANGE",
        &[KEY, FROM, TO, Perhaps(&[Word(&["COUNT", "count"]), COUNT])],
    ),
    (
        "XREAD",
        &[Perhaps(&[Word(&["COUNT", "X"]), COUNT]), STREAMS, KEY, ID],
    ),
    (
        "XREAD",
        &[
            Perhaps(&[Word(&["COUNT", "NOACK"]), COUNT]),
            STREAMS,
            KEY,
            KEY,
            ID,
            ID,
        ],
    ),
    (
        "XREADGROUP",
        &[
            Word(&["GROUP"]),
            GROUP,
            CONSUMER,
            Perhaps(&[Word(&["COUNT", "count", "GROUP"]), COUNT]),
            Maybe(&["NOACK", "noack", "X"]),
            STREAMS,
            KEY,
            Word(&[
                ">",
                ">",
                ">",
                "0",
                "1-1",
                "x",
                "18446744073709551615-18446744073709551615",
            ]),
        ],
    ),
    (
        "XREADGROUP",
        &[
            Word(&["GROUP", "group"]),
            GROUP,
            CONSUMER,
            Perhaps(&[Word(&["COUNT", "GROUP"]), COUNT]),
            STREAMS,
            KEY,
            KEY,
            Word(&[">", ">", "0", "2"]),
            Word(&[">", ">", "0", "x", "$"]),
        ],
    ),
    (
        "XREVRANGE",
        &[KEY, TO, FROM, Perhaps(&[Word(&["COUNT", "count"]), COUNT])],
    ),
    (
        "XSETID",
        &[
            KEY,
            ID,
            Perhaps(&[
                Word(&["ENTRIESADDED", "entriesadded", "X"]),
                Word(&["10", "3", "20", "0", "-1", "x"]),
            ]),
            Perhaps(&[Word(&["MAXDELETEDID", "maxdeletedid"]), ID]),
        ],
    ),
    ("XTRIM", &[KEY, TRIM, TRIM_BY_ID]),
    (
        "XTRIM",
        &[KEY, Word(&["MAXLEN"]), Word(&["5", "3", "2", "1", "0"])],
    ),
];

/// Any call on streams.
pub(crate) fn call(random: &mut Random) -> Vec<String> {
    call_of(random, COMMANDS)
}
