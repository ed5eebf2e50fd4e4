//! Clients that wait for lists and sorted sets: who is served, with what, in which order.

use crate::pair::Pair;
use crate::random::Random;
use crate::steps::Played;

/// How many clients may wait.
const CLIENTS: usize = 5;

/// One more that does not, outside of transactions.
const WRITER: usize = CLIENTS + 1;

/// What they wait for.
const WAITS: &[&str] = &[
    "BLPOP k1 0",
    "BLPOP k1 k2 0",
    "BLPOP k2 k1 k2 0",
    "BRPOP k1 0",
    "BRPOP k3 k1 0",
    "BLMOVE k1 k2 LEFT RIGHT 0",
    "BLMOVE k2 k1 RIGHT LEFT 0",
    "BLMOVE k1 k1 LEFT RIGHT 0",
    "BLMOVE k2 k3 LEFT LEFT 0",
    "BRPOPLPUSH k1 k3 0",
    "BRPOPLPUSH k3 k1 0",
    "BLMPOP 0 1 k1 LEFT",
    "BLMPOP 0 2 k2 k1 RIGHT COUNT 2",
    "BLMPOP 0 3 k1 k1 k3 LEFT COUNT 10",
    "BZPOPMIN k1 0",
    "BZPOPMAX k2 k1 0",
    "BZPOPMIN k1 k1 k3 0",
    "BZMPOP 0 1 k1 MIN",
    "BZMPOP 0 2 k2 k1 MAX COUNT 2",
];

/// What may serve them, or look at what is left. `K` is one of the keys.
const CALLS: &[&str] = &[
    "RPUSH K a",
    "RPUSH K a b",
    "LPUSH K a b c",
    "LPUSHX K a",
    "LPOP K",
    "RPOP K 2",
    "LMPOP 2 K K LEFT COUNT 2",
    "LMOVE K K LEFT RIGHT",
    "LTRIM K 1 1",
    "LREM K 0 a",
    "LINSERT K BEFORE a z",
    "LRANGE K 0 -1",
    "ZADD K 1 a",
    "ZADD K 1 a 2 b 3 c",
    "ZADD K XX 5 a",
    "ZINCRBY K 2 a",
    "ZREM K a",
    "ZPOPMIN K",
    "ZMPOP 2 K K MAX COUNT 2",
    "ZREMRANGEBYRANK K 0 0",
    "ZREMRANGEBYLEX K [b +",
    "ZREMRANGEBYSCORE K 1 1",
    "ZUNIONSTORE K 1 K",
    "ZINTERSTORE K 2 K K",
    "ZDIFFSTORE K 2 K K",
    "ZRANGESTORE K K 0 0",
    "ZRANGE K 0 -1 WITHSCORES",
    "SET K v",
    "GETSET K w",
    "DEL K",
    "DEL K K",
    "RENAME K K",
    "RENAMENX K K",
    "MOVE K 1",
    "PEXPIRE K -1",
    "EVAL redis.call('RPUSH',KEYS[1],'a','b')redis.call('RPUSH',KEYS[2],'c') 2 K K",
    "EVAL redis.call('ZADD',KEYS[1],1,'a')redis.call('DEL',KEYS[1])redis.call('LPUSH',KEYS[1],'c') 1 K",
    "EVAL return(redis.call('BLMPOP',0,1,KEYS[1],'LEFT')) 1 K",
    "EVAL return(redis.call('BZMPOP',0,1,KEYS[1],'MIN')) 1 K",
    "SWAPDB 0 1",
    "FLUSHALL",
];

pub(crate) fn play(pair: &mut Pair, random: &mut Random) -> Played {
    let mut in_transaction = [false; WRITER + 1];
    for client in 1..=CLIENTS {
        if random.one_in(3) {
            pair.speak_resp3(client)?;
        }
    }
    for step in 0..100 {
        let client = match random.below(3) {
            0 => 1 + random.below(CLIENTS),
            _ => WRITER,
        };
        let words = words(random, client, &mut in_transaction[client]);
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        pair.call_as(client, &argv)?;
        if step % 10 == 9 {
            pair.compare_keys()?;
        }
    }
    Ok(())
}

fn words(random: &mut Random, client: usize, in_transaction: &mut bool) -> Vec<String> {
    let may_wait = client != WRITER || *in_transaction;
    let call = match random.below(8) {
        0 if *in_transaction => {
            *in_transaction = false;
            "EXEC"
        }
        0 => {
            *in_transaction = true;
            "MULTI"
        }
        1 if client != WRITER && !*in_transaction => random.pick(&["WATCH k1", "WATCH k2 k3"]),
        2..5 if may_wait => random.pick(WAITS),
        _ => random.pick(CALLS),
    };
    let keys = ["k1", "k1", "k1", "k2", "k3"];
    let word = |word: &str| match word {
        "K" => random.pick(&keys).to_owned(),
        word => word.to_owned(),
    };
    call.split(' ').map(word).collect()
}
