//! What becomes of one mutant.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use leaseline_sim::{Runner, Scripts, case_of};

use crate::deck::Known;
use crate::edit::Mutant;
use crate::script_tests::ScriptTests;

/// Seeds before the script tests, which take longer.
const SEEDS_FIRST: u64 = 1_000;

/// How many of the cards that killed a script's mutants are tried first.
const MOST_KILLERS: usize = 40;

pub(crate) enum Fate {
    /// By which checker or test, and in what.
    Killed(String, String),
    Survived(Difference),
    DoesNotCompile,
}

/// What was observed of a survivor, against the shipped scripts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Difference {
    /// Cards in which anything was.
    pub(crate) cards: usize,
    pub(crate) first: Option<String>,
}

/// Everything that a mutant has to pass.
pub(crate) struct Court {
    pub(crate) deck: Vec<Known>,
    pub(crate) tests: Option<ScriptTests>,
    pub(crate) seeds: Range<u64>,
    /// Which scripts run in each seed.
    pub(crate) seeded: Vec<u32>,
    /// By script: the cards that killed its mutants, the last first. They decide the order only.
    pub(crate) killers: Mutex<BTreeMap<String, Vec<usize>>>,
}

impl Court {
    /// `thorough`: with seeds and the script tests.
    pub(crate) fn try_one(
        &self,
        number: usize,
        script: &str,
        mutant: &Mutant,
        thorough: bool,
    ) -> Result<Fate, String> {
        let Ok(scripts) = Scripts::shipped().with(script, mutant.source.as_str()) else {
            return Ok(Fate::DoesNotCompile);
        };
        let runner = Runner::new(scripts.clone());
        if runner.check().is_err() {
            return Ok(Fate::DoesNotCompile);
        }
        let place = scripts.names().position(|name| name == script);
        let bit = 1 << place.unwrap_or_default();
        let first = self.killers_of(script);
        let rest = (0..self.deck.len())
            .filter(|at| self.deck[*at].scripts & bit != 0 && !first.contains(at));
        let mut difference = Difference::default();
        for at in first.iter().copied().chain(rest) {
            let known = &self.deck[at];
            match known.card.play(&runner) {
                Err(violation) => {
                    self.killed_by(script, at);
                    return Ok(Fate::Killed(violation.property.into(), known.name.clone()));
                }
                Ok(coverage) if coverage.trace != known.trace => {
                    difference.cards += 1;
                    difference.first.get_or_insert_with(|| known.name.clone());
                }
                Ok(_) => {}
            }
        }
        if !thorough {
            return Ok(Fate::Survived(difference));
        }
        let (start, end) = (self.seeds.start, self.seeds.end);
        let middle = start.saturating_add(SEEDS_FIRST).min(end);
        let seed_kills = |mut seeds: Range<u64>| {
            seeds.find_map(|seed| {
                if self.seeded[(seed - start) as usize] & bit == 0 {
                    return None;
                }
                let violation = runner.run(&case_of(seed)).err()?;
                Some(Fate::Killed(
                    violation.property.into(),
                    format!("seed {seed}"),
                ))
            })
        };
        if let Some(fate) = seed_kills(start..middle) {
            return Ok(fate);
        }
        if let Some(tests) = &self.tests
            && let Some(test) = tests.notice(number, &scripts)?
        {
            return Ok(Fate::Killed("script tests".into(), test));
        }
        Ok(seed_kills(middle..end).unwrap_or(Fate::Survived(difference)))
    }

    fn killers_of(&self, script: &str) -> Vec<usize> {
        let killers = self.killers.lock();
        killers.map_or_else(
            |_| Vec::new(),
            |all| all.get(script).cloned().unwrap_or_default(),
        )
    }

    fn killed_by(&self, script: &str, at: usize) {
        if let Ok(mut killers) = self.killers.lock() {
            let killers = killers.entry(script.into()).or_default();
            killers.retain(|other| *other != at);
            killers.insert(0, at);
            killers.truncate(MOST_KILLERS);
        }
    }
}
