//! Commands about the connection, for clients that greet the server.

use super::{Command, NO_KEYS, NO_SCRIPT, READ, command, modelled_names, wrong_arity};
use crate::arguments::{integer, is, shown};
use crate::refusal::{Answer, Refusal};
use crate::state::{Profile, State};
use crate::{Reply, number};

pub(super) const COMMANDS: &[Command] = &[
    command("ping", -1, READ, NO_KEYS, ping),
    command("echo", 2, READ, NO_KEYS, echo),
    command("select", 2, READ, NO_KEYS, select),
    command("hello", -1, NO_SCRIPT, NO_KEYS, hello),
    command("client", -2, NO_SCRIPT, NO_KEYS, client),
    command("command", -1, READ, NO_KEYS, list_commands),
];

fn ping(_: &mut State, argv: &[&[u8]]) -> Answer {
    match argv {
        [_] => Ok(Reply::Status("PONG".to_owned())),
        [_, text] => Ok(Reply::bulk(*text)),
        _ => Err(wrong_arity("ping")),
    }
}

fn echo(_: &mut State, argv: &[&[u8]]) -> Answer {
    Ok(Reply::bulk(argv[1]))
}

fn select(_: &mut State, argv: &[&[u8]]) -> Answer {
    match integer(argv[1])? {
        0 => Ok(Reply::ok()),
        1..=15 => Err(Refusal::unsupported("databases other than 0")),
        _ => Err(Refusal::Text("ERR DB index is out of range")),
    }
}

fn hello(state: &mut State, argv: &[&[u8]]) -> Answer {
    if let Some(version) = argv.get(1) {
        match number::parse_integer(version) {
            Some(2) => {}
            Some(3) => return Err(Refusal::unsupported("HELLO 3")),
            Some(_) => return Err(Refusal::Text("NOPROTO unsupported protocol version")),
            None => {
                return Err(Refusal::Text(
                    "ERR Protocol version is not an integer or out of range",
                ));
            }
        }
    }
    let mut options = argv.iter().skip(2);
    while let Some(option) = options.next() {
        match options.next() {
            Some(name) if is(option, "setname") => set_name(state, name)?,
            _ => return Err(Refusal::unsupported_option("HELLO 2", option)),
        }
    }
    Ok(Reply::Array(vec![
        Reply::bulk("server"),
        Reply::bulk("redis"),
        Reply::bulk("version"),
        Reply::bulk(state.profile.version()),
        Reply::bulk("proto"),
        Reply::Integer(2),
        Reply::bulk("id"),
        Reply::Integer(1),
        Reply::bulk("mode"),
        Reply::bulk("standalone"),
        Reply::bulk("role"),
        Reply::bulk("master"),
        Reply::bulk("modules"),
        Reply::Array(vec![]),
    ]))
}

fn client(state: &mut State, argv: &[&[u8]]) -> Answer {
    let subcommand = argv[1].to_ascii_lowercase();
    match (subcommand.as_slice(), argv.len()) {
        (b"getname", 2) => Ok(match state.client_name.as_slice() {
            [] => Reply::Nil,
            name => Reply::bulk(name),
        }),
        (b"id", 2) => Ok(Reply::Integer(1)),
        (b"setname", 3) => {
            set_name(state, argv[2])?;
            Ok(Reply::ok())
        }
        (b"setinfo", 4) if state.profile != Profile::Redis70 => {
            if is(argv[2], "lib-name") || is(argv[2], "lib-ver") {
                Ok(Reply::ok())
            } else {
                Err(Refusal::unsupported_option("CLIENT SETINFO", argv[2]))
            }
        }
        (b"setinfo", _) if state.profile == Profile::Redis70 => Err(Refusal::UnknownSubcommand {
            command: "CLIENT",
            subcommand: shown(argv[1]),
        }),
        (b"getname" | b"id" | b"setname" | b"setinfo", _) => Err(wrong_arity(&format!(
            "client|{}",
            String::from_utf8_lossy(&subcommand)
        ))),
        _ => Err(Refusal::unsupported_option("CLIENT", argv[1])),
    }
}

fn set_name(state: &mut State, name: &[u8]) -> Result<(), Refusal> {
    if name.iter().any(|byte| !(b'!'..=b'~').contains(byte)) {
        return Err(Refusal::Text(
            "ERR Client names cannot contain spaces, newlines or special characters.",
        ));
    }
    state.client_name = name.to_vec();
    Ok(())
}

/// Counts and lists what this model runs. The long descriptions of `COMMAND` and `COMMAND DOCS`
/// would be those of another server.
fn list_commands(_: &mut State, argv: &[&[u8]]) -> Answer {
    match argv {
        [_, what] if is(what, "count") => Ok(Reply::count(modelled_names().len())),
        [_, what] if is(what, "list") => Ok(Reply::bulks(modelled_names())),
        [_] => Err(Refusal::unsupported("COMMAND without COUNT or LIST")),
        [_, what, ..] => Err(Refusal::unsupported_option("COMMAND", what)),
        [] => Err(wrong_arity("command")),
    }
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use crate::test_server::TestServer;

    #[test]
    fn greetings() {
        let mut server = TestServer::new();
        server.expect("PING", "+PONG");
        server.expect("PING x", "$1 x");
        server.expect(
            "PING a b",
            "-ERR wrong number of arguments for 'ping' command",
        );
        server.expect("ECHO x", "$1 x");
        server.expect("SELECT 0", "+OK");
        server.expect("SELECT x", "-ERR value is not an integer or out of range");
        server.expect("SELECT 99", "-ERR DB index is out of range");
        server.expect(
            "SELECT 3",
            "-ERR leaseline-redis-model does not support databases other than 0",
        );
        server.expect(
            "HELLO 2",
            "*14 $6 server $5 redis $7 version $6 7.0.15 $5 proto :2 $2 id :1 $4 mode \
             $10 standalone $4 role $6 master $7 modules *0",
        );
        server.expect("HELLO 5", "-NOPROTO unsupported protocol version");
    }

    #[test]
    fn names_of_clients() {
        let mut server = TestServer::new();
        server.expect("CLIENT GETNAME", "$-1");
        server.expect("CLIENT SETNAME ab", "+OK");
        server.expect("CLIENT GETNAME", "$2 ab");
        server.expect(
            "CLIENT SETNAME 'a b'",
            "-ERR Client names cannot contain spaces, newlines or special characters.",
        );
        server.expect(
            "CLIENT GETNAME x",
            "-ERR wrong number of arguments for 'client|getname' command",
        );
        server.expect(
            "CLIENT SETINFO LIB-NAME x",
            "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.",
        );
        let mut newer = TestServer::with_profile(Profile::Redis72);
        newer.expect("CLIENT SETINFO LIB-NAME x", "+OK");
    }

    #[test]
    fn the_list_of_commands_is_that_of_the_model() {
        let mut server = TestServer::new();
        let names = server.run("COMMAND LIST").to_resp2();
        let text = String::from_utf8_lossy(&names).into_owned();
        assert!(text.contains("evalsha") && !text.contains("xadd"));
    }
}
