//! Calls about sorted sets.

use crate::calls::Form;
use crate::calls::Slot::{
    Bound, Count, CountedKeys, Cursor, Index, Integer, Key, LexBound, LongMember, Many, Maybe,
    Member, Perhaps, Score, Timeout, Value, Word,
};

const ENDS: &[&str] = &["MIN", "MAX", "min", "max", "LEFT"];
const LIMIT: &[&str] = &["LIMIT", "limit"];
const HOW: &[&str] = &["BYSCORE", "BYLEX", "byscore", "bylex", "REV", "WITHSCORES"];
const AGGREGATES: &[&str] = &["SUM", "MIN", "MAX", "min", "AVG"];
const SCAN_OPTIONS: &[&str] = &["MATCH", "COUNT", "match", "TYPE"];
const SCAN_VALUES: &[&str] = &["*", "a*", "[ab]", "100", "?", "0", "x"];

pub(crate) const COMMANDS: &[Form] = &[
    (
        "ZADD",
        &[
            Key,
            Maybe(&["NX", "XX", "GT", "LT", "xx"]),
            Maybe(&["CH", "INCR", "GT", "LT", "ch"]),
            Maybe(&["CH", "INCR", "incr"]),
            Many(&[Score, Member]),
        ],
    ),
    ("ZADD", &[Key, Many(&[Score, Member])]),
    (
        "ZADD",
        &[Key, Word(&["0", "1"]), Member, Word(&["0", "1"]), Member],
    ),
    ("ZCARD", &[Key]),
    ("ZCOUNT", &[Key, Bound, Bound]),
    ("ZDIFF", &[CountedKeys, Maybe(&["WITHSCORES", "WEIGHTS"])]),
    ("ZDIFFSTORE", &[Key, CountedKeys, Maybe(&["WITHSCORES"])]),
    ("ZINCRBY", &[Key, Score, Member]),
    (
        "ZINTER",
        &[
            CountedKeys,
            Perhaps(&[Word(&["WEIGHTS", "weights"]), Many(&[Score])]),
            Perhaps(&[Word(&["AGGREGATE"]), Word(AGGREGATES)]),
            Maybe(&["WITHSCORES", "withscores", "LIMIT"]),
        ],
    ),
    ("ZINTERCARD", &[CountedKeys, Perhaps(&[Word(LIMIT), Count])]),
    (
        "ZINTERSTORE",
        &[
            Key,
            CountedKeys,
            Perhaps(&[Word(&["AGGREGATE"]), Word(AGGREGATES)]),
            Perhaps(&[Word(&["WEIGHTS"]), Many(&[Score])]),
            Maybe(&["WITHSCORES"]),
        ],
    ),
    ("ZLEXCOUNT", &[Key, LexBound, LexBound]),
    (
        "ZMPOP",
        &[
            CountedKeys,
            Word(ENDS),
            Perhaps(&[Word(&["COUNT", "count", "X"]), Count]),
        ],
    ),
    ("ZMSCORE", &[Key, Many(&[Member])]),
    ("ZPOPMAX", &[Key, Perhaps(&[Count])]),
    ("ZPOPMIN", &[Key, Perhaps(&[Count])]),
    (
        "ZRANGE",
        &[Key, Index, Index, Maybe(&["WITHSCORES", "REV", "X"])],
    ),
    (
        "ZRANGE",
        &[
            Key,
            Bound,
            Bound,
            Word(HOW),
            Maybe(HOW),
            Perhaps(&[Word(LIMIT), Index, Index]),
            Maybe(HOW),
        ],
    ),
    (
        "ZRANGE",
        &[
            Key,
            LexBound,
            LexBound,
            Word(&["BYLEX", "bylex"]),
            Maybe(&["REV", "WITHSCORES"]),
            Perhaps(&[Word(LIMIT), Index, Index]),
        ],
    ),
    (
        "ZRANGEBYLEX",
        &[
            Key,
            LexBound,
            LexBound,
            Perhaps(&[Word(LIMIT), Index, Index]),
        ],
    ),
    (
        "ZRANGEBYSCORE",
        &[
            Key,
            Bound,
            Bound,
            Maybe(&["WITHSCORES", "X"]),
            Perhaps(&[Word(LIMIT), Index, Index]),
        ],
    ),
    (
        "ZRANGESTORE",
        &[
            Key,
            Key,
            Index,
            Index,
            Maybe(&["REV", "BYSCORE", "WITHSCORES"]),
        ],
    ),
    (
        "ZRANGESTORE",
        &[
            Key,
            Key,
            Bound,
            Bound,
            Word(HOW),
            Maybe(HOW),
            Perhaps(&[Word(LIMIT), Index, Index]),
        ],
    ),
    ("ZRANK", &[Key, Member]),
    ("ZREM", &[Key, Many(&[Member])]),
    ("ZREMRANGEBYLEX", &[Key, LexBound, LexBound]),
    ("ZREMRANGEBYRANK", &[Key, Index, Index]),
    ("ZREMRANGEBYSCORE", &[Key, Bound, Bound]),
    ("ZREVRANGE", &[Key, Index, Index, Maybe(&["WITHSCORES"])]),
    (
        "ZREVRANGEBYLEX",
        &[
            Key,
            LexBound,
            LexBound,
            Perhaps(&[Word(LIMIT), Index, Index]),
            Maybe(&["WITHSCORES", "REV"]),
        ],
    ),
    (
        "ZREVRANGEBYSCORE",
        &[
            Key,
            Bound,
            Bound,
            Perhaps(&[Word(LIMIT), Index, Index]),
            Maybe(&["WITHSCORES"]),
        ],
    ),
    ("ZREVRANK", &[Key, Member]),
    (
        "ZSCAN",
        &[
            Key,
            Cursor,
            Perhaps(&[Word(SCAN_OPTIONS), Word(SCAN_VALUES)]),
            Maybe(SCAN_OPTIONS),
        ],
    ),
    ("ZSCORE", &[Key, Member]),
    (
        "ZUNION",
        &[
            CountedKeys,
            Perhaps(&[Word(&["WEIGHTS", "weights"]), Many(&[Score])]),
            Perhaps(&[Word(&["AGGREGATE"]), Word(AGGREGATES)]),
            Maybe(&["WITHSCORES", "withscores", "LIMIT"]),
        ],
    ),
    (
        "ZUNIONSTORE",
        &[
            Key,
            CountedKeys,
            Perhaps(&[Word(&["AGGREGATE", "aggregate"]), Word(AGGREGATES)]),
            Perhaps(&[Word(&["WEIGHTS"]), Many(&[Score])]),
            Maybe(&["WITHSCORES"]),
        ],
    ),
    // Numbers at the edge of what is one.
    ("ZINTERCARD", &[CountedKeys, Word(LIMIT), Integer]),
    (
        "ZMPOP",
        &[CountedKeys, Word(ENDS), Word(&["COUNT"]), Integer],
    ),
    ("ZPOPMIN", &[Key, Integer]),
    (
        "ZRANGE",
        &[Key, Integer, Integer, Maybe(&["REV", "WITHSCORES"])],
    ),
    (
        "ZRANGEBYLEX",
        &[Key, LexBound, LexBound, Word(LIMIT), Integer, Integer],
    ),
    (
        "ZRANGEBYSCORE",
        &[Key, Bound, Bound, Word(LIMIT), Integer, Integer],
    ),
    ("ZREMRANGEBYRANK", &[Key, Integer, Integer]),
];

