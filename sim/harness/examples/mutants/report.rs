//! The score, and what is wrong with the table.

use std::collections::BTreeMap;

use crate::edit::Mutant;
use crate::survivors::{self, Name};
use crate::trial::Fate;

/// The least share of the mutants that are not equivalent, in hundredths of a percent.
const LEAST: u64 = 9_500;

/// Prints it. True: enough are killed, and the table says what is.
pub(crate) fn report(
    todo: &[(Name, Mutant)],
    fates: &[Option<Fate>],
    equivalent: &BTreeMap<Name, String>,
    only: Option<&str>,
) -> bool {
    let mut scripts: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    let mut checkers: BTreeMap<&str, u64> = BTreeMap::new();
    let mut good = true;
    println!("\nSurvivors, as rows for mutants.md:");
    for ((name, mutant), fate) in todo.iter().zip(fates) {
        let counts = scripts.entry(&name[0]).or_default();
        let excused = equivalent.contains_key(name);
        match fate {
            Some(Fate::DoesNotCompile) | None => counts[3] += 1,
            Some(Fate::Killed(checker, by)) => {
                counts[0] += 1;
                *checkers.entry(checker).or_default() += 1;
                if excused {
                    good = false;
                    println!(
                        "{}.lua:{}: in the table, and killed by {checker} in '{by}': {} -> {}",
                        name[0], mutant.line, name[2], name[3]
                    );
                }
            }
            Some(Fate::Survived(_)) if excused => counts[2] += 1,
            Some(Fate::Survived(difference)) => {
                counts[1] += 1;
                let seen = match &difference.first {
                    None => "nothing differs".into(),
                    Some(first) => format!("differs in {} cases: {first}", difference.cards),
                };
                println!(
                    "{}",
                    survivors::row(name, &format!("? line {}, {seen}", mutant.line))
                );
            }
        }
    }
    for name in equivalent.keys() {
        let known = todo.iter().any(|(other, _)| other == name);
        if !known && only.is_none_or(|only| only == name[0]) {
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
    println!("\nkilled by:");
    for (checker, count) in &checkers {
        println!("  {checker}: {count}");
    }
    let [killed, survived, equivalent, _] = sum;
    let score = 10_000 * killed / (killed + survived).max(1);
    println!(
        "\n{} mutants that are Lua, {equivalent} of them equivalent; {killed} of the other {} killed: {}.{:02} %",
        killed + survived + equivalent,
        killed + survived,
        score / 100,
        score % 100,
    );
    good && score >= LEAST
}
