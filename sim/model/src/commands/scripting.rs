//! `EVAL` and its family.

use super::table::Flags;
use super::{Command, Entry, scripting};
use crate::arguments::is;
use crate::condition::Condition;
use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::script::{Access, Engine};
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    scripting("eval", |engine, state, argv| {
        eval(engine, state, argv, Access::ReadWrite)
    }),
    scripting("eval_ro", |engine, state, argv| {
        eval(engine, state, argv, Access::ReadOnly)
    }),
    scripting("evalsha", |engine, state, argv| {
        evalsha(engine, state, argv, Access::ReadWrite)
    }),
    scripting("evalsha_ro", |engine, state, argv| {
        evalsha(engine, state, argv, Access::ReadOnly)
    }),
    scripting("script|exists", |engine, _, argv| {
        let found = argv[2..].iter().map(|sha| Reply::from(engine.exists(sha)));
        Ok(Reply::Array(found.collect()))
    }),
    scripting("script|flush", |engine, _, argv| flush(engine, argv)),
    scripting("script|kill", |_, state, _| {
        // A script of this server is over before anything else runs. Only one that the caller
        // made up can be killed.
        if !state.conditions.holds(Condition::Busy) {
            return Err(Refusal::Text("NOTBUSY No scripts in execution right now."));
        }
        state.conditions.lift(Condition::Busy);
        Ok(Reply::ok())
    }),
    scripting("script|load", |engine, _, argv| {
        Ok(Reply::bulk(engine.load(argv[2])?))
    }),
];

/// The flags that a call goes by: a script may declare its own.
pub(crate) fn flags(engine: &Engine, command: &Command, argv: &[&[u8]]) -> Flags {
    let declared = match command.name {
        "eval" | "eval_ro" => engine.declared(argv[1]),
        "evalsha" | "evalsha_ro" => engine.declared_by_sha(argv[1]),
        _ => None,
    };
    match declared {
        None => command.flags,
        Some(shebang) => Flags {
            write: !shebang.no_writes,
            deny_oom: !shebang.no_writes && !shebang.allow_oom,
            stale: shebang.allow_stale,
            ..command.flags
        },
    }
}

type Words<'a, 'b> = &'a [&'b [u8]];

/// Splits what follows the script into keys and arguments.
fn split<'a, 'b>(argv: Words<'a, 'b>) -> Result<(Words<'a, 'b>, Words<'a, 'b>), Refusal> {
    let count = number::parse_integer(argv[2]).ok_or(Refusal::NotInteger)?;
    let rest = &argv[3..];
    if count < 0 {
        return Err(Refusal::Text("ERR Number of keys can't be negative"));
    }
    match usize::try_from(count) {
        Ok(count) if count <= rest.len() => Ok(rest.split_at(count)),
        _ => Err(Refusal::Text(
            "ERR Number of keys can't be greater than number of args",
        )),
    }
}

fn eval(engine: &mut Engine, state: &mut State, argv: &[&[u8]], access: Access) -> Answer {
    let (keys, arguments) = split(argv)?;
    let sha = engine.load(argv[1])?;
    engine.run(state, sha.as_bytes(), access, keys, arguments)
}

fn evalsha(engine: &mut Engine, state: &mut State, argv: &[&[u8]], access: Access) -> Answer {
    let (keys, arguments) = split(argv)?;
    engine.run(state, argv[1], access, keys, arguments)
}

fn flush(engine: &mut Engine, argv: &[&[u8]]) -> Answer {
    match argv {
        [_, _] => {}
        [_, _, mode] if is(mode, "sync") || is(mode, "async") => {}
        _ => {
            return Err(Refusal::Text(
                "ERR SCRIPT FLUSH only support SYNC|ASYNC option",
            ));
        }
    }
    engine.flush();
    Ok(Reply::ok())
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    const ONE: &str = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
    const NO_SCRIPT: &str = "-NOSCRIPT No matching script. Please use EVAL.";

    #[test]
    fn numbers_of_keys() {
        let mut server = TestServer::new();
        for (command, reply) in [
            (
                "EVAL 'return 1'",
                "-ERR wrong number of arguments for 'eval' command",
            ),
            (
                "EVAL 'return 1' x",
                "-ERR value is not an integer or out of range",
            ),
            (
                "EVAL 'return 1' -1",
                "-ERR Number of keys can't be negative",
            ),
            (
                "EVAL 'return 1' 2 a",
                "-ERR Number of keys can't be greater than number of args",
            ),
            (
                "EVALSHA ffff 5",
                "-ERR Number of keys can't be greater than number of args",
            ),
            (
                "EVAL 'return {KEYS[1], ARGV[1], #ARGV}' 1 a b",
                "*3 $1 a $1 b :1",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn the_cache() {
        let mut server = TestServer::new();
        for (command, reply) in [
            (format!("EVALSHA {ONE} 0"), NO_SCRIPT),
            ("SCRIPT LOAD 'return 1'".to_owned(), &*format!("$40 {ONE}")),
            (format!("EVALSHA {ONE} 0"), ":1"),
            (format!("EVALSHA {} 0", ONE.to_uppercase()), ":1"),
            (format!("SCRIPT EXISTS {ONE} ffff"), "*2 :1 :0"),
            ("SCRIPT FLUSH".to_owned(), "+OK"),
            (format!("EVALSHA {ONE} 0"), NO_SCRIPT),
            (format!("SCRIPT EXISTS {ONE}"), "*1 :0"),
            ("EVAL 'return 1' 0".to_owned(), ":1"),
            (format!("EVALSHA_RO {ONE} 0"), ":1"),
        ] {
            server.expect(&command, reply);
        }
        for (command, reply) in [
            (
                "SCRIPT LOAD",
                "-ERR wrong number of arguments for 'script|load' command",
            ),
            (
                "SCRIPT EXISTS",
                "-ERR wrong number of arguments for 'script|exists' command",
            ),
            (
                "SCRIPT FLUSH x",
                "-ERR SCRIPT FLUSH only support SYNC|ASYNC option",
            ),
            ("SCRIPT KILL", "-NOTBUSY No scripts in execution right now."),
            (
                "SCRIPT nosuch",
                "-ERR unknown subcommand 'nosuch'. Try SCRIPT HELP.",
            ),
            (
                "SCRIPT LOAD 'return ('",
                "-ERR Error compiling script (new function): user_script:1: unexpected symbol \
                 near '<eof>'",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
