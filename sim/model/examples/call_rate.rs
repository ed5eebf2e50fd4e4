//! How many commands and scripts a second the model runs on one core.
//!
//! `cargo run --release -p leaseline-redis-model --example call_rate`

use std::time::{Duration, Instant};

use leaseline_redis_model::{Clock, Options, Profile, Reply, Server};

/// Long enough that the slowest case runs thousands of times.
const MEASURE: Duration = Duration::from_millis(700);

/// `redis.call` in a loop, so that the cost of entering a script disappears.
const CALLS_PER_SCRIPT: u32 = 1000;

fn main() {
    let mut server = server();
    let text = |words: &[&str]| -> Vec<Vec<u8>> {
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    };
    println!("{:<44} {:>12} {:>10}", "", "per second", "ns each");
    for words in [
        &["GET", "none"][..],
        &["SET", "key", "value"],
        &["LMOVE", "list", "list", "LEFT", "RIGHT"],
        &["HSET", "hash", "field", "value"],
        &["ZADD", "zset", "1700000000123", "member"],
        &["EVAL", "return 1", "0"],
    ] {
        prepare(&mut server);
        let name = words.iter().take(2).copied().collect::<Vec<_>>().join(" ");
        measure(&mut server, &name, &text(words), 1);
    }
    if let Reply::Bulk(sha) = server.execute(&[b"SCRIPT", b"LOAD", CLAIM.as_bytes()]) {
        prepare(&mut server);
        let mut words = text(&["EVALSHA", "", "3", "list", "zset", "hash", "30000"]);
        words[1] = sha;
        measure(&mut server, "EVALSHA of a claim with six calls", &words, 1);
    }
    for call in [
        "redis.call('GET', 'none')",
        "redis.call('SET', 'key', 'value')",
        "redis.call('LRANGE', 'list', 0, 9)",
        "redis.pcall('INCR', 'list')",
        "pcall(redis.call, 'INCR', 'list')",
        "cjson.decode('{\"id\":\"0123456789abcdef\",\"payload\":\"text\"}')",
    ] {
        prepare(&mut server);
        let script = format!("for i = 1, {CALLS_PER_SCRIPT} do {call} end");
        measure(
            &mut server,
            call,
            &text(&["EVAL", &script, "0"]),
            CALLS_PER_SCRIPT,
        );
    }
    let start = Instant::now();
    let made: Vec<Server> = (0..200)
        .map(|_| {
            let mut server = self::server();
            server.execute(&[b"EVAL", b"return 1", b"0"]);
            server
        })
        .collect();
    let each = start.elapsed().as_nanos() / made.len() as u128;
    println!(
        "{:<44} {:>12} {each:>10}",
        "a new server and its first script", ""
    );
    let start = Instant::now();
    for _ in 0..10_000 {
        server.reset(Clock::Virtual(0));
    }
    let each = start.elapsed().as_nanos() / 10_000;
    println!("{:<44} {:>12} {each:>10}", "reset", "");
}

/// The shape of a claim: look, lease, count, move.
const CLAIM: &str = "\
local stored = redis.call('LINDEX', KEYS[1], -1)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], now + ARGV[1], stored)
local token = redis.call('HINCRBY', KEYS[3], 'token', 1)
redis.call('HSET', KEYS[3], stored, token)
redis.call('LMOVE', KEYS[1], KEYS[1], 'RIGHT', 'LEFT')
return {stored, token, now}";

fn server() -> Server {
    Server::new(Options {
        profile: Profile::Redis70,
        clock: Clock::Virtual(1_700_000_000_000_000),
    })
}

fn prepare(server: &mut Server) {
    server.execute(&[b"FLUSHALL"]);
    for index in 0..100_u32 {
        server.execute(&[b"RPUSH", b"list", format!("message {index}").as_bytes()]);
    }
}

fn measure(server: &mut Server, name: &str, words: &[Vec<u8>], calls: u32) {
    let argv: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let (start, mut count) = (Instant::now(), 0_u64);
    while start.elapsed() < MEASURE {
        for _ in 0..10 {
            server.execute(&argv);
            count += u64::from(calls);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = count as f64 / seconds;
    println!("{name:<44} {rate:>12.0} {:>10.0}", 1e9 / rate);
}
