//! The model and a real Redis 7.0 side by side: random commands and scripts, every reply
//! compared, and the key spaces after each sequence.
//!
//! Needs `redis-server` on the path; without it the tests say on standard error that they did
//! not run. `LEASELINE_DIFFERENTIAL_SEED` repeats a failure, `LEASELINE_DIFFERENTIAL_CASES`
//! makes the run longer.

mod calls;
mod calls_lists;
mod calls_zsets;
mod random;
mod real_server;
mod scripts;
mod wire;

use std::collections::BTreeMap;
use std::io::Write as _;

use leaseline_redis_model::{Clock, Entry, Options, Profile, Protocol, Reply, Server};
use random::Random;
use real_server::RealServer;

/// How far the two clocks may be apart.
const CLOCK_TOLERANCE_MS: i64 = 2000;

/// Both servers, empty.
struct Pair {
    model: Server,
    real: RealServer,
    protocol: Protocol,
}

impl Pair {
    /// Starts both, or reports that there is nothing to compare with.
    fn start(test: &str) -> Option<Self> {
        let missing = match RealServer::start() {
            Ok(mut real) => {
                let version = real.version();
                if version.starts_with("7.0.") {
                    let model = Server::new(Options {
                        profile: Profile::Redis70,
                        clock: Clock::Wall,
                    });
                    return Some(Pair {
                        model,
                        real,
                        protocol: Protocol::Resp2,
                    });
                }
                format!("redis-server is {version}, not 7.0")
            }
            Err(missing) => missing,
        };
        // Not through `eprintln`, which the test harness would swallow.
        let _ = writeln!(std::io::stderr(), "{test} DID NOT RUN: {missing}");
        None
    }

    fn clear(&mut self) {
        self.model.reset(Clock::Wall);
        self.real.inspect(&[b"FLUSHALL"]);
        self.real.inspect(&[b"SCRIPT", b"FLUSH"]);
    }

    /// Makes both speak a version of the protocol.
    fn speak(&mut self, protocol: Protocol) {
        let version: &[u8] = match protocol {
            Protocol::Resp2 => b"2",
            Protocol::Resp3 => b"3",
        };
        // Not compared: it tells the number of the connection.
        self.real.execute(&[b"HELLO", version]);
        self.model.execute(&[b"HELLO", version]);
        self.protocol = protocol;
    }

    /// Whether two replies have the same bytes on a connection.
    fn is_same(&self, real: &Reply, model: &Reply) -> bool {
        real.to_bytes(self.protocol) == model.to_bytes(self.protocol)
    }

    /// As [`Pair::compare`], in a transaction if the command might wait.
    fn compare_without_waiting(&mut self, argv: &[&[u8]], context: &str) {
        let waits = calls::MAY_WAIT
            .iter()
            .any(|name| argv[0].eq_ignore_ascii_case(name.as_bytes()));
        if !waits {
            return self.compare(argv, context);
        }
        self.compare(&[b"MULTI"], context);
        self.compare(argv, context);
        self.compare(&[b"EXEC"], context);
    }

    /// Runs one call on both and panics if the replies differ.
    fn compare(&mut self, argv: &[&[u8]], context: &str) {
        let real = self.real.execute(argv);
        let model = self.model.execute(argv);
        let tolerance = match argv[0].to_ascii_uppercase().as_slice() {
            b"TTL" | b"EXPIRETIME" => 2,
            b"PTTL" | b"PEXPIRETIME" => CLOCK_TOLERANCE_MS,
            _ => 0,
        };
        let near = matches!((&real, &model), (Reply::Integer(real), Reply::Integer(model))
            if real.abs_diff(*model) <= tolerance.unsigned_abs() && (*real < 0) == (*model < 0));
        assert!(
            near || self.is_same(&real, &model) || alike_at_random(argv, &real, &model),
            "{context}\n call: {}\n real: {real:?}\nmodel: {model:?}",
            show(argv)
        );
    }

    /// Compares a sequence of calls of some families.
    fn compare_calls(&mut self, random: &mut Random, families: &[&[calls::Form]], context: &str) {
        for _ in 0..200 {
            let words = calls::call_of(random, families);
            let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
            self.compare_without_waiting(&argv, context);
        }
    }

    fn compare_dumps(&mut self, context: &str) {
        let (real, model) = (self.real.dump(), self.model.dump());
        assert!(
            same(&real, &model),
            "{context}\n real: {real:#?}\nmodel: {model:#?}"
        );
        let gaps = self.model.unsupported();
        assert!(gaps.is_empty(), "{context}\nnot supported: {gaps:?}");
    }
}

