//! Calls on streams. Ids are small, so that the sequences meet; times are far off or not at all,
//! so that the clocks of the two servers need not agree.

use leaseline_redis_model::Reply;

use crate::calls::Slot::{self, Many, Maybe, Perhaps, Value, Word};
use crate::calls::{Form, call_of};
use crate::random::Random;

const KEY: Slot = Word(&["k1", "k1", "k2", "k3", "k4", ""]);
const GROUP: Slot = Word(&["g", "g", "h", "none"]);
const CONSUMER: Slot = Word(&["c", "d", "e", ""]);
const FIELD: Slot = Word(&["a", "b", "c", ""]);
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
const FROM: Slot = Word(&[
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
const TO: Slot = Word(&[
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
const ENTRIES_READ: Slot = Perhaps(&[
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

/// Stands for an id that was given lately.
const RECENT: &str = "@";
const NEAR: Slot = Word(&[RECENT, RECENT, RECENT, RECENT, "1-1", "2-0"]);
const NEAR_KEY: Slot = Word(&["k1", "k1", "k1", "k2"]);
const NEAR_GROUP: Slot = Word(&["g", "g", "h"]);
const NEAR_CONSUMER: Slot = Word(&["c", "d", "e"]);

/// Additions, the ids of which are near.
const NEAR_ADDITIONS: &[Form] = &[
    ("XADD", &[NEAR_KEY, Word(&["9-*"]), FIELD, Value]),
    (
        "XADD",
        &[
            NEAR_KEY,
            Perhaps(&[Word(&["MAXLEN"]), Word(&["9", "6", "4", "1"])]),
            Word(&["1-*", "2-*", "9-*", "3-*", "4-*", "5-*"]),
            FIELD,
            Value,
        ],
    ),
];

/// Calls that mostly find what they look for. Some are here more than once, to come up more often.
const NEAR_COMMANDS: &[Form] = &[
    (
        "XACK",
        &[NEAR_KEY, NEAR_GROUP, NEAR, NEAR, Perhaps(&[NEAR, NEAR])],
    ),
    (
        "XAUTOCLAIM",
        &[
            NEAR_KEY,
            NEAR_GROUP,
            NEAR_CONSUMER,
            Word(&["0", "50000000"]),
            Word(&["0", RECENT]),
            Perhaps(&[Word(&["COUNT"]), Word(&["1", "2"])]),
            Maybe(&["JUSTID"]),
        ],
    ),
    (
        "XCLAIM",
        &[
            NEAR_KEY,
            NEAR_GROUP,
            NEAR_CONSUMER,
            Word(&["0", "50000000"]),
            NEAR,
            NEAR,
            Maybe(&["FORCE"]),
            Perhaps(&[Word(&["IDLE"]), Word(&["100000000", "0"])]),
            Maybe(&["JUSTID"]),
            Perhaps(&[Word(&["LASTID"]), NEAR]),
        ],
    ),
    ("XDEL", &[NEAR_KEY, NEAR]),
    ("XDEL", &[NEAR_KEY, NEAR, NEAR]),
    (
        "XGROUP",
        &[
            Word(&["CREATE"]),
            NEAR_KEY,
            NEAR_GROUP,
            Word(&["0", "$", RECENT]),
            ENTRIES_READ,
        ],
    ),
    (
        "XGROUP",
        &[
            Word(&["CREATE"]),
            NEAR_KEY,
            NEAR_GROUP,
            Word(&["0"]),
            Word(&["MKSTREAM"]),
        ],
    ),
    (
        "XGROUP",
        &[Word(&["DELCONSUMER"]), NEAR_KEY, NEAR_GROUP, NEAR_CONSUMER],
    ),
    (
        "XGROUP",
        &[Word(&["SETID"]), NEAR_KEY, NEAR_GROUP, NEAR, ENTRIES_READ],
    ),
    ("XINFO", &[Word(&["GROUPS"]), NEAR_KEY]),
    ("XINFO", &[Word(&["GROUPS"]), NEAR_KEY]),
    ("XINFO", &[Word(&["CONSUMERS"]), NEAR_KEY, NEAR_GROUP]),
    ("XINFO", &[Word(&["STREAM"]), NEAR_KEY, Maybe(&["FULL"])]),
    ("XPENDING", &[NEAR_KEY, NEAR_GROUP]),
    (
        "XPENDING",
        &[
            NEAR_KEY,
            NEAR_GROUP,
            Perhaps(&[Word(&["IDLE"]), Word(&["50000000"])]),
            FROM,
            TO,
            Word(&["100", "1"]),
            Perhaps(&[NEAR_CONSUMER]),
        ],
    ),
    ("XRANGE", &[NEAR_KEY, NEAR, NEAR]),
    ("XREVRANGE", &[NEAR_KEY, NEAR, NEAR]),
    ("XREAD", &[Word(&["STREAMS"]), NEAR_KEY, NEAR]),
    (
        "XREADGROUP",
        &[
            Word(&["GROUP"]),
            NEAR_GROUP,
            NEAR_CONSUMER,
            Perhaps(&[Word(&["COUNT"]), Word(&["1", "2"])]),
            Maybe(&["NOACK"]),
            Word(&["STREAMS"]),
            NEAR_KEY,
            Word(&[">", ">", ">", "0", RECENT]),
        ],
    ),
    (
        "XREADGROUP",
        &[
            Word(&["GROUP"]),
            NEAR_GROUP,
            NEAR_CONSUMER,
            Word(&["COUNT"]),
            Word(&["1", "2"]),
            Word(&["STREAMS"]),
            NEAR_KEY,
            Word(&[">"]),
        ],
    ),
    (
        "XSETID",
        &[
            NEAR_KEY,
            NEAR,
            Perhaps(&[Word(&["ENTRIESADDED"]), Word(&["10", "20", "0"])]),
            Perhaps(&[Word(&["MAXDELETEDID"]), NEAR]),
        ],
    ),
    (
        "XTRIM",
        &[
            NEAR_KEY,
            Word(&["MAXLEN", "MINID"]),
            Word(&["8", RECENT, "5", "3", "1", "0"]),
        ],
    ),
];

/// Calls on streams alone that mostly find what they look for.
#[derive(Default)]
pub(crate) struct NearCalls {
    /// The ids that were given last.
    recent: Vec<String>,
}

impl NearCalls {
    pub(crate) fn call(&self, random: &mut Random) -> Vec<String> {
        let family = match random.below(3) {
            0 => NEAR_ADDITIONS,
            _ => NEAR_COMMANDS,
        };
        let mut words = call_of(random, family);
        for word in words.iter_mut().filter(|word| *word == RECENT) {
            *word = match self.recent.len() {
                0 => "1-1".to_owned(),
                known => self.recent[random.below(known)].clone(),
            };
        }
        words
    }

    /// Takes note of an answer, which may be an id.
    pub(crate) fn learn(&mut self, reply: &Reply) {
        if let Reply::Bulk(id) = reply {
            const KNOWN: usize = 12;
            let keep_from = (self.recent.len() + 1).saturating_sub(KNOWN);
            self.recent.drain(..keep_from);
            self.recent.push(String::from_utf8_lossy(id).into_owned());
        }
    }
}

/// Any call on streams.
pub(crate) fn call(random: &mut Random) -> Vec<String> {
    call_of(random, COMMANDS)
}

/// Calls that fill streams and take much out of them: what matters is where their nodes end.
#[derive(Default)]
pub(crate) struct Filler {
    step: usize,
    ids: Vec<String>,
}

impl Filler {
    pub(crate) fn call(&mut self, random: &mut Random) -> Vec<String> {
        self.step += 1;
        let key = random.pick(&["k1", "k1", "k2"]);
        let text = match random.below(40) {
            0 => format!("XTRIM {key} MAXLEN ~ {}", random.below(300)),
            1 => format!("XTRIM {key} MAXLEN = {}", 100 + random.below(400)),
            2 => format!("XTRIM {key} MINID ~ {}", self.id(random)),
            3 => format!("XTRIM {key} MINID {}", self.id(random)),
            4 => format!(
                "XTRIM {key} MAXLEN ~ {} LIMIT {}",
                random.below(300),
                random.below(300)
            ),
            5..10 => {
                let mut text = format!("XDEL {key}");
                for _ in 0..=random.below(20) {
                    text.push(' ');
                    text.push_str(&self.id(random));
                }
                text
            }
            10..13 => format!("XINFO STREAM {key}"),
            13 if random.one_in(10) => format!("DEL {key}"),
            14 => format!("XRANGE {key} {} + COUNT 3", self.id(random)),
            15 => format!("XREVRANGE {key} {} - COUNT 3", self.id(random)),
            _ => return self.addition(random, key),
        };
        text.split(' ').map(str::to_owned).collect()
    }

    /// An id that was given, if seldom to the same stream.
    fn id(&self, random: &mut Random) -> String {
        match self.ids.len() {
            0 => "1".to_owned(),
            known => self.ids[random.below(known)].clone(),
        }
    }

    fn addition(&mut self, random: &mut Random, key: &str) -> Vec<String> {
        let ms = self.step / 64 * 200;
        let sequence = self.step * [1, 1, 300, 70_000][random.below(4)];
        let id = format!("{ms}-{sequence}");
        self.ids.push(id.clone());
        let mut words = vec!["XADD".to_owned(), key.to_owned()];
        if random.one_in(20) {
            words.extend(["MAXLEN", "~", "150"].map(str::to_owned));
        }
        words.push(id);
        let large = self.step % 1500 > 1000;
        for field in 0..=random.below(2) {
            words.push(format!("field{}", field + random.below(2)));
            words.push(match random.below(8) {
                0 => (random.next() as i64 >> random.below(64)).to_string(),
                1 if large => "x".repeat(random.below(900)),
                2 => "x".repeat(random.below(100)),
                3 => format!("0{}", random.below(100)),
                _ => random.below(300).to_string(),
            });
        }
        words
    }
}
