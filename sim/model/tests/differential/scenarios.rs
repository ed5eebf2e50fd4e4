//! What is played on both servers, and how often: each scenario is a test.

use leaseline_redis_model::Reply;

use crate::near_stream_calls::NearCalls;
use crate::pair::Pair;
use crate::random::Random;
use crate::scenario::Scenario;
use crate::steps::Played;
use crate::stream_filler::Filler;
use crate::{
    blocking, calls, calls_lists, calls_streams, calls_zsets, expiry, json, queue, scripts,
    sessions, waits,
};

pub(crate) const COMMANDS: Scenario = Scenario {
    name: "commands_answer_alike",
    calls: 200,
    cases: 300,
    one_in: 1,
    play: |pair, random| {
        let forms = calls::some_forms(random);
        play_without_waiting(pair, random, &forms)
    },
};

pub(crate) const LISTS: Scenario = Scenario {
    name: "lists_answer_alike",
    calls: 200,
    cases: 50,
    one_in: 2,
    play: |pair, random| {
        let forms = [calls_lists::COMMANDS, calls_lists::BLOCKING];
        play_without_waiting(pair, random, &forms.concat())
    },
};

pub(crate) const SORTED_SETS: Scenario = Scenario {
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

pub(crate) const LARGE_SORTED_SETS: Scenario = Scenario {
    name: "large_sorted_sets_answer_alike",
    calls: 200,
    cases: 50,
    one_in: 2,
    play: |pair, random| play_without_waiting(pair, random, calls_zsets::OF_LARGE_SETS),
};

pub(crate) const WAITS: Scenario = Scenario {
    name: "who_waits_is_served_alike",
    calls: 100,
    cases: 100,
    one_in: 2,
    play: blocking::play,
};

pub(crate) const STREAMS: Scenario = Scenario {
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

pub(crate) const USED_STREAMS: Scenario = Scenario {
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

pub(crate) const STREAM_WAITS: Scenario = Scenario {
    name: "who_waits_for_streams_is_served_alike",
    calls: 100,
    cases: 100,
    one_in: 5,
    play: waits::play,
};

pub(crate) const STREAM_NODES: Scenario = Scenario {
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

pub(crate) const SESSIONS: Scenario = Scenario {
    name: "sessions_answer_alike",
    calls: 150,
    cases: 120,
    one_in: 2,
    play: sessions::play,
};

pub(crate) const EXPIRY: Scenario = Scenario {
    name: "times_to_live_end_alike",
    calls: 100,
    cases: 30,
    one_in: 10,
    play: expiry::play,
};

pub(crate) const SCRIPTS: Scenario = Scenario {
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

pub(crate) const QUEUE: Scenario = Scenario {
    name: "our_scripts_answer_alike",
    calls: 100,
    cases: 60,
    one_in: 5,
    play: queue::play,
};

pub(crate) const JSON: Scenario = Scenario {
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

pub(crate) const BINARY: Scenario = Scenario {
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

pub(crate) const LIBRARIES: Scenario = Scenario {
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

pub(crate) const NUMBERS: Scenario = Scenario {
    name: "numbers_are_written_alike",
    calls: 300,
    cases: 20,
    one_in: 5,
    play: write_numbers,
};

/// All of them, for tests of the comparison itself.
#[cfg(feature = "planted-faults")]
pub(crate) const SCENARIOS: [&Scenario; 8] = [
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
