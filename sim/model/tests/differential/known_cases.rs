//! Sequences that were thought of: rules of Redis that random calls seldom come across.

use crate::pair::Pair;
use crate::steps::Played;

/// What clients, by their numbers, say one after the other.
type Case = &'static [(usize, &'static str)];

/// Clients that wait for a key.
pub(crate) const WAITING: &[Case] = &[
    // A push of several elements serves as many clients, in the order in which they came.
    &[
        (1, "BLPOP k 0"),
        (2, "BRPOP k 0"),
        (3, "BLPOP k 0"),
        (4, "RPUSH k a b"),
        (4, "RPUSH k c d"),
        (4, "LRANGE k 0 -1"),
    ],
    // One that took its turn stands behind the others when it comes again.
    &[
        (1, "BLPOP k 0"),
        (2, "BLPOP k 0"),
        (4, "RPUSH k a"),
        (1, "BLPOP k 0"),
        (4, "RPUSH k b"),
        (4, "RPUSH k c"),
    ],
    // Not the first key of the call is served but the one that was there first.
    &[
        (1, "BLPOP a b 0"),
        (4, "MULTI"),
        (4, "DEL a"),
        (4, "RPUSH b 1"),
        (4, "RPUSH a 2"),
        (4, "EXEC"),
    ],
    // That holds even when it was emptied and filled again in between.
    &[
        (1, "BLPOP a b 0"),
        (4, "MULTI"),
        (4, "RPUSH a 1"),
        (4, "RPUSH b 2"),
        (4, "LPOP a"),
        (4, "RPUSH a 3"),
        (4, "EXEC"),
    ],
    // A list that comes and goes in one transaction serves nobody.
    &[
        (1, "BLPOP k 0"),
        (4, "MULTI"),
        (4, "RPUSH k a"),
        (4, "PEXPIRE k -1"),
        (4, "EXEC"),
        (4, "RPUSH k b"),
    ],
    // A value of another type is waited out.
    &[
        (1, "BLPOP k 0"),
        (2, "BZPOPMIN k 0"),
        (4, "SET k v"),
        (4, "DEL k"),
        (4, "ZADD k 1 a 2 b"),
        (4, "DEL k"),
        (4, "RPUSH k c d"),
        (3, "BLPOP k 0"),
        (3, "BZPOPMIN k 0"),
    ],
    // One that is replaced by the right type serves nobody, even when it grows.
    &[
        (1, "BZPOPMIN k 0"),
        (4, "SET k v"),
        (4, "ZADD z 1 a"),
        (4, "ZUNIONSTORE k 1 z"),
        (4, "ZADD k 2 b"),
        (2, "BZPOPMIN k 0"),
        (4, "ZREM k b"),
        (4, "ZADD k 3 c"),
    ],
    // Renaming is no replacement: the new name is free for a moment.
    &[
        (1, "BLPOP k 0"),
        (4, "SET k v"),
        (4, "RPUSH l a"),
        (4, "RENAME l k"),
    ],
    // What is moved serves those who wait there.
    &[
        (1, "BLMOVE a b LEFT RIGHT 0"),
        (2, "BLPOP b 0"),
        (4, "RPUSH a 1"),
        (4, "LRANGE a 0 -1"),
    ],
    &[
        (1, "BLMOVE a b LEFT LEFT 0"),
        (2, "BLMOVE b a LEFT LEFT 0"),
        (4, "RPUSH a 1"),
        (4, "LRANGE a 0 -1"),
    ],
    // A list can be turned by one who waits, and then there is still something for the next.
    &[
        (1, "BLMOVE k k LEFT RIGHT 0"),
        (2, "BRPOPLPUSH k k 0"),
        (3, "BLPOP k 0"),
        (4, "RPUSH k a b"),
        (4, "LRANGE k 0 -1"),
    ],
    // A target of another type is found out too late, and costs nobody else anything.
    &[
        (1, "BLMOVE k d LEFT LEFT 0"),
        (2, "BLPOP k 0"),
        (4, "SET d v"),
        (4, "RPUSH k a"),
        (4, "EXISTS k"),
    ],
    // The same key twice is one.
    &[(1, "BLPOP k k 0"), (4, "RPUSH k a b"), (4, "LLEN k")],
    &[
        (1, "BLMPOP 0 2 j k LEFT COUNT 2"),
        (2, "BLMPOP 0 1 k RIGHT COUNT 5"),
        (4, "RPUSH k a b c d"),
    ],
    &[
        (1, "HELLO 3"),
        (1, "BZPOPMAX k 0"),
        (2, "BZMPOP 0 1 k MIN COUNT 10"),
        (4, "ZADD k 1 a 2 b inf c"),
    ],
    &[
        (1, "HELLO 3"),
        (1, "BZMPOP 0 2 j k MIN COUNT 2"),
        (
            4,
            "EVAL redis.call('ZADD','k','0.1','a')redis.call('ZINCRBY','k',1,'b') 0",
        ),
    ],
    // Nobody waits in a transaction or in a script.
    &[
        (1, "MULTI"),
        (1, "BLPOP k 0"),
        (1, "BLMOVE k l LEFT LEFT 0"),
        (1, "BZMPOP 0 1 k MIN"),
        (1, "EXEC"),
        (1, "EVAL return(redis.call('BLMPOP',0,1,'k','LEFT')) 0"),
    ],
    // Another database is another key, until it is swapped or the key moves.
    &[
        (1, "BLPOP k 0"),
        (2, "BLPOP k 0"),
        (4, "SELECT 1"),
        (4, "RPUSH k a"),
        (4, "SWAPDB 0 1"),
        (4, "RPUSH k b"),
        (4, "MOVE k 1"),
        (4, "MOVE k 0"),
        (4, "SELECT 0"),
        (4, "RPUSH k c"),
    ],
    // The time is up; nil is that of a list whatever the command.
    &[
        (1, "BLMOVE k l LEFT LEFT 0.001"),
        (2, "BZPOPMIN k 0.001"),
        (3, "BLMPOP 0.001 1 k LEFT"),
        (0, "(pause)"),
        (4, "RPUSH k a"),
        (1, "BRPOP k 0"),
    ],
    // A push to one who waits breaks the watches of the key twice, and once is enough.
    &[
        (2, "WATCH k"),
        (1, "BLPOP k 0"),
        (4, "RPUSH k a"),
        (2, "MULTI"),
        (2, "EXEC"),
    ],
    // So does what is moved on behalf of one who waits.
    &[
        (2, "WATCH d"),
        (1, "BLMOVE k d LEFT LEFT 0"),
        (4, "RPUSH k a"),
        (2, "MULTI"),
        (2, "EXEC"),
    ],
];

