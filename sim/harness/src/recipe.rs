//! Recipes: scenarios of public reports about queues, each a case with a header that says where it
//! comes from and what it must reach. `recipes/README.md` explains the header.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::case::Case;
use crate::marks::Mark;
use crate::run::{Coverage, Runner};
use crate::violation::Violation;

/// How many lines of a history are shown where a recipe missed what it is about.
const SHOWN: usize = 150;

const FIELDS: &[&str] = &["from", "cause", "holds", "reaches", "never"];

/// A case with a header.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The name of its file, without the ending.
    pub name: String,
    /// What happens.
    pub case: Case,
    /// The fields of the header by name.
    pub header: BTreeMap<String, String>,
    reaches: Vec<(Mark, u64)>,
    never: Vec<Mark>,
}

impl Recipe {
    /// Reads the text of a recipe.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let case = text.parse().map_err(|error| format!("{name}: {error}"))?;
        let header = header(text).map_err(|error| format!("{name}: {error}"))?;
        let field = |field| {
            let text = header.get(field).map_or("", String::as_str);
            marks(text).map_err(|error| format!("{name}: {field}: {error}"))
        };
        let (reaches, never) = (field("reaches")?, field("never")?);
        if reaches.is_empty() {
            return Err(format!("{name}: it reaches nothing"));
        }
        Ok(Self {
            name: name.into(),
            case,
            reaches,
            never: never.into_iter().map(|(mark, _)| mark).collect(),
            header,
        })
    }

    /// All recipes of a folder, in the order of their names.
    ///
    /// # Errors
    ///
    /// Which cannot be read, and why.
    pub fn of_folder(folder: &Path) -> Result<Vec<Self>, String> {
        let paths = case_files(folder)?;
        let read = |path: &PathBuf| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            Self::parse(&name, &text)
        };
        paths.iter().map(read).collect()
    }

    /// Plays it. It must hold, and reach what it is about.
    ///
    /// # Errors
    ///
    /// What does not hold, or was missed: a violation of `recipe`.
    pub fn check(&self, runner: &Runner) -> Result<Coverage, Violation> {
        let coverage = runner.run(&self.case)?;
        let missed = |what: String| {
            let (_, story) = runner.tell(&self.case);
            let shown: Vec<_> = story.iter().take(SHOWN).map(String::as_str).collect();
            let text = format!("{what}\n{}", shown.join("\n"));
            Err(Violation::new("recipe", coverage.commands, text))
        };
        for (mark, times) in &self.reaches {
            let found = coverage.in_lines.of(*mark);
            if found < *times {
                return missed(format!("reached {} {found} of {times} times", mark.name()));
            }
        }
        let bad = self.never.iter();
        match bad.copied().find(|mark| coverage.in_lines.of(*mark) > 0) {
            Some(mark) => missed(format!("reached {}, which it must not", mark.name())),
            None => Ok(coverage),
        }
    }
}

/// The files of a folder that are cases, in the order of their names.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn case_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "case"));
    paths.sort();
    Ok(paths)
}

/// `# name: text`, and `#   ` goes on.
fn header(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut header: BTreeMap<String, String> = BTreeMap::new();
    let mut last = String::new();
    let lines = text.lines().skip(1);
    for line in lines.map_while(|line| line.strip_prefix('#')) {
        match line.trim().split_once(": ") {
            Some((field, text)) if !line.starts_with("   ") => {
                if !FIELDS.contains(&field) {
                    return Err(format!("no field '{field}'; there are {FIELDS:?}"));
                }
                last = field.into();
                if header.insert(last.clone(), text.into()).is_some() {
                    return Err(format!("'{last}' is there twice"));
                }
            }
            _ => match header.get_mut(&last) {
                Some(field) => {
                    field.push(' ');
                    field.push_str(line.trim());
                }
                None => return Err(format!("'{line}' has no name")),
            },
        }
    }
    let needed = &FIELDS[..4];
    match needed.iter().find(|field| !header.contains_key(**field)) {
        Some(field) => Err(format!("'{field}' is missing")),
        None => Ok(header),
    }
}

/// Marks with how often each must be reached at least: `settled=2, reclaimed`.
fn marks(text: &str) -> Result<Vec<(Mark, u64)>, String> {
    let words = text.split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(|word| {
            let (name, times) = word.split_once('=').unwrap_or((word, "1"));
            let mark = Mark::ALL.iter().copied().find(|mark| mark.name() == name);
            let mark = mark.ok_or_else(|| format!("no mark '{name}'"))?;
            match times.parse() {
                Ok(times @ 1..) => Ok((mark, times)),
                _ => Err(format!("'{word}' is no number of times, from 1")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "leaseline-sim case 1\n# from: a\n# cause: b\n# holds: c\n";

    fn error(rest: &str) -> String {
        Recipe::parse("name", &format!("{HEADER}{rest}")).expect_err("wrong")
    }

    #[test]
    fn what_is_wrong_with_a_header_is_said() {
        for (rest, what) in [
            ("", "'reaches' is missing"),
            ("# reaches: ,\n", "reaches nothing"),
            ("# reaches: settld\n", "no mark 'settld'"),
            ("# reaches: settled=0\n", "'settled=0' is no number"),
            ("# reaches: settled\n# holds: d\n", "'holds' is there twice"),
            ("# becomes: d\n", "no field 'becomes'"),
        ] {
            let text = error(rest);
            assert!(text.starts_with("name: ") && text.contains(what), "{text}");
        }
    }
}
