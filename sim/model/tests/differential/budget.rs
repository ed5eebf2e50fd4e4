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

/// Says every few seconds how far a long run is.
pub(crate) struct Progress {
    next: Instant,
}

impl Progress {
    const EVERY: Duration = Duration::from_secs(5);

    pub(crate) fn new() -> Self {
        Progress {
            next: Instant::now() + Self::EVERY,
        }
    }

    pub(crate) fn tell(&mut self, scenario: &Scenario, seed: u64, seeds: &Range<u64>) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + Self::EVERY;
        let (done, all) = (seed - seeds.start, seeds.end - seeds.start);
        // Not through `eprintln`, which the test harness would swallow.
        let _ = writeln!(
            std::io::stderr(),
            "{}: {} of {} calls, seed {seed}",
            scenario.name,
            done * scenario.calls,
            all * scenario.calls
        );
    }
}
