//! Makes a failing case shorter: deletes chunks, then pairs, then lowers numbers.

use crate::case::{Case, KINDS, Op, SETTINGS};
use crate::run::Runner;
use crate::violation::Violation;

/// Runs that one minimisation may take.
const MOST_TRIES: u32 = 20_000;

/// Pairs are tried in cases of up to so many lines.
const MOST_FOR_PAIRS: usize = 60;

/// The shortest case found that violates the same property, and its violation.
pub fn minimise(runner: &Runner, case: &Case, violation: &Violation) -> (Case, Violation) {
    let mut search = Search {
        runner,
        best: case.clone(),
        violation: violation.clone(),
        tries: 0,
    };
    while search.tries < MOST_TRIES {
        let before = search.best.clone();
        search.delete_chunks();
        search.delete_pairs();
        search.lower_settings();
        search.lower_numbers();
        if search.best == before {
            break;
        }
    }
    (search.best, search.violation)
}

struct Search<'a> {
    runner: &'a Runner,
    best: Case,
    violation: Violation,
    tries: u32,
}

impl Search<'_> {
    /// Takes a case that fails in the same way.
    fn take(&mut self, case: Case) -> bool {
        if self.tries >= MOST_TRIES || case == self.best {
            return false;
        }
        self.tries += 1;
        match self.runner.run(&case) {
            Err(violation) if violation.property == self.violation.property => {
                (self.best, self.violation) = (case, violation);
                true
            }
            _ => false,
        }
    }

    fn delete_chunks(&mut self) {
        let mut size = self.best.ops.len().max(1);
        while size > 0 {
            let mut at = 0;
            while at < self.best.ops.len() {
                let mut case = self.best.clone();
                case.ops.drain(at..(at + size).min(case.ops.len()));
                if !self.take(case) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    fn delete_pairs(&mut self) {
        if self.best.ops.len() > MOST_FOR_PAIRS {
            return;
        }
        let mut first = 0;
        while first < self.best.ops.len() {
            let mut second = first + 1;
            while second < self.best.ops.len() {
                let mut case = self.best.clone();
                case.ops.remove(second);
                case.ops.remove(first);
                if !self.take(case) {
                    second += 1;
                }
            }
            first += 1;
        }
    }

    fn lower_settings(&mut self) {
        for (at, (name, choices)) in SETTINGS.iter().enumerate() {
            for choice in *choices {
                if self.best.settings.values()[at] == *choice {
                    break;
                }
                let mut case = self.best.clone();
                if let Some(setting) = case.settings.find(name) {
                    *setting = *choice;
                }
                if self.take(case) {
                    break;
                }
            }
        }
    }

    fn lower_numbers(&mut self) {
        for at in 0..self.best.ops.len() {
            let kind = self.best.ops[at].kind();
            for field in 0..KINDS[kind].fields.len() {
                for number in 0..self.best.ops[at].numbers()[field] {
                    let mut case = self.best.clone();
                    let mut numbers = case.ops[at].numbers();
                    numbers[field] = number;
                    case.ops[at] = Op::build(kind, numbers);
                    if self.take(case) {
                        break;
                    }
                }
            }
        }
    }
}
