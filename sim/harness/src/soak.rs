//! Many cases from seeds.

use std::ops::Range;

use crate::case::{Case, decode};
use crate::minimise::minimise;
use crate::run::{Coverage, Runner};
use crate::story;
use crate::violation::Violation;

/// Bytes of a seed's case.
const BYTES: usize = 900;

/// A case that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed that it comes from.
    pub seed: u64,
    /// The case as the seed gave it.
    pub original: Case,
    /// The shortest that fails in the same way.
    pub case: Case,
    /// What does not hold.
    pub violation: Violation,
    /// The shortened history, and the line that replays it.
    pub story: String,
}

/// The case of a seed.
pub fn case_of(seed: u64) -> Case {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(BYTES);
    while bytes.len() < BYTES {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend((word ^ (word >> 31)).to_le_bytes());
    }
    decode(&bytes)
}

/// Runs the cases of seeds until one fails or `goes_on` says no. Gives what was reached, how many
/// seeds were run, and the failure, made short.
pub fn soak(
    runner: &Runner,
    seeds: Range<u64>,
    mut goes_on: impl FnMut() -> bool,
) -> (Coverage, u64, Option<Failure>) {
    let mut coverage = Coverage::default();
    let mut runs = 0;
    for seed in seeds {
        if !goes_on() {
            break;
        }
        let original = case_of(seed);
        runs += 1;
        match runner.run(&original) {
            Ok(reached) => coverage.add(&reached),
            Err(violation) => {
                let failure = failure(runner, seed, original, &violation);
                return (coverage, runs, Some(failure));
            }
        }
    }
    (coverage, runs, None)
}

/// Makes a failing case short, and tells it.
pub fn failure(runner: &Runner, seed: u64, original: Case, violation: &Violation) -> Failure {
    let (case, violation) = minimise(runner, &original, violation);
    let story = story::tell(runner, &case, &violation);
    Failure {
        seed,
        original,
        case,
        violation,
        story,
    }
}
