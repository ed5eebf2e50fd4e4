//! Every command of Redis: what `COMMAND` says of it, and what runs it here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Entry, Run, families};
use crate::map::Map;

/// What a real server's `COMMAND` answered, with the version that a command came with where that
/// is not 7.0.
const TEXT: &str = include_str!("table.tsv");

/// What decides whether a command may run, wherever it came from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flags {
    /// It may change data.
    pub(crate) write: bool,
    /// Refused when memory is full.
    pub(crate) deny_oom: bool,
    /// Refused to scripts.
    pub(crate) no_script: bool,
    /// It may wait. From 7.2 on scripts may call these, and do not wait.
    pub(crate) blocking: bool,
    /// Runs while data are being loaded.
    pub(crate) loading: bool,
    /// Runs on a replica that has lost its master.
    pub(crate) stale: bool,
    /// Runs while a script is in the way.
    pub(crate) allow_busy: bool,
    /// Runs before the client has given a password.
    pub(crate) no_auth: bool,
    /// Refused inside `MULTI`.
    pub(crate) no_multi: bool,
}

impl Command {
    /// Whether Redis says this of the command.
    pub(crate) fn has_word(&self, flag: &str) -> bool {
        self.flag_words.split(',').any(|word| word == flag)
    }
}

impl Flags {
    fn parse(words: &str) -> Self {
        let has = |flag: &str| words.split(',').any(|word| word == flag);
        Flags {
            write: has("write"),
            deny_oom: has("denyoom"),
            no_script: has("noscript"),
            blocking: has("blocking"),
            loading: has("loading"),
            stale: has("stale"),
            allow_busy: has("allow_busy"),
            no_auth: has("no_auth"),
            no_multi: has("no_multi"),
        }
    }
}

/// Which arguments are keys: first, last (negative from the end) and the distance between two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyPositions {
    pub(crate) first: usize,
    pub(crate) last: isize,
    pub(crate) step: usize,
}

/// One line of the table.
pub(crate) struct Command {
    /// In lower case; a subcommand is `parent|name`.
    pub(crate) name: &'static str,
    /// The number of arguments with the name; negative means at least so many.
    pub(crate) arity: i32,
    pub(crate) flags: Flags,
    pub(crate) flag_words: &'static str,
    pub(crate) categories: &'static str,
    pub(crate) positions: KeyPositions,
    /// Whether 7.0 lacks it.
    pub(crate) newer: bool,
    /// Whether its second word is a subcommand.
    pub(crate) container: bool,
    /// What runs it, if this model has it.
    pub(crate) run: Option<Run>,
    /// What this model lacks of it.
    pub(crate) missing: Option<&'static str>,
}

impl Command {
    pub(crate) fn accepts(&self, arguments: usize) -> bool {
        let wanted = self.arity.unsigned_abs() as usize;
        if self.arity < 0 {
            arguments >= wanted
        } else {
            arguments == wanted
        }
    }
}

static TABLE: LazyLock<Map<&'static str, Command>> = LazyLock::new(|| {
    let entries: Map<&str, &Entry> = families().map(|entry| (entry.name, entry)).collect();
    let mut commands: Map<_, _> = TEXT
        .lines()
        .skip(1)
        .map(|line| {
            let command = parse(line, &entries);
            (command.name, command)
        })
        .collect();
    let parents: Vec<_> = commands
        .keys()
        .filter_map(|name| name.split_once('|').map(|(parent, _)| parent))
        .collect();
    for parent in parents {
        if let Some(command) = commands.get_mut(parent) {
            command.container = true;
        }
    }
    commands
});

fn parse(line: &'static str, entries: &Map<&str, &Entry>) -> Command {
    let mut columns = line.split('\t');
    let mut word = || columns.next().unwrap_or_default();
    let name = word();
    let arity = word().parse().unwrap_or_default();
    let flag_words = word();
    let positions = KeyPositions {
        first: word().parse().unwrap_or_default(),
        last: word().parse().unwrap_or_default(),
        step: word().parse::<usize>().unwrap_or_default().max(1),
    };
    let categories = word();
    let newer = !word().is_empty();
    let entry = entries.get(name);
    Command {
        name,
        arity,
        flags: Flags::parse(flag_words),
        flag_words,
        categories,
        positions,
        newer,
        container: false,
        run: entry.map(|entry| entry.run),
        missing: entry.and_then(|entry| entry.missing),
    }
}

/// Finds a command, or a subcommand, by its whole name in lower case.
pub(crate) fn get(name: &str) -> Option<&'static Command> {
    TABLE.get(name)
}

/// All of them by name.
pub(crate) fn all() -> BTreeMap<&'static str, &'static Command> {
    TABLE
        .iter()
        .map(|(name, command)| (*name, command))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        for entry in families() {
            assert!(TABLE.contains_key(entry.name), "{}", entry.name);
        }
        let names: Vec<_> = families().map(|entry| entry.name).collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len(), "a command with two bodies");
        for (name, command) in all() {
            assert_ne!(command.arity, 0, "{name}");
        }
        assert!(all().len() > 360);
    }
}
