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
mod scenarios;
mod scripts;
mod sessions;
mod steps;
mod stream_filler;
mod times;
mod unordered;
mod waits;
mod wire;

use pair::Pair;
use scenarios::{
    BINARY, COMMANDS, EXPIRY, JSON, LARGE_SORTED_SETS, LIBRARIES, LISTS, NUMBERS, QUEUE, SCRIPTS,
    SESSIONS, SORTED_SETS, STREAM_NODES, STREAM_WAITS, STREAMS, USED_STREAMS, WAITS,
};

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
