//! The model and a real Redis 7.0 side by side: random commands and scripts, every reply
//! compared, and the key spaces after each sequence.
//!
//! Needs `redis-server` on the path; without it the tests say on standard error that they did
//! not run. `LEASELINE_DIFFERENTIAL_SEED` repeats a failure, `LEASELINE_DIFFERENTIAL_CASES`
//! makes the run longer.

mod calls;
mod calls_streams;
mod random;
mod real_server;
mod real_stream;
mod scripts;
mod times;
mod waits;
mod wire;

use std::collections::BTreeMap;
use std::io::Write as _;

use calls_streams::{Filler, NearCalls};
use leaseline_redis_model::{Clock, Entry, Options, Profile, Protocol, Reply, Server};
use random::Random;
use real_server::RealServer;
use waits::Waits;

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
        self.real.execute(&[b"HELLO", b"2"]);
        self.protocol = Protocol::Resp2;
        self.real.execute(&[b"FLUSHALL"]);
        self.real.execute(&[b"SCRIPT", b"FLUSH"]);
    }

    fn compare_words(&mut self, words: &[String], context: &str) -> Reply {
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.compare(&argv, context)
    }

    /// Runs one call on both and panics if the replies differ.
    fn compare(&mut self, argv: &[&[u8]], context: &str) -> Reply {
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
            near || self.same_bytes(argv, &real, &model),
            "{context}\n call: {}\n real: {real:?}\nmodel: {model:?}",
            show(argv)
        );
        model
    }

    /// Whether two replies to the same call are the same bytes, but for times near each other.
    fn same_bytes(&self, argv: &[&[u8]], real: &Reply, model: &Reply) -> bool {
        let (real, real_times) = times::taken_out(argv, real);
        let (model, model_times) = times::taken_out(argv, model);
        let mut times = real_times.iter().zip(&model_times);
        real.to_bytes(self.protocol) == model.to_bytes(self.protocol)
            && times.all(|(real, model)| (real - model).abs() <= CLOCK_TOLERANCE_MS)
    }

    /// Changes the protocol, until the next case.
    fn speak_resp3(&mut self) {
        self.real.execute(&[b"HELLO", b"3"]);
        self.model.execute(&[b"HELLO", b"3"]);
        self.protocol = Protocol::Resp3;
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
        case(&mut pair, &mut Random::new(seed), &context);
        pair.compare_dumps(&context);
    }
}

#[test]
fn commands_answer_alike() {
    for_each_seed("commands_answer_alike", 100, |pair, random, context| {
        for _ in 0..200 {
            pair.compare_words(&calls::call(random), context);
        }
    });
}

#[test]
fn streams_answer_alike() {
    for_each_seed("streams_answer_alike", 100, |pair, random, context| {
        if random.one_in(3) {
            pair.speak_resp3();
        }
        for step in 0..300 {
            pair.compare_words(&calls_streams::call(random), context);
            if step % 30 == 29 {
                pair.compare_dumps(context);
            }
        }
    });
}

#[test]
fn streams_that_are_used_answer_alike() {
    let test = "streams_that_are_used_answer_alike";
    for_each_seed(test, 100, |pair, random, context| {
        let mut calls = NearCalls::default();
        for step in 0..300 {
            let reply = pair.compare_words(&calls.call(random), context);
            calls.learn(&reply);
            if step % 10 == 9 {
                pair.compare_dumps(context);
            }
        }
    });
}

#[test]
fn who_waits_for_streams_is_served_alike() {
    let test = "who_waits_for_streams_is_served_alike";
    for_each_seed(test, 100, |pair, random, context| {
        let mut waits = Waits::new(&mut pair.model, &pair.real, random);
        for _ in 0..100 {
            waits.step(&mut pair.model, &mut pair.real, random, context);
        }
    });
}

#[test]
fn stream_nodes_end_alike() {
    for_each_seed("stream_nodes_end_alike", 10, |pair, random, context| {
        let mut filler = Filler::default();
        for _ in 0..3000 {
            pair.compare_words(&filler.call(random), context);
        }
    });
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
