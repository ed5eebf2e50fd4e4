//! Random commands over a few keys of all types, wrong types and bad arguments included.

use crate::calls_hashes;
use crate::calls_keys;
use crate::calls_sets;
use crate::calls_streams;
use crate::calls_strings;
use crate::random::Random;

/// What stands for one argument, or for several.
#[derive(Clone, Copy)]
pub(crate) enum Slot {
    Key,
    Field,
    Value,
    Integer,
    Index,
    Count,
    Score,
    Bound,
    /// A time to live: far in the future or in the past, so that the clocks of the two servers
    /// need not agree.
    Lifetime,
    /// An absolute time, likewise.
    Instant,
    Word(&'static [&'static str]),
    /// A word or nothing.
    Maybe(&'static [&'static str]),
    /// One to three times what follows.
    Many(&'static [Slot]),
    /// What follows, or nothing.
    Perhaps(&'static [Slot]),
}

use Slot::{
    Bound, Count, Field, Index, Instant, Integer, Key, Lifetime, Many, Maybe, Perhaps, Score,
    Value, Word,
};

const SIDES: &[&str] = &["LEFT", "RIGHT", "left", "Right", "UP"];
const EXPIRE_OPTIONS: &[&str] = &["NX", "XX", "GT", "LT", "nx", "ZZ"];

/// A command's name and what it is called with.
pub(crate) type Form = (&'static str, &'static [Slot]);

/// The forms of calls, one list per family of commands.
const FAMILIES: &[&[Form]] = &[
    COMMANDS,
    calls_hashes::COMMANDS,
    calls_keys::COMMANDS,
    calls_sets::COMMANDS,
    calls_streams::COMMANDS,
    calls_strings::COMMANDS,
];

/// Without `DBSIZE`: a real server counts expired keys until it sweeps them.
const COMMANDS: &[Form] = &[
    ("APPEND", &[Key, Value]),
    ("DECR", &[Key]),
    ("DECRBY", &[Key, Integer]),
    ("DEL", &[Many(&[Key])]),
    ("ECHO", &[Value]),
    ("EXISTS", &[Many(&[Key])]),
    ("EXPIRE", &[Key, Lifetime, Maybe(EXPIRE_OPTIONS)]),
    (
        "EXPIREAT",
        &[Key, Instant, Maybe(EXPIRE_OPTIONS), Maybe(EXPIRE_OPTIONS)],
    ),
    ("EXPIRETIME", &[Key]),
    ("GET", &[Key]),
    ("GETDEL", &[Key]),
    ("GETSET", &[Key, Value]),
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
    ("INCR", &[Key]),
    ("INCRBY", &[Key, Integer]),
    ("LINDEX", &[Key, Index]),
    (
        "LINSERT",
        &[Key, Word(&["BEFORE", "AFTER", "MID"]), Value, Value],
    ),
    ("LLEN", &[Key]),
    ("LMOVE", &[Key, Key, Word(SIDES), Word(SIDES)]),
    ("LPOP", &[Key, Perhaps(&[Count])]),
    (
        "LPOS",
        &[
            Key,
            Value,
            Perhaps(&[Word(&["RANK", "COUNT", "MAXLEN", "X"]), Index]),
            Perhaps(&[Word(&["RANK", "COUNT", "MAXLEN"]), Index]),
        ],
    ),
    ("LPUSH", &[Key, Many(&[Value])]),
    ("LPUSH", &[Key, Many(&[Word(&["a", "b"])])]),
    ("LPUSHX", &[Key, Many(&[Value])]),
    ("LRANGE", &[Key, Index, Index]),
    ("LREM", &[Key, Index, Value]),
    ("LREM", &[Key, Index, Word(&["a", "b"])]),
    ("LSET", &[Key, Index, Value]),
    ("LTRIM", &[Key, Index, Index]),
    ("MGET", &[Many(&[Key])]),
    ("MSET", &[Many(&[Key, Value])]),
    ("PERSIST", &[Key]),
    ("PEXPIRE", &[Key, Lifetime, Maybe(EXPIRE_OPTIONS)]),
    ("PEXPIREAT", &[Key, Instant]),
    ("PEXPIRETIME", &[Key]),
    ("PING", &[Perhaps(&[Value])]),
    ("PSETEX", &[Key, Lifetime, Value]),
    ("PTTL", &[Key]),
    ("RENAME", &[Key, Key]),
    ("RENAMENX", &[Key, Key]),
    ("RPOP", &[Key, Perhaps(&[Count])]),
    ("RPOPLPUSH", &[Key, Key]),
    ("RPUSH", &[Key, Many(&[Value])]),
    ("RPUSHX", &[Key, Many(&[Value])]),
    (
        "SET",
        &[
            Key,
            Value,
            Maybe(&["NX", "XX", "xx", "BOGUS"]),
            Perhaps(&[Word(&["EX", "PX", "px"]), Lifetime]),
            Maybe(&["GET", "KEEPTTL", "keepttl", "EX"]),
            Perhaps(&[Word(&["EXAT", "PXAT", "GET"]), Instant]),
        ],
    ),
    ("SET", &[Key, Value]),
    ("SETEX", &[Key, Lifetime, Value]),
    ("SETNX", &[Key, Value]),
    ("STRLEN", &[Key]),
    ("TOUCH", &[Many(&[Key])]),
    ("TTL", &[Key]),
    ("TYPE", &[Key]),
    ("UNLINK", &[Many(&[Key])]),
    (
        "ZADD",
        &[
            Key,
            Maybe(&["NX", "XX", "GT", "LT", "xx"]),
            Maybe(&["CH", "INCR", "GT", "LT"]),
            Many(&[Score, Field]),
        ],
    ),
    ("ZADD", &[Key, Many(&[Score, Field])]),
    ("ZCARD", &[Key]),
    ("ZCOUNT", &[Key, Bound, Bound]),
    ("ZINCRBY", &[Key, Score, Field]),
    ("ZMSCORE", &[Key, Many(&[Field])]),
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
            Word(&["BYSCORE", "byscore", "REV"]),
            Maybe(&["WITHSCORES", "REV"]),
            Perhaps(&[Word(&["LIMIT"]), Index, Index]),
        ],
    ),
    (
        "ZRANGEBYSCORE",
        &[
            Key,
            Bound,
            Bound,
            Maybe(&["WITHSCORES", "X"]),
            Perhaps(&[Word(&["LIMIT"]), Index, Index]),
        ],
    ),
    ("ZRANK", &[Key, Field]),
    ("ZREM", &[Key, Many(&[Field])]),
    ("ZREMRANGEBYSCORE", &[Key, Bound, Bound]),
    ("ZREVRANGE", &[Key, Index, Index, Maybe(&["WITHSCORES"])]),
    (
        "ZREVRANGEBYSCORE",
        &[
            Key,
            Bound,
            Bound,
            Perhaps(&[Word(&["LIMIT"]), Index, Index]),
            Maybe(&["WITHSCORES"]),
        ],
    ),
    ("ZREVRANK", &[Key, Field]),
    ("ZSCORE", &[Key, Field]),
];

