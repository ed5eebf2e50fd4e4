//! How many commands and scripts a second the model runs on one core.
//!
//! `cargo run --release -p leaseline-redis-model --example call_rate`, with a part of a row's name for
//! that row alone.

use std::time::{Duration, Instant};

use leaseline_redis_model::{Clock, Options, Profile, Reply, Server};

/// A state of Lua asks for many small pieces of memory.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Long enough that the slowest case runs thousands of times.
const MEASURE: Duration = Duration::from_millis(700);

/// `redis.call` in a loop, so that the cost of entering a script disappears.
const CALLS_PER_SCRIPT: u32 = 1000;

/// How many messages wait when claims are measured.
const PENDING: usize = 20_000;

const CLAIM_KEYS: &[&str] = &["pending", "processing", "claim_ids", "claim_backrefs"];

const CLAIM_LEASE_KEYS: &[&str] = &[
    "pending",
    "processing",
    "lease_deadlines",
    "lease_tokens",
    "lease_token_counter",
    "delivery_counts",
    "dead_letters",
    "claim_refs",
    "claim_ids",
    "claim_backrefs",
];

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
    measure_claims(&mut server, "claim", CLAIM_KEYS, &[]);
    measure_claims(
        &mut server,
        "claim_lease",
        CLAIM_LEASE_KEYS,
        &["30000", "0"],
    );
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
    for _ in 0..10_000 {
        let mut server = self::server();
        server.execute(&[b"EVAL", b"return 1", b"0"]);
    }
    let each = start.elapsed().as_nanos() / 10_000;
    println!(
        "{:<44} {:>12} {each:>10}",
        "a new server, a script, and its end", ""
    );
    let start = Instant::now();
    for _ in 0..10_000 {
        server.reset(Clock::Virtual(0));
    }
    let each = start.elapsed().as_nanos() / 10_000;
    println!("{:<44} {:>12} {each:>10}", "reset", "");
}

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

/// Whether a row is asked for.
fn is_wanted(name: &str) -> bool {
    std::env::args()
        .nth(1)
        .is_none_or(|part| name.contains(&part))
}

fn measure(server: &mut Server, name: &str, words: &[Vec<u8>], calls: u32) {
    if !is_wanted(name) {
        return;
    }
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

/// Measures a claim script of the queue, one new message and one claim id per call.
fn measure_claims(server: &mut Server, script: &str, keys: &[&str], settings: &[&str]) {
    let name = format!("EVALSHA of {script}.lua");
    if !is_wanted(&name) {
        return;
    }
    let path = format!("{}/../../lua/{script}.lua", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read(path).expect("a script of the queue");
    let Reply::Bulk(sha1) = server.execute(&[b"SCRIPT", b"LOAD", &source]) else {
        panic!("{script} does not compile");
    };
    let count = (keys.len() + 1).to_string();
    let (mut spent, mut claimed) = (Duration::ZERO, 0_u64);
    while spent < MEASURE {
        server.execute(&[b"FLUSHALL"]);
        for index in 0..PENDING {
            let message = format!("\x1eRMQ1:{{\"id\":\"{index:032x}\",\"payload\":\"text\"}}");
            server.execute(&[b"LPUSH", b"pending", message.as_bytes()]);
        }
        let start = Instant::now();
        for index in 0..PENDING {
            let (result, id) = (format!("claim_result:{index}"), format!("claim-{index}"));
            let mut argv = vec![&b"EVALSHA"[..], &sha1, count.as_bytes()];
            argv.extend(keys.iter().map(|key| key.as_bytes()));
            argv.push(result.as_bytes());
            argv.extend(settings.iter().map(|setting| setting.as_bytes()));
            argv.extend([&b"60000"[..], b"claim", id.as_bytes()]);
            let reply = server.execute(&argv);
            assert!(matches!(reply, Reply::Array(_)), "{reply:?}");
        }
        spent += start.elapsed();
        claimed += PENDING as u64;
    }
    let rate = claimed as f64 / spent.as_secs_f64();
    println!("{name:<44} {rate:>12.0} {:>10.0}", 1e9 / rate);
}
