//! Commands about the connection, for clients that greet the server.

use super::{Entry, data, wrong_arity};
use crate::arguments::{integer, is};
use crate::refusal::{Answer, Refusal};
use crate::state::State;
use crate::{Reply, number};

pub(super) const COMMANDS: &[Entry] = &[
    data("ping", ping),
    data("echo", echo),
    data("select", select),
    data("hello", hello),
    data("client|getname", |state, _| {
        Ok(match state.client_name.as_slice() {
            [] => Reply::Nil,
            name => Reply::bulk(name),
        })
    }),
    data("client|id", |_, _| Ok(Reply::Integer(1))),
    data("client|setinfo", set_info),
    data("client|setname", |state, argv| {
        set_name(state, argv[2])?;
        Ok(Reply::ok())
    }),
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

fn set_info(_: &mut State, argv: &[&[u8]]) -> Answer {
    if is(argv[2], "lib-name") || is(argv[2], "lib-ver") {
        Ok(Reply::ok())
    } else {
        Err(Refusal::unsupported_option("CLIENT SETINFO", argv[2]))
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
}