pub(crate) const KEYS: [&str; 5] = ["k1", "k2", "k3", "k4", ""];
const FIELDS: [&str; 5] = ["a", "b", "c", "aa", ""];
pub(crate) const VALUES: [&str; 12] = [
    "a",
    "b",
    "",
    "1",
    "-7",
    "0.5",
    "10",
    "9223372036854775807",
    "a b",
    "\u{1}\u{0}x",
    "é",
    "01",
];
const INTEGERS: [&str; 10] = [
    "1",
    "-1",
    "0",
    "100",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1.5",
    "x",
    "",
];
const INDICES: [&str; 9] = ["0", "1", "-1", "2", "-2", "5", "-100", "100", "x"];
const COUNTS: [&str; 6] = ["0", "1", "2", "100", "-1", "x"];
const SCORES: [&str; 16] = [
    "1",
    "2",
    "-1.5",
    "0.1",
    "3",
    "1e17",
    "1e300",
    "inf",
    "-inf",
    "-0",
    "0x10",
    "1700000000123.25",
    "nan",
    "x",
    "1e400",
    "5e-324",
];
const BOUNDS: [&str; 14] = [
    "-inf", "+inf", "0", "1", "(1", "3", "(3", "-1.5", "1e17", "(-inf", "(", "", "x", "nan",
];
const LIFETIMES: [&str; 4] = ["0", "-1", "9223372036854775807", "x"];
const INSTANTS: [&str; 7] = [
    "1",
    "0",
    "-5",
    "4102444800",
    "4102444800000",
    "9223372036854775807",
    "x",
];