/// Those that answer the same for sets outside the compact encoding of Redis, where the order of
/// a scan is that of a hash table, and a search by members takes chances if scores differ.
pub(crate) const OF_LARGE_SETS: &[Form] = &[
    ("ZADD", &[Key, Many(&[Score, LongMember])]),
    (
        "ZADD",
        &[
            Key,
            Word(&["GT", "LT"]),
            Word(&["0", "-0"]),
            Member,
            Score,
            Member,
        ],
    ),
    ("ZDIFFSTORE", &[Key, CountedKeys]),
    ("ZINCRBY", &[Key, Score, LongMember]),
    ("ZINCRBY", &[Key, Word(&["0", "-0"]), Member]),
    (
        "ZINTERSTORE",
        &[
            Key,
            CountedKeys,
            Perhaps(&[Word(&["AGGREGATE"]), Word(AGGREGATES)]),
        ],
    ),
    ("ZPOPMIN", &[Key]),
    (
        "ZRANGE",
        &[Key, Word(&["0"]), Word(&["-1"]), Word(&["WITHSCORES"])],
    ),
    (
        "ZRANGEBYSCORE",
        &[Key, Bound, Bound, Maybe(&["WITHSCORES"])],
    ),
    ("ZRANGESTORE", &[Key, Key, Index, Index, Maybe(&["REV"])]),
    ("ZRANK", &[Key, Member]),
    ("ZREM", &[Key, LongMember]),
    ("ZREMRANGEBYRANK", &[Key, Index, Index]),
    (
        "ZREVRANGEBYSCORE",
        &[Key, Bound, Bound, Perhaps(&[Word(LIMIT), Index, Index])],
    ),
    (
        "ZUNION",
        &[
            CountedKeys,
            Perhaps(&[Word(&["WEIGHTS"]), Many(&[Score])]),
            Word(&["WITHSCORES"]),
        ],
    ),
    (
        "ZUNIONSTORE",
        &[
            Key,
            CountedKeys,
            Perhaps(&[Word(&["WEIGHTS"]), Many(&[Score])]),
        ],
    ),
    ("SET", &[Key, Value]),
    ("DEL", &[Key]),
];

/// Those that choose at random.
pub(crate) const RANDOM: &[Form] = &[
    (
        "ZRANDMEMBER",
        &[Key, Perhaps(&[Count, Maybe(&["WITHSCORES", "X"])])],
    ),
    ("ZRANDMEMBER", &[Key, Integer, Maybe(&["WITHSCORES"])]),
];

/// The commands that a client may have to wait for.
pub(crate) const BLOCKING: &[Form] = &[
    (
        "BZMPOP",
        &[
            Timeout,
            CountedKeys,
            Word(ENDS),
            Perhaps(&[Word(&["COUNT"]), Count]),
        ],
    ),
    ("BZPOPMAX", &[Many(&[Key]), Timeout]),
    ("BZPOPMIN", &[Many(&[Key]), Timeout]),
];
