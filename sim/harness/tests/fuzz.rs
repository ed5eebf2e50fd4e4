//! The bodies of `fuzz/` on random bytes, for a second each.

use std::time::{Duration, Instant};

use leaseline_sim::fuzz::BODIES;

/// Bytes that seeds stand for, from few to many.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (word ^ (word >> 27))
            .wrapping_mul(0x94d0_49bb_1331_11eb)
            .to_le_bytes()[3]
    };
    (0..seed % 400).map(|_| next()).collect()
}

#[test]
fn every_body_takes_random_bytes() {
    for (name, body) in BODIES {
        let (began, mut runs) = (Instant::now(), 0);
        while began.elapsed() < Duration::from_secs(1) {
            if let Err(violation) = body(&bytes(runs)) {
                panic!("{name} of the bytes of seed {runs}: {violation}");
            }
            runs += 1;
        }
        println!("{name}: {runs} runs");
        assert!(runs > 0);
    }
}

#[test]
fn records_that_nearly_are_some_are_removed() {
    let body = leaseline_sim::fuzz::claim_record;
    for text in [
        "",
        "[",
        "[]",
        "[1,2]",
        "{}",
        "null",
        "[\"a message\",\"1\"]",
        "[\"a\",\"1\",[]]",
        "[\"a\",\"1\",7]",
        "[[[[",
        "\"\\ud800\"",
        "1e400",
    ] {
        if let Err(violation) = body(text.as_bytes()) {
            panic!("{violation}");
        }
    }
}