/// A sorted set leaves the compact encoding, and with it the rule that no zero is negative, with
/// its 129th member or a long one, and does not come back.
pub(crate) const GROWING: Case = &[
    (
        1,
        "EVAL for\ti=1,128\tdo\tredis.call('ZADD','k','-0',i)end 0",
    ),
    (1, "ZSCORE k 128"),
    (1, "ZADD k -0 129"),
    (1, "ZRANGE k 0 -1 WITHSCORES"),
    (1, "ZRANGEBYLEX k [12 (2"),
    (1, "ZREVRANGEBYLEX k + [9 LIMIT 1 3"),
    (1, "ZREMRANGEBYRANK k 2 -1"),
    (1, "ZADD k -0 x"),
    (1, "ZRANGE k 0 -1 WITHSCORES"),
    (1, "ZUNIONSTORE l 1 k"),
    (1, "ZRANGE l 0 -1 WITHSCORES"),
    (1, "ZRANGESTORE m k 0 -1"),
    (1, "ZRANGE m 0 -1 WITHSCORES"),
    (1, "ZINCRBY k 0 x"),
    (1, "ZADD k CH 0 x"),
    (1, "ZSCORE k x"),
];

/// A change of `k` or `d`, after something else was done: whether it breaks a watch.
pub(crate) const WATCHED: &[(&str, &str)] = &[
    ("RPUSH k a b a", "RPUSH k x"),
    ("RPUSH k a b a", "LPUSHX k x"),
    ("PING", "LPUSHX k x"),
    ("RPUSH k a b a", "LPOP k"),
    ("RPUSH k a b a", "LPOP k 0"),
    ("RPUSH k a b a", "RPOP k 9"),
    ("PING", "LPOP k"),
    ("RPUSH k a b a", "LSET k 0 a"),
    ("RPUSH k a b a", "LSET k 9 a"),
    ("RPUSH k a b a", "LINSERT k BEFORE nope x"),
    ("RPUSH k a b a", "LINSERT k AFTER a x"),
    ("RPUSH k a b a", "LREM k 0 nope"),
    ("RPUSH k a b a", "LREM k 0 a"),
    ("RPUSH k a b a", "LTRIM k 0 -1"),
    ("RPUSH k a b a", "LTRIM k 5 6"),
    ("PING", "LTRIM k 0 -1"),
    ("RPUSH k a b a", "LMOVE k d LEFT LEFT"),
    ("RPUSH k a b a", "LMOVE k k LEFT LEFT"),
    ("RPUSH k a", "RPOPLPUSH k k"),
    ("PING", "RPOPLPUSH k d"),
    ("RPUSH k a b a", "LMPOP 2 d k LEFT"),
    ("RPUSH k a b a", "BLPOP d k 0"),
    ("RPUSH k a b a", "BLMOVE k d LEFT LEFT 0"),
    ("RPUSH k a b a", "LPOS k a"),
    ("ZADD k 1 a 2 b", "ZADD k 1 a"),
    ("ZADD k 1 a 2 b", "ZADD k 5 a"),
    ("ZADD k 1 a 2 b", "ZADD k 5 c"),
    ("ZADD k 1 a 2 b", "ZADD k XX 5 c"),
    ("ZADD k 1 a 2 b", "ZADD k GT 0 a"),
    ("ZADD k 0 a", "ZADD k CH -0 a"),
    ("ZADD k 1 a 2 b", "ZADD k 5 a x b"),
    ("ZADD k 1 a 2 b", "ZADD k INCR 0 a"),
    ("ZADD k 1 a 2 b", "ZINCRBY k 0 a"),
    ("ZADD k 1 a 2 b", "ZINCRBY k 1 a"),
    ("ZADD k inf a", "ZINCRBY k -inf a"),
    ("ZADD k 1 a 2 b", "ZREM k nope"),
    ("ZADD k 1 a 2 b", "ZREM k a b"),
    ("ZADD k 1 a 2 b", "ZREMRANGEBYRANK k 5 6"),
    ("ZADD k 1 a 2 b", "ZREMRANGEBYRANK k 0 0"),
    ("ZADD k 1 a 2 b", "ZREMRANGEBYSCORE k 5 6"),
    ("ZADD k 1 a 2 b", "ZREMRANGEBYSCORE k 1 6"),
    ("ZADD k 1 a 2 b", "ZREMRANGEBYLEX k [x +"),
    ("ZADD k 1 a 2 b", "ZREMRANGEBYLEX k - +"),
    ("ZADD k 1 a 2 b", "ZPOPMIN k 0"),
    ("ZADD k 1 a 2 b", "ZPOPMAX k"),
    ("ZADD k 1 a 2 b", "ZMPOP 2 d k MIN"),
    ("ZADD k 1 a 2 b", "BZPOPMIN d k 0"),
    ("ZADD k 1 a 2 b", "ZUNIONSTORE d 1 k"),
    ("ZADD k 1 a 2 b", "ZDIFFSTORE d 2 k k"),
    ("ZADD d 1 a 2 b", "ZDIFFSTORE d 2 k k"),
    ("ZADD k 1 a 2 b", "ZINTERSTORE k 2 k d"),
    ("ZADD k 1 a 2 b", "ZRANGESTORE d k 0 0"),
    ("ZADD k 1 a 2 b", "ZRANGESTORE d k 5 6"),
    ("SET d v", "ZRANGESTORE d k 5 6"),
    ("ZADD k 1 a 2 b", "ZRANGESTORE k k 0 -1"),
    ("ZADD k 1 a 2 b", "ZUNION 1 k"),
    ("ZADD k 1 a 2 b", "ZRANDMEMBER k"),
    ("ZADD k 1 a 2 b", "RENAME k k"),
    ("ZADD k 1 a 2 b", "RENAME k d"),
];

pub(crate) fn play(pair: &mut Pair, case: Case) -> Played {
    for (client, call) in case {
        match *call {
            "(pause)" => pair.pause(),
            call => say(pair, *client, call)?,
        }
    }
    pair.compare_keys()
}

/// Watches each of the two keys in turn.
pub(crate) fn watch(pair: &mut Pair, before: &str, change: &str) -> Played {
    for key in ["k", "d"] {
        for (client, call) in [
            (1, "FLUSHALL"),
            (1, before),
            (2, &format!("WATCH {key}")),
            (1, change),
            (2, "MULTI"),
            (2, "EXEC"),
        ] {
            say(pair, client, call)?;
        }
    }
    Ok(())
}

fn say(pair: &mut Pair, client: usize, call: &str) -> Played {
    let argv: Vec<&[u8]> = call.split(' ').map(str::as_bytes).collect();
    pair.call_as(client, &argv).map(drop)
}
