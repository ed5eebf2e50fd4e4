//! Commands about the connection: greeting, authentication, the end.

use super::{Entry, data, wrong_arity};
use crate::Reply;
use crate::arguments::{is, shown};
use crate::client::Client;
use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::shape::Protocol;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("auth", auth),
    data("echo", |_, argv| Ok(Reply::bulk(argv[1]))),
    data("hello", hello),
    data("ping", ping),
    data("quit", |state, _| {
        state.clients.close(state.client);
        Ok(Reply::ok())
    }),
    data("reset", reset),
];

fn ping(state: &mut State, argv: &[&[u8]]) -> Answer {
    if argv.len() > 2 {
        return Err(wrong_arity("ping"));
    }
    let text = argv.get(1).copied();
    if state.clients.get(state.client).only_listens() {
        // A listener tells answers from messages by their form.
        return Ok(Reply::Array(vec![
            Reply::bulk("pong"),
            Reply::bulk(text.unwrap_or_default()),
        ]));
    }
    Ok(match text {
        None => Reply::Status(b"PONG".to_vec()),
        Some(text) => Reply::bulk(text),
    })
}

fn auth(state: &mut State, argv: &[&[u8]]) -> Answer {
    match *argv {
        [_, _] if state.password.is_none() => Err(Refusal::Text(
            "ERR AUTH <password> called without any password configured for the default user. \
             Are you sure your configuration is correct?",
        )),
        [_, password] => log_in(state, b"default", password),
        [_, user, password] => log_in(state, user, password),
        _ => Err(Refusal::Syntax),
    }
}

/// There is one user, whom any password lets in where none is set.
fn log_in(state: &mut State, user: &[u8], password: &[u8]) -> Answer {
    let right = state.password.as_deref().is_none_or(|set| set == password);
    if user != b"default" || !right {
        return Err(Refusal::Text(
            "WRONGPASS invalid username-password pair or user is disabled.",
        ));
    }
    state.clients.get_mut(state.client).authenticated = true;
    Ok(Reply::ok())
}

fn hello(state: &mut State, argv: &[&[u8]]) -> Answer {
    let protocol = match argv.get(1).map(|version| number::parse_integer(version)) {
        None => state.protocol,
        Some(Some(2)) => Protocol::Resp2,
        Some(Some(3)) => Protocol::Resp3,
        Some(Some(_)) => return Err(Refusal::Text("NOPROTO unsupported protocol version")),
        Some(None) => {
            return Err(Refusal::Text(
                "ERR Protocol version is not an integer or out of range",
            ));
        }
    };
    let mut rest = argv.get(2..).unwrap_or_default();
    let mut name = None;
    while let Some((option, words)) = rest.split_first() {
        rest = match *words {
            [user, password, ref rest @ ..] if is(option, "auth") => {
                log_in(state, user, password)?;
                rest
            }
            [wanted, ref rest @ ..] if is(option, "setname") => {
                check_name(wanted)?;
                name = Some(wanted);
                rest
            }
            _ => {
                return Err(Refusal::line(&[
                    &"ERR Syntax error in HELLO option '",
                    &shown(option),
                    &"'",
                ]));
            }
        };
    }
    if !state.clients.get(state.client).authenticated {
        return Err(Refusal::Text(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the \
             HELLO AUTH <user> <pass> option can be used to authenticate the client and select \
             the RESP protocol version at the same time",
        ));
    }
    if let Some(name) = name {
        state.clients.get_mut(state.client).name = name.to_vec();
    }
    state.protocol = protocol;
    let version = match protocol {
        Protocol::Resp2 => 2,
        Protocol::Resp3 => 3,
    };
    Ok(state.shape().named([
        ("server", Reply::bulk("redis")),
        ("version", Reply::bulk(state.profile.version())),
        ("proto", Reply::Integer(version)),
        ("id", Reply::Integer(state.client.get() as i64)),
        ("mode", Reply::bulk("standalone")),
        ("role", Reply::bulk(state.role())),
        ("modules", Reply::Array(vec![])),
    ]))
}

