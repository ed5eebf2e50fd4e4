//! Calls on streams that mostly find what they look for, as those of a queue do.

use leaseline_redis_model::Reply;

use crate::calls::Slot::{self, Maybe, Perhaps, Value, Word};
use crate::calls::{Form, call_of};
use crate::calls_streams::{ENTRIES_READ, FIELD, FROM, TO};
use crate::random::Random;

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
