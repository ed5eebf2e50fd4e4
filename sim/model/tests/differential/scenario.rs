//! Kinds of random sequences, and what becomes of one in which the servers differ.

use std::fmt::Write as _;

use crate::budget::{self, Progress};
use crate::pair::Pair;
use crate::random::Random;
use crate::steps::{Difference, Played, Step};

/// A kind of random sequence.
pub(crate) struct Scenario {
    /// The name of its test.
    pub(crate) name: &'static str,
    /// How many calls a sequence has, about.
    pub(crate) calls: u64,
    /// How many sequences are enough for every run of the tests.
    pub(crate) cases: u64,
    /// Of so many commands that a long run is asked for, one is for this scenario.
    pub(crate) one_in: u64,
    pub(crate) play: fn(&mut Pair, &mut Random) -> Played,
}

impl Scenario {
    /// Tries the seeds that are asked for and panics, with the shortest sequence, if the servers
    /// differ.
    pub(crate) fn check(&self) {
        let Some(mut pair) = Pair::start(self.name) else {
            return;
        };
        let seeds = budget::seeds(self);
        let mut progress = Progress::new(self, seeds.clone());
        for seed in seeds {
            progress.step(seed);
            if let Err(difference) = self.try_seed(&mut pair, seed) {
                let (steps, difference) = shortened(&mut pair, difference);
                panic!("{}", self.report(seed, &steps, &difference));
            }
        }
    }

    /// Plays one sequence on empty servers and compares all keys in the end.
    pub(crate) fn try_seed(&self, pair: &mut Pair, seed: u64) -> Played {
        pair.clear();
        (self.play)(pair, &mut Random::new(seed))?;
        pair.compare_keys()
    }

    fn report(&self, seed: u64, steps: &[Step], difference: &Difference) -> String {
        let mut report = format!("{}, seed {seed}: {}\nafter\n", self.name, difference.what);
        for step in steps {
            writeln!(report, "{step}").expect("a string");
        }
        write!(
            report,
            "repeat it: make diff ONLY={} SEED={seed} N=1",
            self.name
        )
        .expect("a string");
        report
    }
}

/// Leaves out of what was done whatever the servers differ without.
pub(crate) fn shortened(pair: &mut Pair, mut difference: Difference) -> (Vec<Step>, Difference) {
    let mut steps = pair.take_steps();
    let mut size = steps.len().div_ceil(2);
    while size > 0 {
        let mut shorter = false;
        let mut from = 0;
        while from < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(from..(from + size).min(steps.len()));
            match play_again(pair, &fewer) {
                // The way to a gap of the model is not the way to a wrong reply.
                Err(still) if still.is_gap == difference.is_gap => {
                    // What came after the difference is not needed either.
                    (steps, difference) = (pair.take_steps(), still);
                    shorter = true;
                }
                _ => from += size,
            }
        }
        if size > 1 || !shorter {
            size /= 2;
        }
    }
    (steps, difference)
}

fn play_again(pair: &mut Pair, steps: &[Step]) -> Played {
    pair.clear();
    for step in steps {
        pair.repeat(step)?;
    }
    pair.compare_keys()
}
