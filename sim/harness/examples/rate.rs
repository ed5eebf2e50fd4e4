//! How many cases a second run on one core, and what is in them.
//!
//! `cargo run --release -p leaseline-sim --example rate -- [SECONDS] [FIRST SEED]`

use std::time::{Duration, Instant};

use leaseline_sim::{Mark, Runner, soak};

/// A state of Lua asks for many small pieces of memory.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|word| word.parse().unwrap_or(5));
    let seconds = numbers.next().unwrap_or(5);
    let first = numbers.next().unwrap_or(0);
    let began = Instant::now();
    let most = Duration::from_secs(seconds);
    let (coverage, runs, failure) = soak(&Runner::default(), first..u64::MAX, || {
        began.elapsed() < most
    });
    if let Some(failure) = failure {
        println!("seed {}\n{}", failure.seed, failure.story);
        std::process::exit(1);
    }
    let spent = began.elapsed().as_secs_f64();
    let each = |count: u64| count as f64 / runs as f64;
    println!(
        "{:.0} cases a second, with {:.0} lines and {:.0} commands each",
        runs as f64 / spent,
        each(coverage.lines),
        each(coverage.commands)
    );
    println!(
        "{:.0} lines a second, {:.0} commands a second",
        coverage.lines as f64 / spent,
        coverage.commands as f64 / spent
    );
    for mark in Mark::ALL {
        println!("{mark:?}: {}", coverage.marks.of(*mark));
    }
}
