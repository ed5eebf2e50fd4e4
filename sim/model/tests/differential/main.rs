//! The model and a real Redis 7.0 side by side: random commands and scripts, every reply compared
//! byte for byte, and all keys after each sequence.
//!
//! Needs `redis-server` on the path; without it the tests say on standard error that they did
//! not run. `make diff N=100000` tries more; [`budget`] has the variables. Where the servers
//! differ, the test fails with the shortest sequence it can find and the line that repeats it.

mod blocking;
mod budget;
mod calls;
mod calls_hashes;
mod calls_keys;
mod calls_lists;
mod calls_sets;
mod calls_streams;
mod calls_strings;
mod calls_zsets;
mod expiry;
mod extreme_scripts;
mod frame;
mod json;
mod keys;
mod known_cases;
mod near_stream_calls;
mod pair;
#[cfg(feature = "planted-faults")]
mod planted_faults;
mod queue;
mod random;
mod real_server;
mod real_stream;
mod scenario;
mod scripts;
mod sessions;
mod steps;
mod stream_filler;
mod times;
mod unordered;
mod waits;
mod wire;

use leaseline_redis_model::Reply;
use near_stream_calls::NearCalls;
use pair::Pair;
use random::Random;
use scenario::Scenario;
use steps::Played;
use stream_filler::Filler;

const COMMANDS: Scenario = Scenario {
    name: "commands_answer_alike",
    calls: 200,
    cases: 300,
    one_in: 1,
    play: |pair, random| {
        let forms = calls::some_forms(random);
        play_without_waiting(pair, random, &forms)
    },
};

const LISTS: Scenario = Scenario {
    name: "lists_answer_alike",
    calls: 200,
    cases: 50,
    one_in: 2,
    play: |pair, random| {
        let forms = [calls_lists::COMMANDS, calls_lists::BLOCKING];
        play_without_waiting(pair, random, &forms.concat())
    },
};

const SORTED_SETS: Scenario = Scenario {
    name: "sorted_sets_answer_alike",
    calls: 200,
    cases: 50,
    one_in: 2,
    play: |pair, random| {
        let forms = [
            calls_zsets::COMMANDS,
            calls_zsets::RANDOM,
            calls_zsets::BLOCKING,
        ];
        play_without_waiting(pair, random, &forms.concat())
    },
};

const LARGE_SORTED_SETS: Scenario = Scenario {
    name: "large_sorted_sets_answer_alike",
    calls: 200,
    cases: 50,
    one_in: 2,
    play: |pair, random| play_without_waiting(pair, random, calls_zsets::OF_LARGE_SETS),
};

const WAITS: Scenario = Scenario {
    name: "who_waits_is_served_alike",
    calls: 100,
    cases: 100,
    one_in: 2,
    play: blocking::play,
};

const STREAMS: Scenario = Scenario {
    name: "streams_answer_alike",
    calls: 300,
    cases: 100,
    one_in: 2,
    play: |pair, random| {
        if random.one_in(2) {
            pair.speak_resp3(0)?;
        }
        for step in 0..300 {
            pair.call_words(&calls_streams::call(random))?;
            if step % 30 == 29 {
                pair.compare_keys()?;
            }
        }
        Ok(())
    },
};

const USED_STREAMS: Scenario = Scenario {
    name: "streams_that_are_used_answer_alike",
    calls: 300,
    cases: 100,
    one_in: 2,
    play: |pair, random| {
        let mut calls = NearCalls::default();
        for step in 0..300 {
            let reply = pair.call_words(&calls.call(random))?;
            calls.learn(&reply);
            if step % 10 == 9 {
                pair.compare_keys()?;
            }
        }
        Ok(())
    },
};

const STREAM_WAITS: Scenario = Scenario {
    name: "who_waits_for_streams_is_served_alike",
    calls: 100,
    cases: 100,
    one_in: 5,
    play: waits::play,
};

const STREAM_NODES: Scenario = Scenario {
    name: "stream_nodes_end_alike",
    calls: 3000,
    cases: 10,
    one_in: 2,
    play: |pair, random| {
        let mut filler = Filler::default();
        for _ in 0..3000 {
            pair.call_words(&filler.call(random))?;
        }
        Ok(())
    },
};

const SESSIONS: Scenario = Scenario {
    name: "sessions_answer_alike",
    calls: 150,
    cases: 120,
    one_in: 2,
    play: sessions::play,
};

const EXPIRY: Scenario = Scenario {
    name: "times_to_live_end_alike",
    calls: 100,
    cases: 30,
    one_in: 10,
    play: expiry::play,
};

const SCRIPTS: Scenario = Scenario {
    name: "scripts_answer_alike",
    calls: 60,
    cases: 100,
    one_in: 5,
    play: |pair, random| {
        if random.one_in(3) {
            pair.speak_resp3(0)?;
        }
        for step in 0..60 {
            let script = scripts::script(random);
            pair.call(&[b"EVAL", script.as_bytes(), b"2", b"k1", b"k2", b"arg"])?;
            if step % 10 == 9 {
                pair.compare_keys()?;
            }
        }
        Ok(())
    },
};

const QUEUE: Scenario = Scenario {
    name: "our_scripts_answer_alike",
    calls: 100,
    cases: 60,
    one_in: 5,
    play: queue::play,
};