/// Whether both answered as much as the other, where what is answered is up to chance.
fn alike_at_random(argv: &[&[u8]], real: &Reply, model: &Reply) -> bool {
    argv[0].eq_ignore_ascii_case(b"ZRANDMEMBER")
        && match (real, model) {
            (Reply::Array(real), Reply::Array(model)) => real.len() == model.len(),
            (Reply::Bulk(_), Reply::Bulk(_)) => true,
            _ => false,
        }
}

fn same(real: &BTreeMap<Vec<u8>, Entry>, model: &BTreeMap<Vec<u8>, Entry>) -> bool {
    let near = |real: Option<i64>, model: Option<i64>| match (real, model) {
        (Some(real), Some(model)) => (real - model).abs() <= CLOCK_TOLERANCE_MS,
        (real, model) => real == model,
    };
    real.len() == model.len()
        && real
            .iter()
            .zip(model)
            .all(|((key, real), (model_key, model))| {
                key == model_key
                    && real.content == model.content
                    && near(real.expires_at_ms, model.expires_at_ms)
            })
}

fn show(argv: &[&[u8]]) -> String {
    let words = argv
        .iter()
        .map(|word| format!("{:?}", String::from_utf8_lossy(word)));
    words.collect::<Vec<_>>().join(" ")
}

fn setting(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(otherwise)
}

/// Runs `case` for each of a number of seeds on empty servers.
fn for_each_seed(test: &str, cases: u64, mut case: impl FnMut(&mut Pair, &mut Random, &str)) {
    let Some(mut pair) = Pair::start(test) else {
        return;
    };
    let first = setting("LEASELINE_DIFFERENTIAL_SEED", 1);
    for seed in first..first + setting("LEASELINE_DIFFERENTIAL_CASES", cases) {
        let context = format!("{test}, LEASELINE_DIFFERENTIAL_SEED={seed}");
        pair.clear();
        pair.speak(match seed % 2 {
            0 => Protocol::Resp3,
            _ => Protocol::Resp2,
        });
        case(&mut pair, &mut Random::new(seed), &context);
        pair.compare_dumps(&context);
    }
}

#[test]
fn commands_answer_alike() {
    for_each_seed("commands_answer_alike", 100, |pair, random, context| {
        pair.compare_calls(random, calls::FAMILIES, context);
    });
}

#[test]
fn lists_answer_alike() {
    for_each_seed("lists_answer_alike", 50, |pair, random, context| {
        pair.compare_calls(random, &[calls_lists::COMMANDS], context);
    });
}

#[test]
fn sorted_sets_answer_alike() {
    for_each_seed("sorted_sets_answer_alike", 50, |pair, random, context| {
        pair.compare_calls(random, &[calls_zsets::COMMANDS], context);
    });
}

#[test]
fn large_sorted_sets_answer_alike() {
    for_each_seed(
        "large_sorted_sets_answer_alike",
        50,
        |pair, random, context| {
            pair.compare_calls(random, &[calls_zsets::OF_LARGE_SETS], context);
        },
    );
}

#[test]
fn scripts_answer_alike() {
    for_each_seed("scripts_answer_alike", 100, |pair, random, context| {
        for step in 0..60 {
            let script = scripts::script(random);
            let argv: [&[u8]; 6] = [b"EVAL", script.as_bytes(), b"2", b"k1", b"k2", b"arg"];
            pair.compare(&argv, context);
            if step % 10 == 9 {
                pair.compare_dumps(context);
            }
        }
    });
}

#[test]
fn json_reads_alike() {
    for_each_seed("json_reads_alike", 20, |pair, random, context| {
        for _ in 0..300 {
            let text = scripts::json(random);
            let argv: [&[u8]; 4] = [b"EVAL", scripts::JSON_SCRIPT.as_bytes(), b"0", &text];
            pair.compare(&argv, context);
        }
    });
}

#[test]
fn numbers_are_written_alike() {
    const SCRIPT: &[u8] = b"\
local n = tonumber(ARGV[1])
redis.call('SET', 'n', n)
redis.call('ZADD', 'z', ARGV[1], 'm')
return {n, redis.call('GET', 'n'), tostring(n), redis.call('ZSCORE', 'z', 'm'), cjson.encode(n)}";
    for_each_seed("numbers_are_written_alike", 20, |pair, random, context| {
        for _ in 0..300 {
            let number = match random.below(3) {
                0 => f64::from_bits(random.next()),
                1 => (random.next() >> random.below(64)) as f64 / 1000.0,
                _ => (random.next() >> random.below(64)) as f64,
            };
            let text = match number.is_finite() {
                true => format!("{number:e}"),
                false => "0.1".to_owned(),
            };
            pair.compare(&[b"EVAL", SCRIPT, b"0", text.as_bytes()], context);
        }
    });
}
