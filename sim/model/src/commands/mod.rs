//! The commands: one file per family, and what finds them.

mod bit_combine;
mod bit_fields;
mod bits;
mod clients;
mod combine_request;
mod connection;
mod databases;
mod expiry;
mod hash_scan;
mod hashes;
mod introspection;
mod key_positions;
mod keys;
mod list_ends;
mod list_items;
mod list_wait;
#[cfg(test)]
mod modified_keys;
mod objects;
mod pop_request;
mod pubsub;
mod random_choice;
mod replication;
mod scan_request;
pub(crate) mod scripting;
mod server_info;
mod set_combine;
mod set_members;
mod set_random;
mod stream_claim;
mod stream_group;
mod stream_info;
mod stream_pending;
mod stream_range;
mod stream_read;
mod stream_trim;
pub(crate) mod stream_wait;
mod stream_write;
mod strings;
pub(crate) mod table;
mod text_common;
mod text_lifetime;
mod text_range;
mod text_set;
mod transactions;
mod zset_combine;
mod zset_pop;
mod zset_range;
mod zset_read;
mod zset_remove;
mod zset_scan;
mod zset_write;

use crate::arguments::shown;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::script::Engine;
use crate::state::{Profile, State};
pub(crate) use table::Command;

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

/// What a family says of one of its commands; the rest is in the table.
pub(crate) struct Entry {
    name: &'static str,
    run: Run,
    missing: Option<&'static str>,
}

impl Entry {
    /// Says what this model lacks of a command, for its users to read.
    const fn without(mut self, missing: &'static str) -> Self {
        self.missing = Some(missing);
        self
    }
}

const fn data(name: &'static str, run: DataRun) -> Entry {
    Entry {
        name,
        run: Run::Data(run),
        missing: None,
    }
}

const fn scripting(name: &'static str, run: ScriptingRun) -> Entry {
    Entry {
        name,
        run: Run::Scripting(run),
        missing: None,
    }
}

const FAMILIES: &[&[Entry]] = &[
    bit_combine::COMMANDS,
    bit_fields::COMMANDS,
    bits::COMMANDS,
    clients::COMMANDS,
    connection::COMMANDS,
    databases::COMMANDS,
    expiry::COMMANDS,
    hash_scan::COMMANDS,
    hashes::COMMANDS,
    introspection::COMMANDS,
    keys::COMMANDS,
    list_ends::COMMANDS,
    list_items::COMMANDS,
    list_wait::COMMANDS,
    objects::COMMANDS,
    pubsub::COMMANDS,
    replication::COMMANDS,
    scripting::COMMANDS,
    server_info::COMMANDS,
    set_combine::COMMANDS,
    set_members::COMMANDS,
    set_random::COMMANDS,
    stream_claim::COMMANDS,
    stream_group::COMMANDS,
    stream_info::COMMANDS,
    stream_pending::COMMANDS,
    stream_range::COMMANDS,
    stream_read::COMMANDS,
    stream_trim::COMMANDS,
    stream_write::COMMANDS,
    strings::COMMANDS,
    text_common::COMMANDS,
    text_lifetime::COMMANDS,
    text_range::COMMANDS,
    text_set::COMMANDS,
    transactions::COMMANDS,
    zset_combine::COMMANDS,
    zset_pop::COMMANDS,
    zset_range::COMMANDS,
    zset_read::COMMANDS,
    zset_remove::COMMANDS,
    zset_scan::COMMANDS,
    zset_write::COMMANDS,
];

fn families() -> impl Iterator<Item = &'static Entry> {
    FAMILIES.iter().copied().flatten()
}

/// The longest name of a command with its subcommand, with room to spare.
const LONGEST_NAME: usize = 64;

/// Finds the command, or the subcommand, that a call names in any case, or the error that says
/// that there is none.
pub(crate) fn find(profile: Profile, argv: &[&[u8]]) -> Result<&'static Command, Refusal> {
    let known = |command: &&Command| !command.newer || profile != Profile::Redis70;
    let name = argv.first().copied().unwrap_or_default();
    if name.contains(&b'|') {
        return Err(unknown(argv)); // how the table joins a subcommand to its parent
    }
    let mut lower = [0; LONGEST_NAME];
    let command = lowercase(&mut lower, &[name])
        .and_then(table::get)
        .filter(known)
        .ok_or_else(|| unknown(argv))?;
    match argv.get(1) {
        Some(subcommand) if command.container => lowercase(&mut lower, &[name, b"|", subcommand])
            .and_then(table::get)
            .filter(known)
            .ok_or_else(|| unknown_subcommand(command, subcommand)),
        _ => Ok(command),
    }
}

