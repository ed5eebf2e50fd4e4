//! `CLIENT`: what a connection says of itself and does to others.

use super::connection::check_name;
use super::{Entry, data};
use crate::arguments::{integer, is, shown};
use crate::client::ClientId;
use crate::client_line::{self, Group};
use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::waiting;

pub(super) const COMMANDS: &[Entry] = &[
    data("client|caching", |_, _| {
        Err(Refusal::Text(
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN \
             or OPTOUT mode enabled",
        ))
    }),
    data("client|getname", |state, _| {
        Ok(match state.clients.get(state.client).name.as_slice() {
            [] => Reply::Nil,
            name => Reply::bulk(name),
        })
    }),
    data("client|getredir", |_, _| Ok(Reply::Integer(-1))),
    data("client|id", |state, _| {
        Ok(Reply::Integer(state.client.get() as i64))
    }),
    data("client|info", |state, _| {
        let line = client_line::of(state, state.client);
        Ok(state.shape().verbatim(line))
    })
    .without("memory and socket fields"),
    data("client|kill", kill),
    data("client|list", list).without("memory and socket fields"),
    data("client|no-evict", |_, argv| match argv[2] {
        mode if is(mode, "on") || is(mode, "off") => Ok(Reply::ok()),
        _ => Err(Refusal::Syntax),
    }),
    data("client|reply", reply),
    data("client|setinfo", set_info),
    data("client|setname", |state, argv| {
        check_name(argv[2])?;
        state.clients.get_mut(state.client).name = argv[2].to_vec();
        Ok(Reply::ok())
    }),
    data("client|tracking", |_, argv| match argv[2] {
        mode if is(mode, "off") && argv.len() == 3 => Ok(Reply::ok()),
        _ => Err(Refusal::unsupported("CLIENT TRACKING other than OFF")),
    })
    .without("ON"),
    data("client|trackinginfo", |state, _| {
        let shape = state.shape();
        Ok(shape.named([
            ("flags", shape.set(vec![Reply::bulk("off")])),
            ("redirect", Reply::Integer(-1)),
            ("prefixes", Reply::Array(vec![])),
        ]))
    }),
    data("client|unblock", unblock),
    data("client|unpause", |_, _| Ok(Reply::ok())),
];

fn reply(state: &mut State, argv: &[&[u8]]) -> Answer {
    let silence = &mut state.clients.get_mut(state.client).silence;
    match argv[2] {
        mode if is(mode, "on") => {
            (silence.off, silence.this) = (false, false);
            return Ok(Reply::ok());
        }
        mode if is(mode, "off") => silence.off = true,
        mode if is(mode, "skip") => silence.next |= !silence.off,
        _ => return Err(Refusal::Syntax),
    }
    Ok(Reply::Series(Vec::new()))
}

fn set_info(state: &mut State, argv: &[&[u8]]) -> Answer {
    let client = state.clients.get_mut(state.client);
    let text = String::from_utf8_lossy(argv[3]).into_owned();
    match argv[2] {
        attribute if is(attribute, "lib-name") => client.library_name = text,
        attribute if is(attribute, "lib-ver") => client.library_version = text,
        attribute => {
            return Err(Refusal::line(&[
                &"ERR Unrecognized option '",
                &shown(attribute),
                &"'",
            ]));
        }
    }
    Ok(Reply::ok())
}

fn list(state: &mut State, argv: &[&[u8]]) -> Answer {
    let everyone = state.clients.ids();
    let wanted: Vec<ClientId> = match &argv[2..] {
        [] => everyone,
        [option, group] if is(option, "type") => {
            let group = Group::parse(group)?;
            let mut clients = everyone;
            clients.retain(|id| Group::of(state.clients.get(*id)) == group);
            clients
        }
        [option, ids @ ..] if is(option, "id") && !ids.is_empty() => {
            let mut wanted = Vec::new();
            for id in ids {
                let id = number::parse_integer(id).ok_or(Refusal::Text("ERR Invalid client ID"))?;
                wanted.extend(everyone.iter().find(|client| client.get() as i64 == id));
            }
            wanted
        }
        _ => return Err(Refusal::Syntax),
    };
    let lines: String = wanted
        .into_iter()
        .filter(|id| *id != ClientId::OWN || state.client == ClientId::OWN)
        .map(|id| client_line::of(state, id))
        .collect();
    Ok(state.shape().verbatim(lines))
}

/// Whom `CLIENT KILL` means; everything that is given has to fit.
#[derive(Default)]
struct Victims<'a> {
    id: Option<u64>,
    address: Option<&'a [u8]>,
    local_address: bool,
    group: Option<Group>,
    spares_self: bool,
}

