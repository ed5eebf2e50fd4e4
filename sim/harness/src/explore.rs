//! All cases up to a length over a small alphabet.

use crate::case::{Case, Op};
use crate::run::{Coverage, Runner};
use crate::violation::Violation;

/// Runs every sequence of `1..=length` operations of an alphabet, after a prefix, until one fails.
/// Gives what was reached, how many cases were run, and the case that failed: one of the shortest.
pub fn explore(
    runner: &Runner,
    start: &Case,
    alphabet: &[Op],
    length: usize,
) -> (Coverage, u64, Option<(Case, Violation)>) {
    let mut coverage = Coverage::default();
    let mut runs = 0;
    for length in 1..=length {
        let mut at = vec![0; length];
        loop {
            let mut case = start.clone();
            case.ops.extend(at.iter().map(|letter| alphabet[*letter]));
            runs += 1;
            match runner.run(&case) {
                Ok(reached) => coverage.add(&reached),
                Err(violation) => return (coverage, runs, Some((case, violation))),
            }
            // Counts up, with the letters as digits.
            let Some(digit) = at.iter().rposition(|letter| letter + 1 < alphabet.len()) else {
                break;
            };
            at[digit] += 1;
            at[digit + 1..].fill(0);
        }
    }
    (coverage, runs, None)
}
