//! The commands: one file per family, and the table that finds them.

mod connection;
mod expiry;
mod hashes;
mod keys;
mod list_ends;
mod list_items;
mod scripting;
mod server_info;
mod strings;
mod text_set;
mod unmodelled;
mod zset_pop;
mod zset_range;
mod zset_write;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::arguments::shown;
use crate::refusal::{Answer, Refusal};
use crate::script::Engine;
use crate::state::State;

pub(crate) use unmodelled::blocks;

/// A command's implementation. It gets the whole call, its own name first.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// Works on the data alone.
    Data(DataRun),
    /// Runs or manages scripts.
    Scripting(ScriptingRun),
}

type DataRun = fn(&mut State, &[&[u8]]) -> Answer;
type ScriptingRun = fn(&mut Engine, &mut State, &[&[u8]]) -> Answer;

/// What decides whether a command may run, wherever it came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flags {
    /// It may change data.
    pub(crate) write: bool,
    /// Refused when memory is full.
    pub(crate) deny_oom: bool,
    /// Refused to scripts.
    pub(crate) no_script: bool,
}

const READ: Flags = Flags {
    write: false,
    deny_oom: false,
    no_script: false,
};
const WRITE: Flags = Flags {
    write: true,
    ..READ
};
/// A write that may need memory.
const GROW: Flags = Flags {
    deny_oom: true,
    ..WRITE
};
const NO_SCRIPT: Flags = Flags {
    no_script: true,
    ..READ
};

/// Which arguments are keys: first, last (negative from the end) and the distance between two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyPositions(usize, isize, usize);

const NO_KEYS: KeyPositions = KeyPositions(0, 0, 1);
const ONE_KEY: KeyPositions = KeyPositions(1, 1, 1);
const TWO_KEYS: KeyPositions = KeyPositions(1, 2, 1);
const ALL_KEYS: KeyPositions = KeyPositions(1, -1, 1);
const KEYS_AND_VALUES: KeyPositions = KeyPositions(1, -1, 2);

/// One line of the table.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// The number of arguments with the name; negative means at least so many.
    arity: i32,
    pub(crate) flags: Flags,
    keys: KeyPositions,
    pub(crate) run: Run,
}

const fn command(
    name: &'static str,
    arity: i32,
    flags: Flags,
    keys: KeyPositions,
    run: DataRun,
) -> Command {
    Command {
        name,
        arity,
        flags,
        keys,
        run: Run::Data(run),
    }
}

const fn scripting(name: &'static str, arity: i32, run: ScriptingRun) -> Command {
    Command {
        name,
        arity,
        flags: NO_SCRIPT,
        keys: NO_KEYS,
        run: Run::Scripting(run),
    }
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

    /// The keys of a call that [`Command::accepts`] its number of arguments.
    pub(crate) fn keys<'a>(&self, argv: &[&'a [u8]]) -> impl Iterator<Item = &'a [u8]> {
        let KeyPositions(first, last, step) = self.keys;
        let end = match first {
            0 => 0,
            _ if last < 0 => argv.len().saturating_add_signed(last + 1),
            _ => argv.len().min(last as usize + 1),
        };
        argv[first.min(end)..end].iter().copied().step_by(step)
    }
}

static TABLE: LazyLock<HashMap<&'static str, &'static Command>> = LazyLock::new(|| {
    let families: [&'static [Command]; 13] = [
        connection::COMMANDS,
        expiry::COMMANDS,
        hashes::COMMANDS,
        keys::COMMANDS,
        list_ends::COMMANDS,
        list_items::COMMANDS,
        scripting::COMMANDS,
        server_info::COMMANDS,
        strings::COMMANDS,
        text_set::COMMANDS,
        zset_pop::COMMANDS,
        zset_range::COMMANDS,
        zset_write::COMMANDS,
    ];
    let modelled = families.into_iter().flatten();
    modelled
        .chain(unmodelled::commands())
        .map(|command| (command.name, command))
        .collect()
});

/// The longest name of a command, with room to spare.
const LONGEST_NAME: usize = 32;

/// Finds a command by its name in any case.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    let mut lower = [0; LONGEST_NAME];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    TABLE.get(std::str::from_utf8(lower).ok()?).copied()
}

/// The names of the commands that run, sorted.
fn modelled_names() -> Vec<&'static str> {
    let mut names: Vec<_> = TABLE
        .values()
        .filter(|command| !unmodelled::is(command))
        .map(|command| command.name)
        .collect();
    names.sort_unstable();
    names
}

/// The error for a name that no Redis knows. Its text shows the arguments, up to a length.
pub(crate) fn unknown(argv: &[&[u8]]) -> Refusal {
    const SHOWN: usize = 128;
    let mut arguments = String::new();
    for argument in argv.iter().skip(1) {
        if arguments.len() >= SHOWN {
            break;
        }
        let room = SHOWN - arguments.len();
        let argument = shown(&argument[..argument.len().min(room)]);
        arguments.push_str(&format!("'{argument}' "));
    }
    let name = argv.first().map_or(&[][..], |name| *name);
    let name = shown(&name[..name.len().min(SHOWN)]);
    Refusal::Line(format!(
        "ERR unknown command '{name}', with args beginning with: {arguments}"
    ))
}

/// The error for a wrong number of arguments of a command or of its subcommand.
fn wrong_arity(name: &str) -> Refusal {
    Refusal::Arity(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reply;

    #[test]
    fn names_are_found_in_any_case_and_only_once() {
        assert!(find(b"LrAnGe").is_some());
        assert!(find(b"nosuch").is_none());
        assert!(find(&[b'x'; 100]).is_none());
        assert!(find(b"\xff").is_none());
        for name in modelled_names() {
            assert!(
                !unmodelled::commands().any(|other| other.name == name),
                "{name}"
            );
        }
    }

    #[test]
    fn key_positions() {
        let keys = |call: &[&'static str]| -> Vec<&[u8]> {
            let argv: Vec<&[u8]> = call.iter().map(|word| word.as_bytes()).collect();
            find(argv[0]).expect("a command").keys(&argv).collect()
        };
        assert_eq!(keys(&["GET", "a"]), [b"a"]);
        assert_eq!(keys(&["LMOVE", "a", "b", "LEFT", "LEFT"]), [b"a", b"b"]);
        assert_eq!(keys(&["DEL", "a", "b", "c"]), [b"a", b"b", b"c"]);
        assert_eq!(keys(&["MSET", "a", "1", "b", "2"]), [b"a", b"b"]);
        assert!(keys(&["PING"]).is_empty());
    }

    #[test]
    fn unknown_commands_show_their_arguments() {
        let text = |argv: &[&[u8]]| Reply::from(unknown(argv)).error().map(str::to_owned);
        assert_eq!(
            text(&[b"nosuch", b"a", b"b"]).as_deref(),
            Some("ERR unknown command 'nosuch', with args beginning with: 'a' 'b' ")
        );
        assert_eq!(
            text(&[b"nosuch"]).as_deref(),
            Some("ERR unknown command 'nosuch', with args beginning with: ")
        );
    }
}