fn kill(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (victims, old_form) = match argv {
        [_, _, address] => {
            let victims = Victims {
                address: Some(*address),
                ..Victims::default()
            };
            (victims, true)
        }
        [_, _, filters @ ..] => (Victims::parse(filters)?, false),
        _ => return Err(Refusal::Syntax),
    };
    let found: Vec<ClientId> = state
        .clients
        .ids()
        .into_iter()
        .filter(|id| *id != ClientId::OWN && victims.include(state, *id))
        .collect();
    for id in &found {
        state.clients.close(*id);
    }
    match (old_form, found.is_empty()) {
        (true, true) => Err(Refusal::Text("ERR No such client")),
        (true, false) => Ok(Reply::ok()),
        (false, _) => Ok(Reply::count(found.len())),
    }
}

impl<'a> Victims<'a> {
    fn parse(filters: &[&'a [u8]]) -> Result<Self, Refusal> {
        let mut victims = Victims {
            spares_self: true,
            ..Victims::default()
        };
        for filter in filters.chunks(2) {
            let &[option, value] = filter else {
                return Err(Refusal::Syntax);
            };
            match option {
                option if is(option, "id") => {
                    let id = number::parse_integer(value).filter(|id| *id > 0);
                    let wrong = Refusal::Text("ERR client-id should be greater than 0");
                    victims.id = Some(id.ok_or(wrong)? as u64);
                }
                option if is(option, "addr") => victims.address = Some(value),
                option if is(option, "laddr") => victims.local_address = true,
                option if is(option, "type") => victims.group = Some(Group::parse(value)?),
                option if is(option, "user") => {
                    if value != b"default" {
                        return Err(Refusal::line(&[&"ERR No such user '", &shown(value), &"'"]));
                    }
                }
                option if is(option, "skipme") && is(value, "yes") => victims.spares_self = true,
                option if is(option, "skipme") && is(value, "no") => victims.spares_self = false,
                _ => return Err(Refusal::Syntax),
            }
        }
        if victims.local_address {
            return Err(Refusal::unsupported("CLIENT KILL LADDR"));
        }
        Ok(victims)
    }

    fn include(&self, state: &State, id: ClientId) -> bool {
        let client = state.clients.get(id);
        self.id.is_none_or(|wanted| wanted == id.get())
            && (self.address).is_none_or(|address| address == client.address.as_bytes())
            && self.group.is_none_or(|group| group == Group::of(client))
            && !(self.spares_self && id == state.client)
    }
}

fn unblock(state: &mut State, argv: &[&[u8]]) -> Answer {
    let with_error = match argv {
        [_, _, _] => false,
        [_, _, _, reason] if is(reason, "timeout") => false,
        [_, _, _, reason] if is(reason, "error") => true,
        [_, _, _, _] => {
            return Err(Refusal::Text(
                "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR",
            ));
        }
        _ => {
            return Err(Refusal::Text(
                "ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT \
                 HELP.",
            ));
        }
    };
    let id = integer(argv[2])?;
    let found = state.clients.waiting().find_map(|(client, wait)| {
        (client.get() as i64 == id).then(|| (client, wait.empty.clone()))
    });
    let Some((client, empty)) = found else {
        return Ok(Reply::Integer(0));
    };
    let answer = match with_error {
        true => Err(Refusal::Text(
            "UNBLOCKED client unblocked via CLIENT UNBLOCK",
        )),
        false => Ok(empty),
    };
    waiting::finish(state, client, answer);
    Ok(Reply::Integer(1))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;
    use crate::{Profile, Reply};

    #[test]
    fn names() {
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
    fn lists_and_kills() {
        let mut server = TestServer::new();
        let one = server.connect_from("10.0.0.1:5000");
        let two = server.connect_from("10.0.0.2:5000");
        let mut call = |client, words: &str| {
            let reply = server.ask(client, words).map(|reply| reply.to_resp2());
            String::from_utf8_lossy(&reply.unwrap_or_default()).into_owned()
        };
        let list = call(one, "CLIENT LIST");
        assert!(
            list.contains("id=2 addr=10.0.0.1:5000 name= age=0"),
            "{list}"
        );
        assert_eq!(list.lines().filter(|line| line.contains("id=")).count(), 2);
        for (command, reply) in [
            ("CLIENT KILL 1.1.1.1:1", "-ERR No such client\r\n"),
            (
                "CLIENT KILL ID x",
                "-ERR client-id should be greater than 0\r\n",
            ),
            ("CLIENT KILL ID 99", ":0\r\n"),
            ("CLIENT KILL TYPE x", "-ERR Unknown client type 'x'\r\n"),
            ("CLIENT KILL USER x", "-ERR No such user 'x'\r\n"),
            ("CLIENT KILL ID 2 SKIPME", "-ERR syntax error\r\n"),
            ("CLIENT KILL ID 3 ADDR 10.0.0.2:5000", ":1\r\n"),
            ("CLIENT LIST ID 3 99 x", "-ERR Invalid client ID\r\n"),
            ("CLIENT LIST TYPE pubsub", "$0\r\n\r\n"),
            ("CLIENT NO-EVICT x", "-ERR syntax error\r\n"),
            ("CLIENT UNBLOCK 3", ":0\r\n"),
            (
                "CLIENT UNBLOCK x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            (
                "CLIENT UNBLOCK 3 x",
                "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR\r\n",
            ),
        ] {
            assert_eq!(call(one, command), reply, "{command}");
        }
        assert!(!server.is_connected(two));
        assert_eq!(server.take_closed(), [two]);
    }

    #[test]
    fn replies_can_be_turned_off() {
        let mut server = TestServer::new();
        let client = server.connect();
        let pong = Some(Reply::Status(b"PONG".to_vec()));
        let mut call = |words: &str| server.ask(client, words);
        assert_eq!(call("CLIENT REPLY SKIP"), None);
        assert_eq!(call("PING"), None);
        assert_eq!(call("PING"), pong);
        assert_eq!(call("CLIENT REPLY OFF"), None);
        assert_eq!(call("PING"), None);
        assert_eq!(call("CLIENT REPLY SKIP"), None);
        assert_eq!(call("PING"), None);
        assert_eq!(call("CLIENT REPLY ON"), Some(Reply::ok()));
        assert_eq!(call("PING"), pong);
        assert_eq!(call("CLIENT REPLY SKIP"), None);
        assert_eq!(call("CLIENT REPLY ON"), Some(Reply::ok()));
        assert_eq!(call("CLIENT REPLY SKIP"), None);
        assert_eq!(call("CLIENT REPLY SKIP"), None);
        assert_eq!(call("PING"), None);
        assert_eq!(call("CLIENT REPLY SKIP"), None);
        assert_eq!(call("CLIENT REPLY OFF"), None);
        assert_eq!(call("CLIENT REPLY ON"), Some(Reply::ok()));
        assert_eq!(call("PING"), pong);
    }

    #[test]
    fn who_wants_no_reply_waits_without_one() {
        for mode in ["SKIP", "OFF"] {
            let mut server = TestServer::new();
            let (quiet, other) = (server.connect(), server.connect());
            for (command, pushed) in [
                ("BLPOP q 0", "RPUSH q x"),
                ("XREAD BLOCK 0 STREAMS s 0", "XADD s 1-1 a b"),
                ("BLPOP q 0", "CLIENT UNBLOCK 2"),
            ] {
                server.ask(quiet, &format!("CLIENT REPLY {mode}"));
                assert_eq!(server.ask(quiet, command), None);
                assert!(server.is_waiting(quiet));
                server.ask(other, pushed);
                assert!(!server.is_waiting(quiet));
                assert_eq!(server.take_replies(), [], "{mode} {command}");
            }
            let pong = (mode == "SKIP").then(|| Reply::Status(b"PONG".to_vec()));
            assert_eq!(server.ask(quiet, "PING"), pong);
        }
    }

    /// Redis announces as many replies as there are commands, whatever comes of them.
    #[test]
    fn replies_can_be_turned_off_in_a_transaction() {
        for (before, calls, reply, after) in [
            ("PING", "ECHO a,CLIENT REPLY OFF,ECHO b", "*3 $1 a ", ""),
            (
                "PING",
                "ECHO a,CLIENT REPLY SKIP,ECHO b",
                "*3 $1 a $1 b ",
                "+PONG ",
            ),
            (
                "PING",
                "CLIENT REPLY SKIP,CLIENT REPLY SKIP",
                "*2 ",
                "+PONG ",
            ),
            (
                "PING",
                "ECHO a,CLIENT REPLY OFF,ECHO b,CLIENT REPLY ON,ECHO c",
                "*5 $1 a +OK $1 c ",
                "+PONG +PONG ",
            ),
            (
                "PING",
                "CLIENT REPLY SKIP,CLIENT REPLY OFF,ECHO b,CLIENT REPLY ON",
                "*4 +OK ",
                "+PONG ",
            ),
            (
                "PING",
                "CLIENT REPLY x",
                "*1 -ERR syntax error ",
                "+PONG +PONG ",
            ),
            (
                "CLIENT REPLY OFF",
                "ECHO a,CLIENT REPLY ON,ECHO b,CLIENT REPLY OFF,ECHO c,CLIENT REPLY ON",
                "+OK $1 b +OK ",
                "+PONG +PONG ",
            ),
            (
                "CLIENT REPLY OFF",
                "ECHO a,CLIENT REPLY ON,ECHO b,CLIENT REPLY OFF",
                "+OK $1 b ",
                "",
            ),
        ] {
            let mut server = TestServer::new();
            let client = server.connect();
            let mut call = |words: &str| {
                server.send(client, words);
                let replies = server.take_replies().into_iter();
                let bytes: Vec<u8> = replies.flat_map(|(_, reply)| reply.to_resp2()).collect();
                String::from_utf8_lossy(&bytes).replace("\r\n", " ")
            };
            call(before);
            call("MULTI");
            calls.split(',').for_each(|words| drop(call(words)));
            assert_eq!(call("EXEC"), reply, "{before},{calls}");
            assert_eq!(call("PING") + &call("PING"), after, "{before},{calls}");
        }
    }
}
