//! `COMMAND`: what the table says, for clients that ask.

use super::table::{self, Command};
use super::{Entry, data};
use crate::arguments::is;
use crate::glob;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::{Profile, State};

pub(super) const COMMANDS: &[Entry] = &[
    data("command", |state, _| {
        let commands = modelled(state.profile);
        Ok(Reply::Array(commands.map(describe).collect()))
    })
    .without("tips and key specifications are empty, unsupported commands are not listed"),
    data("command|count", |state, _| {
        Ok(Reply::count(modelled(state.profile).count()))
    }),
    data("command|getkeys", get_keys),
    data("command|info", info).without("tips and key specifications are empty"),
    data("command|list", list).without("FILTERBY ACLCAT and MODULE"),
];

/// The commands, without subcommands, that this model runs.
fn modelled(profile: Profile) -> impl Iterator<Item = &'static Command> {
    let commands = table::all().into_values();
    commands.filter(move |command| {
        let runs = command.run.is_some() || command.container && subcommands(command).count() > 0;
        runs && !command.name.contains('|') && (!command.newer || profile != Profile::Redis70)
    })
}

fn subcommands(parent: &Command) -> impl Iterator<Item = &'static Command> {
    table::all().into_values().filter(|command| {
        let name = command.name.split_once('|');
        name.is_some_and(|(name, _)| name == parent.name) && command.run.is_some()
    })
}

/// A command in the form of `COMMAND INFO`.
fn describe(command: &Command) -> Reply {
    let words = |text: &str, sign: &str| {
        let words = text.split(',').filter(|word| *word != "-");
        Reply::Array(
            words
                .map(|word| Reply::Status(format!("{sign}{word}").into()))
                .collect(),
        )
    };
    let positions = command.positions;
    let step = if positions.first == 0 {
        0
    } else {
        positions.step
    };
    Reply::Array(vec![
        Reply::bulk(command.name),
        Reply::Integer(command.arity.into()),
        words(command.flag_words, ""),
        Reply::count(positions.first),
        Reply::Integer(positions.last as i64),
        Reply::count(step),
        words(command.categories, "@"),
        Reply::Array(vec![]),
        Reply::Array(vec![]),
        Reply::Array(subcommands(command).map(describe).collect()),
    ])
}

fn info(state: &mut State, argv: &[&[u8]]) -> Answer {
    if argv.len() == 2 {
        return Ok(Reply::Array(
            modelled(state.profile).map(describe).collect(),
        ));
    }
    let describe = |name: &&[u8]| {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        table::get(&name).map_or(Reply::NilArray, describe)
    };
    Ok(Reply::Array(argv[2..].iter().map(describe).collect()))
}

fn list(state: &mut State, argv: &[&[u8]]) -> Answer {
    let names = modelled(state.profile).map(|command| command.name);
    match argv {
        [_, _] => Ok(Reply::bulks(names)),
        [_, _, filter, by, pattern] if is(filter, "filterby") && is(by, "pattern") => Ok(
            Reply::bulks(names.filter(|name| glob::matches(pattern, name.as_bytes()))),
        ),
        [_, _, filter, by, _]
            if is(filter, "filterby") && (is(by, "aclcat") || is(by, "module")) =>
        {
            Err(Refusal::unsupported_option("COMMAND LIST FILTERBY", by))
        }
        _ => Err(Refusal::Syntax),
    }
}

fn get_keys(state: &mut State, argv: &[&[u8]]) -> Answer {
    let call = &argv[2..];
    let Ok(command) = super::find(state.profile, call) else {
        return Err(Refusal::Text("ERR Invalid command specified"));
    };
    if !command.takes_keys() {
        return Err(Refusal::Text("ERR The command has no key arguments"));
    }
    if !command.accepts(call.len()) {
        return Err(Refusal::Text(
            "ERR Invalid number of arguments specified for command",
        ));
    }
    if command.has_word("movablekeys") {
        // Only for what this model runs is it known where they are.
        command.run()?;
    }
    match command.keys(call) {
        Some(keys) => Ok(Reply::bulks(keys)),
        None if command.has_word("no_mandatory_keys") => Ok(Reply::Array(vec![])),
        None => Err(Refusal::Text("ERR Invalid arguments specified for command")),
    }
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn commands_are_described() {
        let mut server = TestServer::new();
        server.expect(
            "COMMAND INFO get nosuch",
            "*2 *10 $3 get :2 *2 +readonly +fast :1 :1 :1 *3 +@read +@string +@fast *0 *0 *0 *-1",
        );
        server.expect("COMMAND GETKEYS LMOVE a b LEFT LEFT", "*2 $1 a $1 b");
        server.expect(
            "COMMAND GETKEYS PING x",
            "-ERR The command has no key arguments",
        );
        for (call, reply) in [
            ("eval x 2 a b c", "*2 $1 a $1 b"),
            ("eval x 5 a b", "*0"),
            ("eval x x a", "*0"),
            ("eval x 0 a", "*0"),
            ("eval x -1 a", "*0"),
            ("eval x 1x a", "*1 $1 a"),
            ("eval x 4294967297 a b", "*1 $1 a"),
            ("eval x 9223372036854775807 a b", "*0"),
            ("eval x 18446744073709551617 a b", "*0"),
            ("eval x +2 a b", "*2 $1 a $1 b"),
            (
                "lmpop 3 a left",
                "-ERR Invalid arguments specified for command",
            ),
            (
                "zunion 5 a b",
                "-ERR Invalid arguments specified for command",
            ),
            (
                "zunionstore d 0 a",
                "-ERR Invalid arguments specified for command",
            ),
            ("zunionstore d 1 a", "*2 $1 d $1 a"),
            (
                "xread count 1 a",
                "-ERR Invalid arguments specified for command",
            ),
            (
                "xread block 1 streams a",
                "-ERR Invalid arguments specified for command",
            ),
            ("xread streams a b 1", "*1 $1 a"),
            ("xreadgroup group streams c streams a 1", "*1 $1 a"),
            (
                "xreadgroup streams g c block 1 a 1",
                "-ERR Invalid arguments specified for command",
            ),
            (
                "set a",
                "-ERR Invalid number of arguments specified for command",
            ),
            ("nosuch a", "-ERR Invalid command specified"),
            ("script load x", "-ERR The command has no key arguments"),
            (
                "sort a store b",
                "-ERR leaseline-redis-model does not support the command 'sort'",
            ),
        ] {
            server.expect(&format!("COMMAND GETKEYS {call}"), reply);
        }
        server.expect(
            "COMMAND LIST FILTERBY PATTERN lpush*",
            "*2 $5 lpush $6 lpushx",
        );
        server.expect(
            "COMMAND NOSUCH",
            "-ERR unknown subcommand 'NOSUCH'. Try COMMAND HELP.",
        );
    }

    #[test]
    fn the_list_is_that_of_the_model() {
        let mut server = TestServer::new();
        let names = server.run("COMMAND LIST").to_resp2();
        let text = String::from_utf8_lossy(&names).into_owned();
        assert!(text.contains("evalsha") && !text.contains("pfcount"));
    }
}
