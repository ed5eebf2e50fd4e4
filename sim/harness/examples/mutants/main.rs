//! Mistakes put into the scripts one at a time: how many does the simulator find?
//!
//! `cargo xtask mutants [--script NAME] [--cases N] [--seed S] [--jobs N] [--all]`

mod edit;
mod survivors;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use edit::Mutant;
use leaseline_sim::{Case, Runner, Scripts, case_of};
use survivors::Name;

const USAGE: &str =
    "usage: cargo xtask mutants [--script NAME] [--cases N] [--seed S] [--jobs N] [--list]

  --script NAME   only the mutants of lua/NAME.lua
  --cases N       cases for each at most (20000)
  --seed S        the seed of the first case (0)
  --jobs N        so many at a time (2)
  --list          say what the mutants are, and run nothing";

struct Arguments {
    script: Option<String>,
    cases: u64,
    seed: u64,
    jobs: usize,
    list: bool,
}

enum Fate {
    /// By which checker, after how many cases; 0: by a stored case.
    Killed(&'static str, u64),
    Survived,
    DoesNotCompile,
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
        list: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--list" {
            arguments.list = true;
            continue;
        }
        let mut value = || {
            words
                .next()
                .ok_or_else(|| format!("{word} needs a value\n{USAGE}"))
        };
        let number = |text: String| {
            text.parse::<u64>()
                .map_err(|_| format!("{word} {text}: not a number"))
        };
        match word.as_str() {
            "--script" => arguments.script = Some(value()?),
            "--cases" => arguments.cases = number(value()?)?,
            "--seed" => arguments.seed = number(value()?)?,
            "--jobs" => arguments.jobs = number(value()?)?.clamp(1, 64) as usize,
            _ => return Err(format!("unknown '{word}'\n{USAGE}")),
        }
    }
    Ok(arguments)
}

/// True: every survivor is in the table, and nothing else is.
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
    let stored = stored(&root.join("cases"))?;
    let fates = race(arguments, &todo, &equivalent, &stored);
    Ok(report(&todo, &fates, &equivalent, arguments))
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

/// The stored cases, which hold for the shipped scripts.
fn stored(folder: &PathBuf) -> Result<Vec<Case>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "case"));
    paths.sort();
    let case = |path: &PathBuf| {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        text.parse()
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    paths.iter().map(case).collect()
}

fn race(
    arguments: &Arguments,
    todo: &[(Name, Mutant)],
    equivalent: &BTreeMap<Name, String>,
    stored: &[Case],
) -> Vec<Option<Fate>> {
    let next = AtomicUsize::new(0);
    let fates = Mutex::new(todo.iter().map(|_| None).collect::<Vec<Option<Fate>>>());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, mutant)) = todo.get(at) else {
                        break;
                    };
                    let fate = fate(arguments, &name[0], mutant, stored);
                    if matches!(fate, Fate::Survived) && !equivalent.contains_key(name) {
                        println!("{}", survivors::row(name, "?"));
                    }
                    if (at + 1).is_multiple_of(50) {
                        eprintln!(
                            "{} of {} after {:.0} s",
                            at + 1,
                            todo.len(),
                            began.elapsed().as_secs_f64()
                        );
                    }
                    if let Ok(mut fates) = fates.lock() {
                        fates[at] = Some(fate);
                    }
                }
            });
        }
    });
    fates.into_inner().unwrap_or_default()
}

fn fate(arguments: &Arguments, script: &str, mutant: &Mutant, stored: &[Case]) -> Fate {
    let Ok(scripts) = Scripts::shipped().with(script, mutant.source.as_str()) else {
        return Fate::DoesNotCompile;
    };
    let runner = Runner::new(scripts);
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.cases);
    let stored = stored.iter().map(|case| (0, case.clone()));
    let cases = stored.chain(
        seeds
            .enumerate()
            .map(|(at, seed)| (at as u64 + 1, case_of(seed))),
    );
    for (number, case) in cases {
        match runner.run(&case) {
            Err(violation) if violation.property == "scripts" => return Fate::DoesNotCompile,
            Err(violation) => return Fate::Killed(violation.property, number),
            Ok(_) => {}
        }
    }
    Fate::Survived
}

fn report(
    todo: &[(Name, Mutant)],
    fates: &[Option<Fate>],
    equivalent: &BTreeMap<Name, String>,
    arguments: &Arguments,
) -> bool {
    let mut scripts: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    let mut checkers: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut good = true;
    for ((name, mutant), fate) in todo.iter().zip(fates) {
        let counts = scripts.entry(&name[0]).or_default();
        let excused = equivalent.contains_key(name);
        match fate {
            Some(Fate::DoesNotCompile) | None => counts[3] += 1,
            Some(Fate::Killed(checker, after)) => {
                counts[0] += 1;
                let by = checkers.entry(checker).or_default();
                *by = (by.0 + 1, by.1.max(*after));
                if excused {
                    good = false;
                    println!(
                        "{}.lua:{}: listed as equivalent, and killed by {checker} after {after} cases: {} -> {}",
                        name[0], mutant.line, name[2], name[3]
                    );
                }
            }
            Some(Fate::Survived) if excused => counts[2] += 1,
            Some(Fate::Survived) => counts[1] += 1,
        }
    }
    for name in equivalent.keys() {
        let known = todo.iter().any(|(other, _)| other == name);
        if !known
            && arguments
                .script
                .as_ref()
                .is_none_or(|script| *script == name[0])
        {
            good = false;
            println!("in the table, and no mutant any more: {}", name.join(" ¦ "));
        }
    }
    println!("\nscript          killed  survived  equivalent  not Lua");
    let mut sum = [0; 4];
    for (script, counts) in &scripts {
        let [killed, survived, equivalent, not] = counts;
        println!("{script:14} {killed:>7} {survived:>9} {equivalent:>11} {not:>8}");
        sum.iter_mut()
            .zip(counts)
            .for_each(|(sum, count)| *sum += count);
    }
    println!("\nby checker (how many, the latest after how many cases):");
    for (checker, (count, latest)) in &checkers {
        println!("  {checker}: {count}, {latest}");
    }
    let [killed, survived, equivalent, _] = sum;
    println!(
        "\n{} mutants that are Lua, {equivalent} of them equivalent; {killed} of the other {} killed: {:.1} %",
        killed + survived + equivalent,
        killed + survived,
        100.0 * killed as f64 / (killed + survived).max(1) as f64
    );
    good && survived == 0
}