const JSON: Scenario = Scenario {
    name: "json_reads_alike",
    calls: 300,
    cases: 20,
    one_in: 5,
    play: |pair, random| {
        for _ in 0..300 {
            let text = json::text(random);
            pair.call(&[b"EVAL", json::SCRIPT.as_bytes(), b"0", &text])?;
        }
        Ok(())
    },
};

const BINARY: Scenario = Scenario {
    name: "binary_reads_alike",
    calls: 300,
    cases: 20,
    one_in: 5,
    play: |pair, random| {
        for _ in 0..150 {
            let bytes = scripts::bytes(random);
            let offset = random.pick(&["0", "1", "2", "-1", "9"]).as_bytes();
            let script = scripts::READ_MSGPACK.as_bytes();
            pair.call(&[b"EVAL", script, b"0", &bytes, offset])?;
            let (script, layout) = (scripts::READ_STRUCT.as_bytes(), scripts::layout(random));
            pair.call(&[b"EVAL", script, b"0", &bytes, layout.as_bytes()])?;
        }
        Ok(())
    },
};

const LIBRARIES: Scenario = Scenario {
    name: "scripts_find_the_same_names",
    calls: 1,
    cases: 1,
    one_in: 1_000_000,
    play: |pair, _| {
        let names = pair.call(&[b"EVAL", scripts::ALL_NAMES.as_bytes(), b"0"])?;
        assert!(matches!(names, Reply::Array(names) if names.len() > 150));
        Ok(())
    },
};

const NUMBERS: Scenario = Scenario {
    name: "numbers_are_written_alike",
    calls: 300,
    cases: 20,
    one_in: 5,
    play: write_numbers,
};

/// All of them, for tests of the comparison itself.
#[cfg(feature = "planted-faults")]
const SCENARIOS: [&Scenario; 8] = [
    &COMMANDS, &LISTS, &SCRIPTS, &SESSIONS, &QUEUE, &JSON, &NUMBERS, &EXPIRY,
];

/// Calls of one client, with those that might have to wait in a transaction.
fn play_without_waiting(pair: &mut Pair, random: &mut Random, forms: &[calls::Form]) -> Played {
    if random.one_in(3) {
        pair.speak_resp3(0)?;
    }
    for _ in 0..200 {
        let words = calls::call_of(random, forms);
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let name = words[0].to_ascii_uppercase();
        match name.starts_with('B') && !name.starts_with("BIT") {
            true => pair.call_in_transaction(&argv)?,
            false => drop(pair.call(&argv)?),
        }
    }
    Ok(())
}

fn write_numbers(pair: &mut Pair, random: &mut Random) -> Played {
    const SCRIPT: &[u8] = b"\
local n = tonumber(ARGV[1])
redis.call('SET', 'n', n)
redis.call('ZADD', 'z', ARGV[1], 'm')
return {n, redis.call('GET', 'n'), tostring(n), redis.call('ZSCORE', 'z', 'm'), cjson.encode(n)}";
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
        pair.call(&[b"EVAL", SCRIPT, b"0", text.as_bytes()])?;
    }
    Ok(())
}

#[test]
fn commands_answer_alike() {
    COMMANDS.check();
}

#[test]
fn lists_answer_alike() {
    LISTS.check();
}

#[test]
fn sorted_sets_answer_alike() {
    SORTED_SETS.check();
}

#[test]
fn large_sorted_sets_answer_alike() {
    LARGE_SORTED_SETS.check();
}

#[test]
fn who_waits_is_served_alike() {
    WAITS.check();
}

#[test]
fn known_cases_answer_alike() {
    let Some(mut pair) = Pair::start("known_cases_answer_alike") else {
        return;
    };
    for case in known_cases::WAITING.iter().chain([&known_cases::GROWING]) {
        pair.clear();
        let played = known_cases::play(&mut pair, case);
        assert!(played.is_ok(), "{case:#?}\n{played:?}");
    }
}

#[test]
fn extreme_scripts_answer_alike() {
    let Some(mut pair) = Pair::start("extreme_scripts_answer_alike") else {
        return;
    };
    for script in extreme_scripts::SCRIPTS {
        let played = pair.call(&[b"EVAL", script.as_bytes(), b"0"]);
        assert!(played.is_ok(), "{script}: {played:?}");
    }
}

#[test]
fn watches_break_alike() {
    let Some(mut pair) = Pair::start("watches_break_alike") else {
        return;
    };
    for (before, change) in known_cases::WATCHED {
        pair.clear();
        let played = known_cases::watch(&mut pair, before, change);
        assert!(played.is_ok(), "{before}, {change}: {played:?}");
    }
}

#[test]
fn streams_answer_alike() {
    STREAMS.check();
}

#[test]
fn streams_that_are_used_answer_alike() {
    USED_STREAMS.check();
}

#[test]
fn who_waits_for_streams_is_served_alike() {
    STREAM_WAITS.check();
}

#[test]
fn stream_nodes_end_alike() {
    STREAM_NODES.check();
}

#[test]
fn sessions_answer_alike() {
    SESSIONS.check();
}

#[test]
fn times_to_live_end_alike() {
    EXPIRY.check();
}

#[test]
fn scripts_answer_alike() {
    SCRIPTS.check();
}

#[test]
fn our_scripts_answer_alike() {
    QUEUE.check();
}

#[test]
fn json_reads_alike() {
    JSON.check();
}

#[test]
fn binary_reads_alike() {
    BINARY.check();
}

#[test]
fn scripts_find_the_same_names() {
    LIBRARIES.check();
}

#[test]
fn numbers_are_written_alike() {
    NUMBERS.check();
}
