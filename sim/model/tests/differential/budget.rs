//! How much to try.
//!
//! | variable | means |
//! |---|---|
//! | `LEASELINE_DIFFERENTIAL_COMMANDS` | about how many commands; of scripts, a fifth |
//! | `LEASELINE_DIFFERENTIAL_CASES` | how many sequences of each scenario instead |
//! | `LEASELINE_DIFFERENTIAL_SEED` | where to begin |

use std::io::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::scenario::Scenario;

/// The seeds to try.
pub(crate) fn seeds(scenario: &Scenario) -> Range<u64> {
    let first = setting("SEED").unwrap_or(1);
    let cases = setting("CASES")
        .or_else(|| {
            let commands = setting("COMMANDS")?;
            Some((commands / scenario.one_in / scenario.calls).max(1))
        })
        .unwrap_or(scenario.cases);
    first..first + cases
}

fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(format!("LEASELINE_DIFFERENTIAL_{name}")).ok()?;
    value.parse().ok()
}

/// Says how far a long run is.
pub(crate) struct Progress<'a> {
    scenario: &'a Scenario,
    seeds: Range<u64>,
    next: Instant,
}

impl<'a> Progress<'a> {
    const EVERY: Duration = Duration::from_secs(5);

    pub(crate) fn new(scenario: &'a Scenario, seeds: Range<u64>) -> Self {
        let progress = Progress {
            scenario,
            seeds,
            next: Instant::now() + Self::EVERY,
        };
        if setting("COMMANDS").is_some() {
            progress.tell(progress.seeds.start);
        }
        progress
    }

    /// Says it every few seconds.
    pub(crate) fn step(&mut self, seed: u64) {
        if Instant::now() >= self.next {
            self.next = Instant::now() + Self::EVERY;
            self.tell(seed);
        }
    }

    fn tell(&self, seed: u64) {
        let Scenario { name, calls, .. } = self.scenario;
        let done = (seed - self.seeds.start) * calls;
        let all = (self.seeds.end - self.seeds.start) * calls;
        // Not through `eprintln`, which the test harness would swallow.
        let _ = writeln!(
            std::io::stderr(),
            "{name}: {done} of {all} calls, seed {seed}"
        );
    }
}
