//! Mistakes put into the scripts one at a time: how many does the simulator find?
//!
//! Each meets the stored cases, the recipes and the sweeps, then seeds and the core's tests of the
//! scripts, until something fails. What survives and may is in `mutants.md`, with the reason.
//!
//! `cargo xtask mutants [--script NAME] [--cases N] [--seed S] [--jobs N] [--no-tests] [--all]`

mod deck;
mod edit;
mod report;
mod script_tests;
mod survivors;
mod trial;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use edit::Mutant;
use leaseline_sim::Scripts;
use report::report;
use script_tests::ScriptTests;
use survivors::Name;
use trial::{Court, Fate};

const USAGE: &str =
    "usage: cargo xtask mutants [--script NAME] [--cases N] [--seed S] [--jobs N] [--no-tests] [--all] [--list]

  --script NAME   only the mutants of lua/NAME.lua
  --cases N       seeds for each at most (20000)
  --seed S        the seed of the first case (0)
  --jobs N        so many at a time (2)
  --no-tests      without the core's tests of the scripts
  --all           all of it also for those that the table calls equivalent
  --list          say what the mutants are, and run nothing";

struct Arguments {
    script: Option<String>,
    cases: u64,
    seed: u64,
    jobs: usize,
    tests: bool,
    all: bool,
    list: bool,
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| run(&arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments {
        script: None,
        cases: 20_000,
        seed: 0,
        jobs: 2,
        tests: true,
        all: false,
        list: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" => arguments.list = true,
            "--all" => arguments.all = true,
            "--no-tests" => arguments.tests = false,
            _ => {
                option(&mut arguments, &word, words.next())?;
            }
        }
    }
    Ok(arguments)
}

fn option(arguments: &mut Arguments, word: &str, value: Option<String>) -> Result<(), String> {
    let value = || {
        value
            .clone()
            .ok_or_else(|| format!("{word} needs a value\n{USAGE}"))
    };
    let number = |text: String| {
        text.parse::<u64>()
            .map_err(|_| format!("{word} {text}: not a number"))
    };
    match word {
        "--script" => arguments.script = Some(value()?),
        "--cases" => arguments.cases = number(value()?)?,
        "--seed" => arguments.seed = number(value()?)?,
        "--jobs" => arguments.jobs = number(value()?)?.clamp(1, 64) as usize,
        _ => return Err(format!("unknown '{word}'\n{USAGE}")),
    }
    Ok(())
}
/// True: enough are killed, and the table says what is.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let shipped = Scripts::shipped();
    let names: Vec<&str> = shipped.names().collect();
    if let Some(name) = &arguments.script
        && !names.contains(&name.as_str())
    {
        return Err(format!(
            "there is no script '{name}'; there are {}",
            names.join(", ")
        ));
    }
    let wanted = |name: &str| {
        arguments
            .script
            .as_deref()
            .is_none_or(|wanted| wanted == name)
    };
    let mut todo: Vec<(Name, Mutant)> = Vec::new();
    for script in names.into_iter().filter(|name| wanted(name)) {
        let source = shipped.source(script).unwrap_or_default();
        for mutant in edit::mutants(source) {
            todo.push((name(script, source, &mutant, &todo), mutant));
        }
    }
    if arguments.list {
        for (name, mutant) in &todo {
            println!(
                "{}:{}: {}: {} -> {}",
                name[0], mutant.line, name[1], name[2], name[3]
            );
        }
        println!("{} mutants", todo.len());
        return Ok(true);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = root.join("mutants.md");
    let text =
        std::fs::read_to_string(&table).map_err(|error| format!("{}: {error}", table.display()))?;
    let equivalent =
        survivors::parse(&text).map_err(|error| format!("{}: {error}", table.display()))?;
    let began = Instant::now();
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.cases);
    let court = Court {
        deck: deck::deck(root)?,
        tests: match arguments.tests {
            true => Some(ScriptTests::build(root)?),
            false => None,
        },
        seeded: deck::scripts_of(seeds.clone())?,
        seeds,
        killers: Mutex::default(),
    };
    eprintln!(
        "{} mutants; {} cases before seeds, ready after {:.0} s",
        todo.len(),
        court.deck.len(),
        began.elapsed().as_secs_f64()
    );
    let fates = race(arguments, &court, &todo, &equivalent)?;
    let good = report(&todo, &fates, &equivalent, arguments.script.as_deref());
    println!("{:.0} s", began.elapsed().as_secs_f64());
    Ok(good)
}

/// A mutant's name. Equal lines of a script are told apart by their number among these.
fn name(script: &str, source: &str, mutant: &Mutant, others: &[(Name, Mutant)]) -> Name {
    let was = source
        .lines()
        .nth(mutant.line - 1)
        .unwrap_or_default()
        .trim();
    let plain = [script, mutant.rule, was, &mutant.by].map(str::to_owned);
    let mut name = plain.clone();
    let mut number = 1;
    while others.iter().any(|(other, _)| *other == name) {
        number += 1;
        name[1] = format!("{} #{number}", plain[1]);
    }
    name
}

fn race(
    arguments: &Arguments,
    court: &Court,
    todo: &[(Name, Mutant)],
    equivalent: &BTreeMap<Name, String>,
) -> Result<Vec<Option<Fate>>, String> {
    let next = AtomicUsize::new(0);
    let fates = Mutex::new(todo.iter().map(|_| None).collect::<Vec<Option<Fate>>>());
    let failed = Mutex::new(None);
    let began = Instant::now();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, mutant)) = todo.get(at) else {
                break;
            };
            // What the table excuses must pass the deck only, unless asked for.
            let thorough = arguments.all || !equivalent.contains_key(name);
            match court.try_one(at, &name[0], mutant, thorough) {
                Ok(fate) => {
                    if matches!(fate, Fate::Survived(_)) && !equivalent.contains_key(name) {
                        eprintln!(
                            "survives: {}:{} {}",
                            name[0],
                            mutant.line,
                            name[1..].join(" ¦ ")
                        );
                    }
                    if let Ok(mut fates) = fates.lock() {
                        fates[at] = Some(fate);
                    }
                }
                Err(error) => {
                    next.store(todo.len(), Ordering::Relaxed);
                    if let Ok(mut failed) = failed.lock() {
                        *failed = Some(error);
                    }
                }
            }
            if (at + 1).is_multiple_of(50) {
                eprintln!(
                    "{} of {} after {:.0} s",
                    at + 1,
                    todo.len(),
                    began.elapsed().as_secs_f64()
                );
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            scope.spawn(work);
        }
    });
    match failed.into_inner().unwrap_or_default() {
        Some(error) => Err(error),
        None => Ok(fates.into_inner().unwrap_or_default()),
    }
}