/// One call: the command's name, then its arguments.
pub(crate) fn call(random: &mut Random) -> Vec<String> {
    let all: usize = FAMILIES.iter().map(|family| family.len()).sum();
    let chosen = random.below(all);
    let form = FAMILIES.iter().copied().flatten().nth(chosen);
    fill_form(random, form.expect("fewer than all"))
}

/// What a sequence is made of: everything, or what begins with the letters of a few. Of fewer
/// commands, more find the values of others.
pub(crate) fn some_forms(random: &mut Random) -> Vec<Form> {
    let mut forms: Vec<Form> = FAMILIES.iter().copied().flatten().copied().collect();
    if random.one_in(2) {
        let letters: Vec<_> = (0..3)
            .map(|_| forms[random.below(forms.len())].0.chars().next())
            .collect();
        forms.retain(|(name, _)| letters.contains(&name.chars().next()));
    }
    forms
}

/// One call of one family.
pub(crate) fn call_of(random: &mut Random, family: &[Form]) -> Vec<String> {
    let chosen = random.below(family.len());
    fill_form(random, &family[chosen])
}

fn fill_form(random: &mut Random, (name, slots): &Form) -> Vec<String> {
    let mut words = vec![match random.below(3) {
        0 => name.to_lowercase(),
        _ => (*name).to_owned(),
    }];
    for slot in *slots {
        fill(random, *slot, &mut words);
    }
    // A call with too many or too few arguments now and then.
    if random.one_in(40) {
        words.push(random.pick(&VALUES).to_owned());
    } else if random.one_in(40) && words.len() > 1 {
        words.pop();
    }
    words
}

fn fill(random: &mut Random, slot: Slot, words: &mut Vec<String>) {
    if matches!(slot, Lifetime) && random.below(7) < 3 {
        // Seldom the same twice: whether GT and LT find two equal ones equal is up to the clocks.
        let lifetime = 100_000 * (1 + random.below(1_000_000));
        words.push(lifetime.to_string());
        return;
    }
    let choices: &[&str] = match slot {
        Key => &KEYS,
        Field => &FIELDS,
        Value => &VALUES,
        Integer => &INTEGERS,
        Index => &INDICES,
        Count => &COUNTS,
        Score => &SCORES,
        Bound => &BOUNDS,
        Lifetime => &LIFETIMES,
        Instant => &INSTANTS,
        Word(choices) => choices,
        Maybe(choices) if random.one_in(3) => choices,
        Many(slots) => {
            for _ in 0..=random.below(3) {
                for slot in slots {
                    fill(random, *slot, words);
                }
            }
            return;
        }
        Perhaps(slots) if random.one_in(3) => {
            for slot in slots {
                fill(random, *slot, words);
            }
            return;
        }
        Maybe(_) | Perhaps(_) => return,
    };
    // Mostly a good argument: the first ones are.
    let reach = match random.below(4) {
        0 => choices.len(),
        _ => choices.len().div_ceil(2),
    };
    words.push(choices[random.below(reach)].to_owned());
}
