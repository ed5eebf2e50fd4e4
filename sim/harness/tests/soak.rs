//! Seeds for as long as `SIM_SECONDS` says (5 by default), from `SIM_SEED` on (0 by default).

use std::time::{Duration, Instant};

use leaseline_sim::{Mark, Runner, case_of, run, soak};

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        Err(_) => default,
    }
}

#[test]
fn nothing_is_violated_for_a_while() {
    let most = Duration::from_secs(number("SIM_SECONDS", 5));
    let (first, began) = (number("SIM_SEED", 0), Instant::now());
    let (coverage, runs, failure) = soak(&Runner::default(), first..u64::MAX, || {
        began.elapsed() < most
    });
    if let Some(failure) = failure {
        panic!("seed {}\n{}", failure.seed, failure.story);
    }
    println!(
        "{runs} cases, {} commands; never reached: {:?}",
        coverage.commands,
        coverage.marks.missing()
    );
    assert!(runs > 0);
}

#[test]
fn a_case_has_the_same_trace_each_time() {
    for seed in 0..60 {
        let case = case_of(seed);
        let first = run(&case).expect("a case that holds");
        let second = run(&case).expect("a case that holds");
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn other_cases_have_other_traces() {
    let traces: std::collections::BTreeSet<u64> = (0..60)
        .map(|seed| run(&case_of(seed)).expect("a case that holds").trace)
        .collect();
    assert_eq!(traces.len(), 60);
}

#[test]
fn the_states_worth_reaching_are_reached() {
    let (coverage, ..) = soak(&Runner::default(), 0..400, || true);
    // Rare ones need more than a second; a long run looks at all of them.
    let rare = [
        Mark::AcceptedAfterWindow,
        Mark::ClockWentBack,
        Mark::Purged,
        Mark::WrongType,
    ];
    let missing: Vec<_> = coverage.marks.missing();
    let missing: Vec<_> = missing.iter().filter(|mark| !rare.contains(mark)).collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}
