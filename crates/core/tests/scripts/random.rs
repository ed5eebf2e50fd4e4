//! Random operations of several consumers on one queue. Beside the queue runs a plain account of
//! it; after each operation the answer and every key must be as the account says.

mod account;
mod keys;
mod play;

use leaseline_core::Config;
use leaseline_core::config::Log;

use play::Play;

/// Operations of one game.
const STEPS: usize = 150;

/// Games of each configuration.
const GAMES: u64 = 17;

/// Plays games with a configuration, then takes everything out.
fn play(name: &str, change: impl Fn(&mut Config)) {
    for seed in 0..GAMES {
        let mut play = Play::new(format!("{name}, seed {seed}"), seed, &change);
        for _ in 0..STEPS {
            play.step();
        }
        play.take_everything_out();
    }
}

fn log(on: bool) -> Log {
    if on { Log::Unbounded } else { Log::Off }
}

#[test]
fn with_leases_every_key_is_as_it_must_be_after_each_step() {
    for limit in [None, Some(1), Some(2), Some(3), Some(5), Some(10)] {
        for (completed, failed) in [(false, false), (true, false), (false, true), (true, true)] {
            let name = format!("limit {limit:?}, logs {completed} and {failed}");
            play(&name, |config| {
                config.max_delivery_count = limit;
                (config.completed, config.failed) = (log(completed), log(failed));
            });
        }
    }
}

#[test]
fn without_leases_every_key_is_as_it_must_be_after_each_step() {
    for (completed, failed) in [(false, false), (true, false), (false, true), (true, true)] {
        let name = format!("no leases, logs {completed} and {failed}");
        play(&name, |config| {
            (config.visibility_timeout_ms, config.max_delivery_count) = (None, None);
            (config.completed, config.failed) = (log(completed), log(failed));
        });
    }
}