/// Joins the parts in lower case, if they fit and are text.
fn lowercase<'a>(buffer: &'a mut [u8; LONGEST_NAME], parts: &[&[u8]]) -> Option<&'a str> {
    let mut length = 0;
    for part in parts {
        buffer
            .get_mut(length..length + part.len())?
            .copy_from_slice(part);
        length += part.len();
    }
    let name = &mut buffer[..length];
    name.make_ascii_lowercase();
    std::str::from_utf8(name).ok()
}

impl Command {
    /// What runs it, or the error that says that this model lacks it: a test must not take a gap
    /// of the model for an answer of Redis.
    pub(crate) fn run(&self) -> Result<Run, Refusal> {
        self.run.ok_or_else(|| {
            let name = self.name.replace('|', " ");
            Refusal::unsupported(format!("the command '{name}'"))
        })
    }
}

/// The error for a name that no Redis knows. Its text shows the arguments, up to a length.
pub(crate) fn unknown(argv: &[&[u8]]) -> Refusal {
    const SHOWN: usize = 128;
    let mut arguments = Vec::new();
    for argument in argv.iter().skip(1) {
        if arguments.len() >= SHOWN {
            break;
        }
        let room = SHOWN - arguments.len();
        let argument = shown(&argument[..argument.len().min(room)]);
        arguments.extend([b"'", &argument[..], b"' "].concat());
    }
    let name = argv.first().map_or(&[][..], |name| *name);
    let name = shown(&name[..name.len().min(SHOWN)]);
    Refusal::line(&[
        &"ERR unknown command '",
        &name,
        &"', with args beginning with: ",
        &arguments,
    ])
}

fn unknown_subcommand(command: &Command, subcommand: &[u8]) -> Refusal {
    Refusal::line(&[
        &"ERR unknown subcommand '",
        &shown(&subcommand[..subcommand.len().min(128)]),
        &"'. Try ",
        &command.name.to_uppercase(),
        &" HELP.",
    ])
}

/// A text for people, line by line.
fn help(lines: &[&str]) -> Reply {
    let lines = lines.iter().map(|line| Reply::Status((*line).into()));
    Reply::Array(lines.collect())
}

/// The error for a wrong number of arguments of a command or of its subcommand.
fn wrong_arity(name: &str) -> Refusal {
    Refusal::Arity(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_server::TestServer;

    #[test]
    fn names_are_found_in_any_case() {
        let find = |argv: &[&[u8]]| find(Profile::Redis70, argv).map(|command| command.name);
        assert_eq!(find(&[b"LrAnGe"]), Ok("lrange"));
        assert_eq!(find(&[b"XGroup", b"CREATE"]), Ok("xgroup|create"));
        assert_eq!(find(&[b"XGroup"]), Ok("xgroup"));
        for unknown in [&b"nosuch"[..], &[b'x'; 100], b"\xff", b"xgroup|create", b""] {
            assert!(find(&[unknown]).is_err(), "{unknown:?}");
        }
        assert!(find(&[b"client", b"setinfo"]).is_err());
    }

    #[test]
    fn unknown_commands_show_their_arguments() {
        for (argv, line) in [
            (
                &[&b"nosuch"[..], b"a", b"b"][..],
                &b"ERR unknown command 'nosuch', with args beginning with: 'a' 'b' "[..],
            ),
            (
                &[b"nosuch"],
                b"ERR unknown command 'nosuch', with args beginning with: ",
            ),
            (
                &[b"NO\xff\nSUCH", b"a\xfe\0b"],
                b"ERR unknown command 'NO\xff SUCH', with args beginning with: 'a\xfe' ",
            ),
            (
                &[b"CLIENT", b"\xff"],
                b"ERR unknown subcommand '\xff'. Try CLIENT HELP.",
            ),
        ] {
            let refusal = find(Profile::Redis70, argv).map(drop).unwrap_err();
            assert_eq!(refusal.into_line(), line);
        }
        let long = unknown(&[&[0xff; 200], &[0xff; 200], b"x"]).into_line();
        let (name, shown) = ([0xff; 128], [0xff; 128]);
        let between = &b"', with args beginning with: '"[..];
        assert_eq!(
            long,
            [b"ERR unknown command '", &name[..], between, &shown, b"' "].concat()
        );
    }

    #[test]
    fn a_gap_is_named_and_counted() {
        let mut server = TestServer::new();
        server.expect(
            "PFCOUNT s",
            "-ERR leaseline-redis-model does not support the command 'pfcount'",
        );
        server.expect(
            "PFCOUNT",
            "-ERR wrong number of arguments for 'pfcount' command",
        );
        assert_eq!(server.unsupported(), ["the command 'pfcount'"]);
    }
}
