//! The table of mutants that survive and may: rows of `mutants.md`.

use std::collections::BTreeMap;

/// What names a mutant for people: script, rule, the line before and what is there instead. It has
/// no number of a line, so that a change elsewhere in the script leaves it.
pub(crate) type Name = [String; 4];

/// Why each may survive, by name.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<Name, String>, String> {
    let mut rows = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let Some(row) = line.strip_prefix("| `") else {
            continue;
        };
        let row = row.trim_end().trim_end_matches(" |");
        let Ok([script, rule, was, by, why]) =
            <[&str; 5]>::try_from(row.split(" ¦ ").collect::<Vec<_>>())
        else {
            return Err(format!("line {}: not five parts", number + 1));
        };
        if why.trim().len() < 10 {
            return Err(format!("line {}: no reason", number + 1));
        }
        let name = [script, rule, was, by].map(|part| part.trim_end_matches('`').to_owned());
        if rows.insert(name, why.trim().to_owned()).is_some() {
            return Err(format!("line {}: the same mutant twice", number + 1));
        }
    }
    Ok(rows)
}

/// The row of a mutant.
pub(crate) fn row(name: &Name, why: &str) -> String {
    format!("| `{} ¦ {why} |", name.join(" ¦ "))
}