pub(super) fn check_name(name: &[u8]) -> Result<(), Refusal> {
    match name.iter().all(|byte| (b'!'..=b'~').contains(byte)) {
        true => Ok(()),
        false => Err(Refusal::Text(
            "ERR Client names cannot contain spaces, newlines or special characters.",
        )),
    }
}

/// Makes the connection as if it had just been opened.
fn reset(state: &mut State, _: &[&[u8]]) -> Answer {
    let authenticated = state.password.is_none();
    state.select(0);
    state.protocol = Protocol::Resp2;
    let client = state.clients.get_mut(state.client);
    client.end_transaction();
    *client = Client {
        address: std::mem::take(&mut client.address),
        library_name: std::mem::take(&mut client.library_name),
        library_version: std::mem::take(&mut client.library_version),
        connected_at_ms: client.connected_at_ms,
        authenticated,
        last_command: client.last_command,
        ..Client::default()
    };
    Ok(Reply::Status(b"RESET".to_vec()))
}

#[cfg(test)]
mod tests {
    use crate::Protocol;
    use crate::test_server::TestServer;

    const HELLO: &str = "*14 $6 server $5 redis $7 version $6 7.0.15 $5 proto :2 $2 id :1 $4 mode \
                         $10 standalone $4 role $6 master $7 modules *0";

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
        server.expect("HELLO 2", HELLO);
        server.expect("HELLO", HELLO);
        server.expect("HELLO 5", "-NOPROTO unsupported protocol version");
        server.expect(
            "HELLO x",
            "-ERR Protocol version is not an integer or out of range",
        );
        server.expect("HELLO 3 x", "-ERR Syntax error in HELLO option 'x'");
        server.expect(
            "HELLO 3 SETNAME 'a b'",
            "-ERR Client names cannot contain spaces, newlines or special characters.",
        );
        server.expect("HELLO 2 SETNAME ab", HELLO);
        server.expect("CLIENT GETNAME", "$2 ab");
    }

    #[test]
    fn each_client_chooses_its_protocol() {
        let mut server = TestServer::new();
        let (one, two) = (server.connect(), server.connect());
        assert!(server.call(one, &[b"HELLO", b"3"]).is_some());
        server.execute(&[b"ZADD", b"z", b"1.5", b"m"]);
        let bytes = |server: &mut TestServer, client| {
            let reply = server.call(client, &[b"ZSCORE", b"z", b"m"]);
            reply.map(|reply| reply.to_bytes(server.protocol(client)))
        };
        assert_eq!(bytes(&mut server, one).as_deref(), Some(&b",1.5\r\n"[..]));
        assert_eq!(
            bytes(&mut server, two).as_deref(),
            Some(&b"$3\r\n1.5\r\n"[..])
        );
        assert!(server.call(one, &[b"RESET"]).is_some());
        assert_eq!(server.protocol(one), Protocol::Resp2);
    }

    #[test]
    fn a_password_is_asked_for() {
        let mut server = TestServer::new();
        server.expect("AUTH default anything", "+OK");
        server.set_password(Some(b"secret"));
        let client = server.connect();
        let mut call = |words: &str| {
            let reply = server.ask(client, words).expect("a reply");
            reply.error().unwrap_or("no error".into()).into_owned()
        };
        let wrong = "WRONGPASS invalid username-password pair or user is disabled.";
        assert_eq!(call("GET k"), "NOAUTH Authentication required.");
        assert!(call("HELLO 3").starts_with("NOAUTH HELLO must be called"));
        assert_eq!(call("AUTH guess"), wrong);
        assert_eq!(call("AUTH nobody secret"), wrong);
        assert_eq!(call("AUTH a b c"), "ERR syntax error");
        assert_eq!(call("HELLO 2 AUTH default secret"), "no error");
        assert_eq!(call("GET k"), "no error");
        assert_eq!(call("RESET"), "no error");
        assert_eq!(call("GET k"), "NOAUTH Authentication required.");
        assert_eq!(call("QUIT"), "no error");
        assert!(!server.is_connected(client));
        assert_eq!(server.take_closed(), [client]);
        assert_eq!(server.call(client, &[b"PING"]), None);
    }
}
