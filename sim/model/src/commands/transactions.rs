//! `MULTI`, `EXEC` and the watching of keys.

use super::{Entry, data, find, scripting};
use crate::client::{Transaction, Watched};
use crate::dispatch;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::script::Engine;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("multi", multi),
    scripting("exec", exec),
    data("discard", discard),
    data("watch", watch),
    data("unwatch", |state, _| {
        state.clients.get_mut(state.client).forget_watches();
        Ok(Reply::ok())
    }),
];

fn multi(state: &mut State, _: &[&[u8]]) -> Answer {
    let client = state.clients.get_mut(state.client);
    if client.transaction.is_some() {
        return Err(Refusal::Text("ERR MULTI calls can not be nested"));
    }
    client.transaction = Some(Transaction::default());
    Ok(Reply::ok())
}

fn discard(state: &mut State, _: &[&[u8]]) -> Answer {
    let client = state.clients.get_mut(state.client);
    if client.transaction.is_none() {
        return Err(Refusal::Text("ERR DISCARD without MULTI"));
    }
    client.end_transaction();
    Ok(Reply::ok())
}

fn watch(state: &mut State, argv: &[&[u8]]) -> Answer {
    if state.clients.get(state.client).transaction.is_some() {
        return Err(Refusal::Text("ERR WATCH inside MULTI is not allowed"));
    }
    state.record_changes(true);
    let database = state.selected();
    for key in &argv[1..] {
        let watched = Watched {
            database,
            key: key.to_vec(),
            expired: state.keys.holds_expired(key),
        };
        let list = &mut state.clients.get_mut(state.client).watched;
        if !list
            .iter()
            .any(|other| other.database == database && other.key == *key)
        {
            list.push(watched);
        }
    }
    Ok(Reply::ok())
}

/// Runs what was kept, unless a call was refused or a watched key has changed. An error of one
/// call does not stop the next.
fn exec(engine: &mut Engine, state: &mut State, _: &[&[u8]]) -> Answer {
    let client = state.clients.get_mut(state.client);
    let Some(transaction) = client.transaction.take() else {
        return Err(Refusal::Text("ERR EXEC without MULTI"));
    };
    let watch_broken = watch_broken(state);
    state.clients.get_mut(state.client).end_transaction();
    if transaction.failed {
        return Err(Refusal::Text(
            "EXECABORT Transaction discarded because of previous errors.",
        ));
    }
    if watch_broken {
        return Ok(Reply::NilArray);
    }
    let may_wait = std::mem::replace(&mut state.may_wait, false);
    let announced = !state.clients.get(state.client).silence.holds();
    let mut replies = Vec::with_capacity(transaction.calls.len());
    for call in &transaction.calls {
        let argv: Vec<&[u8]> = call.iter().map(Vec::as_slice).collect();
        let sent = state.outbox.len();
        let answer = find(state.profile, &argv)
            .and_then(|command| dispatch::run(engine, state, command, &argv));
        let reply = state.reply(answer);
        replies.push(heard(state, sent, reply));
    }
    state.may_wait = may_wait;
    // Whether the client hears it has been decided, command by command.
    Ok(Reply::Series(match announced {
        true => vec![Reply::Array(replies)],
        false => replies,
    }))
}

/// What the current client gets of a command: the messages that came to it by that, and what it
/// hears of the reply. Some of the outbox was there before.
fn heard(state: &mut State, sent: usize, reply: Reply) -> Reply {
    let current = state.client;
    let own = state.outbox.extract_if(sent.., |(id, _)| *id == current);
    let mut all: Vec<Reply> = own.map(|(_, message)| message).collect();
    match state.clients.get(current).hear(reply) {
        Reply::Series(replies) => all.extend(replies),
        reply => all.push(reply),
    }
    Reply::series(all)
}

/// Whether a watched key has changed, or has expired since.
fn watch_broken(state: &mut State) -> bool {
    let client = state.clients.get_mut(state.client);
    let watched = std::mem::take(&mut client.watched);
    let mut broken = client.watch_broken;
    for watch in watched.iter().filter(|watch| !watch.expired) {
        broken |= state.in_database(watch.database, |state| state.keys.holds_expired(&watch.key));
    }
    broken
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::Reply;
    use crate::test_server::TestServer;

    #[test]
    fn calls_are_kept_until_exec() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("EXEC", "-ERR EXEC without MULTI"),
            ("DISCARD", "-ERR DISCARD without MULTI"),
            ("MULTI", "+OK"),
            ("MULTI", "-ERR MULTI calls can not be nested"),
            ("WATCH k", "-ERR WATCH inside MULTI is not allowed"),
            ("SET k v", "+QUEUED"),
            ("LPUSH k x", "+QUEUED"),
            ("GET k", "+QUEUED"),
            (
                "EXEC",
                "*3 +OK -WRONGTYPE Operation against a key holding the wrong kind of value $1 v",
            ),
            ("MULTI", "+OK"),
            ("SET k w", "+QUEUED"),
            ("DISCARD", "+OK"),
            ("GET k", "$1 v"),
            ("MULTI", "+OK"),
            ("EXEC", "*0"),
        ] {
            server.expect(command, reply);
        }
        server.run("MULTI");
        assert_eq!(server.run("EXEC"), Reply::Array(vec![]));
    }

    #[test]
    fn a_refused_call_spoils_the_transaction() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("MULTI", "+OK"),
            ("SET k v", "+QUEUED"),
            ("GET", "-ERR wrong number of arguments for 'get' command"),
            (
                "EXEC",
                "-EXECABORT Transaction discarded because of previous errors.",
            ),
            ("EXISTS k", ":0"),
            ("MULTI", "+OK"),
            (
                "EXEC x",
                "-EXECABORT Transaction discarded because of: wrong number of arguments for \
                 'exec' command",
            ),
            ("EXEC", "-ERR EXEC without MULTI"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn a_watched_key_must_not_change() {
        for (change, reply) in [
            ("MOVE k 1", "*-1"),
            ("SET k w", "*-1"),
            ("DEL k", "*-1"),
            ("APPEND k w", "*-1"),
            ("PEXPIRE k 5000", "*-1"),
            ("SETNX k w", "*0"),
            ("PERSIST k", "*0"),
            ("FLUSHALL", "*-1"),
            ("SET other w", "*0"),
            ("GET k", "*0"),
        ] {
            let mut server = TestServer::new();
            let other = server.connect();
            server.run("SET k v");
            server.expect("WATCH k", "+OK");
            server.expect("EXEC", "-ERR EXEC without MULTI");
            assert!(server.ask(other, change).is_some());
            server.expect("MULTI", "+OK");
            server.expect("EXEC", reply);
        }
    }

    #[test]
    fn expiry_breaks_a_watch_unless_it_came_before() {
        let mut server = TestServer::new();
        server.run("SET k v PX 5");
        server.run("WATCH k");
        server.advance(Duration::from_millis(6));
        server.run("MULTI");
        server.expect("EXEC", "*-1");

        server.run("SET k v PX 5");
        server.advance(Duration::from_millis(6));
        server.run("WATCH k");
        server.expect("EXISTS k", ":0");
        server.run("MULTI");
        server.expect("EXEC", "*0");

        server.run("WATCH k");
        server.expect("EXEC", "-ERR EXEC without MULTI");
        server.run("SET k v");
        server.run("MULTI");
        server.expect("EXEC", "*-1");

        server.run("WATCH k");
        server.run("UNWATCH");
        server.run("SET k v");
        server.run("MULTI");
        server.expect("EXEC", "*0");
    }
}
