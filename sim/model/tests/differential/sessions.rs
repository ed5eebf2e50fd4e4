//! Several clients: transactions, waiting for a key, subscriptions, databases.

use crate::calls;
use crate::pair::Pair;
use crate::random::Random;
use crate::steps::Played;
use crate::unordered;

const CLIENTS: usize = 3;

/// What a client says besides ordinary commands. Some are here more than once, to come up more
/// often.
const CALLS: &[&str] = &[
    "MULTI",
    "MULTI",
    "EXEC",
    "EXEC",
    "EXEC",
    "DISCARD",
    "WATCH k1",
    "WATCH k1 k2",
    "UNWATCH",
    "SET k1 a",
    "DEL k1 k2",
    "RPUSH k1 a b",
    "RPUSH k2 a",
    "LPUSH k3 x y z",
    "LPOP k1",
    "ZADD k3 1 a 2 b",
    "BLPOP k1 0",
    "BRPOP k2 k1 0",
    "BLMOVE k1 k2 LEFT RIGHT 0",
    "BRPOPLPUSH k2 k3 0",
    "BLMPOP 0 2 k1 k2 LEFT COUNT 2",
    "BZPOPMIN k3 0",
    "BZMPOP 0 1 k3 MAX",
    "SUBSCRIBE c",
    "PSUBSCRIBE c*",
    "UNSUBSCRIBE c d",
    "UNSUBSCRIBE",
    "PUNSUBSCRIBE",
    "PUBLISH c hello",
    "SELECT 1",
    "SELECT 0",
    "SELECT 0",
    "SWAPDB 0 1",
    "FLUSHDB",
    "HELLO 3",
    "HELLO 2",
    "RESET",
    "NOSUCH",
    "GET",
    "PING",
    "EVAL redis.call('RPUSH','k1','s')return(redis.call('LPOP','k1')) 0",
    "EVAL return(redis.call('RPUSH',KEYS[1],'s','t')) 1 k1",
    "SCRIPT FLUSH",
];

pub(crate) fn play(pair: &mut Pair, random: &mut Random) -> Played {
    let mut in_transaction = [false; CLIENTS + 1];
    for step in 0..150 {
        let client = 1 + random.below(CLIENTS);
        let words = match random.below(3) {
            0 => ordinary(random),
            _ => special(random, &mut in_transaction[client]),
        };
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        pair.call_as(client, &argv)?;
        if step % 15 == 14 {
            pair.compare_keys()?;
        }
    }
    Ok(())
}

/// One of [`CALLS`]. In a transaction nobody changes the protocol, subscribes or publishes: what
/// that answers may come in the middle of the reply, and its end could not be told.
fn special(random: &mut Random, in_transaction: &mut bool) -> Vec<String> {
    loop {
        let call = random.pick(CALLS);
        match call {
            "MULTI" => *in_transaction = true,
            "EXEC" | "DISCARD" | "RESET" => *in_transaction = false,
            _ => {}
        }
        let unfit = ["SUBSCRIBE", "HELLO", "PUBLISH"]
            .iter()
            .any(|word| call.contains(word));
        if !(*in_transaction && unfit) {
            return call.split(' ').map(str::to_owned).collect();
        }
    }
}

/// A call whose reply has no time in it and leaves nothing open.
fn ordinary(random: &mut Random) -> Vec<String> {
    const TIMES: [&str; 6] = [
        "TTL",
        "PTTL",
        "EXPIRETIME",
        "PEXPIRETIME",
        "XPENDING",
        "XINFO",
    ];
    loop {
        let words = calls::call(random);
        let name = words[0].to_ascii_uppercase();
        if !unordered::is_open(&name) && !TIMES.contains(&name.as_str()) {
            return words;
        }
    }
}
