//! What every mutant meets before seeds: the stored cases, the recipes and the sweeps, the quick
//! ones first.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use leaseline_sim::{Case, Coverage, Recipe, Runner, Violation, case_files, case_of, sweeps};

/// Something to play.
#[derive(Clone, Debug)]
pub(crate) enum Card {
    Case(Case),
    Recipe(Recipe),
}

impl Card {
    pub(crate) fn play(&self, runner: &Runner) -> Result<Coverage, Violation> {
        match self {
            Card::Case(case) => runner.run(case),
            Card::Recipe(recipe) => recipe.check(runner),
        }
    }
}

/// A card, and how it went with the shipped scripts.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) card: Card,
    /// The hash of everything that was observed.
    pub(crate) trace: u64,
    /// Which scripts ran, a bit for each. To a mistake in another one it says nothing.
    pub(crate) scripts: u32,
    took: Duration,
}

/// Which scripts run in each of these seeds, a bit for each.
pub(crate) fn scripts_of(seeds: Range<u64>) -> Result<Vec<u32>, String> {
    let runner = Runner::default();
    let scripts = |seed| {
        let coverage = runner.run(&case_of(seed));
        let coverage = coverage
            .map_err(|violation| format!("seed {seed}, with the shipped scripts: {violation}"))?;
        Ok(coverage.scripts)
    };
    seeds.map(scripts).collect()
}

/// All cards. They hold with the shipped scripts, or say which does not.
pub(crate) fn deck(root: &Path) -> Result<Vec<Known>, String> {
    let mut cards: Vec<(String, Card)> = Vec::new();
    for path in case_files(&root.join("cases"))? {
        let failed = |error: String| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let case = text.parse::<Case>();
        let case = case.map_err(|error| failed(error.to_string()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        cards.push((format!("case {name}"), Card::Case(case)));
    }
    for recipe in Recipe::of_folder(&root.join("recipes"))? {
        cards.push((format!("recipe {}", recipe.name), Card::Recipe(recipe)));
    }
    let swept = sweeps().into_iter();
    cards.extend(swept.map(|(name, case)| (format!("sweep {name}"), Card::Case(case))));

    let runner = Runner::default();
    let mut deck = Vec::with_capacity(cards.len());
    for (name, card) in cards {
        let began = Instant::now();
        let coverage = card
            .play(&runner)
            .map_err(|violation| format!("{name}, with the shipped scripts: {violation}"))?;
        deck.push(Known {
            name,
            card,
            trace: coverage.trace,
            scripts: coverage.scripts,
            took: began.elapsed(),
        });
    }
    // Stable: those of a kind stay together, and their order does not hang on a busy machine.
    deck.sort_by_key(|known| known.took.as_millis() / 100);
    Ok(deck)
}
