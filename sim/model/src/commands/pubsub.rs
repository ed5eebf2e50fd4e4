//! Publishing to whoever listens now.

use std::collections::BTreeSet;

use super::{Entry, data};
use crate::client::Client;
use crate::fields::Fields;
use crate::glob;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("subscribe", |state, argv| subscribe(state, argv, &CHANNELS)),
    data("psubscribe", |state, argv| {
        subscribe(state, argv, &PATTERNS)
    }),
    data("unsubscribe", |state, argv| {
        unsubscribe(state, argv, &CHANNELS)
    }),
    data("punsubscribe", |state, argv| {
        unsubscribe(state, argv, &PATTERNS)
    }),
    data("publish", publish),
    data("pubsub|channels", channels),
    data("pubsub|numpat", |state, _| {
        let patterns: BTreeSet<_> = state
            .clients
            .iter()
            .flat_map(|(_, client)| client.patterns.iter())
            .map(|(pattern, _)| pattern)
            .collect();
        Ok(Reply::count(patterns.len()))
    }),
    data("pubsub|numsub", |state, argv| {
        let listeners = |channel: &[u8]| {
            let clients = state.clients.iter();
            clients
                .filter(|(_, client)| client.channels.get(channel).is_some())
                .count()
        };
        // No map in RESP3 either.
        let pairs = argv[2..]
            .iter()
            .flat_map(|channel| [Reply::bulk(*channel), Reply::count(listeners(channel))]);
        Ok(Reply::Array(pairs.collect()))
    }),
];

/// One of the two kinds of subscription.
struct Kind {
    begin: &'static str,
    end: &'static str,
    names: fn(&mut Client) -> &mut Fields,
}

const CHANNELS: Kind = Kind {
    begin: "subscribe",
    end: "unsubscribe",
    names: |client| &mut client.channels,
};

const PATTERNS: Kind = Kind {
    begin: "psubscribe",
    end: "punsubscribe",
    names: |client| &mut client.patterns,
};

fn subscribe(state: &mut State, argv: &[&[u8]], kind: &Kind) -> Answer {
    let client = state.clients.get_mut(state.client);
    let mut answers = Vec::new();
    for name in &argv[1..] {
        (kind.names)(client).set(name, Vec::new());
        answers.push((kind.begin, Some(name.to_vec()), client.subscriptions()));
    }
    Ok(answer_each(answers))
}

fn unsubscribe(state: &mut State, argv: &[&[u8]], kind: &Kind) -> Answer {
    let client = state.clients.get_mut(state.client);
    let names: Vec<_> = match &argv[1..] {
        [] => {
            let all = (kind.names)(client).iter();
            all.map(|(name, _)| name.to_vec()).collect()
        }
        names => names.iter().map(|name| name.to_vec()).collect(),
    };
    let mut answers = Vec::new();
    for name in names {
        (kind.names)(client).remove(&name);
        answers.push((kind.end, Some(name), client.subscriptions()));
    }
    if answers.is_empty() {
        answers.push((kind.end, None, client.subscriptions()));
    }
    Ok(answer_each(answers))
}

/// One answer per name. They are messages: who wants no replies gets them too.
fn answer_each(answers: Vec<(&'static str, Option<Vec<u8>>, usize)>) -> Reply {
    let answers = answers.into_iter().map(|(what, name, count)| {
        Reply::Push(vec![
            Reply::bulk(what),
            Reply::bulk_or_nil(name),
            Reply::count(count),
        ])
    });
    Reply::series(answers.collect())
}

fn publish(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (channel, text) = (argv[1], argv[2]);
    let mut messages = Vec::new();
    for (id, client) in state.clients.iter() {
        if client.channels.get(channel).is_some() {
            let words = ["message".as_bytes(), channel, text];
            messages.push((id, Reply::Push(words.map(Reply::bulk).into())));
        }
    }
    for (id, client) in state.clients.iter() {
        for (pattern, _) in client.patterns.iter() {
            if glob::matches(pattern, channel) {
                let words = ["pmessage".as_bytes(), pattern, channel, text];
                messages.push((id, Reply::Push(words.map(Reply::bulk).into())));
            }
        }
    }
    let receivers = messages.len();
    state.outbox.extend(messages);
    Ok(Reply::count(receivers))
}

fn channels(state: &mut State, argv: &[&[u8]]) -> Answer {
    let pattern = match argv {
        [_, _] => None,
        [_, _, pattern] => Some(*pattern),
        _ => {
            return Err(Refusal::Text(
                "ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB \
                 HELP.",
            ));
        }
    };
    let names: BTreeSet<_> = state
        .clients
        .iter()
        .flat_map(|(_, client)| client.channels.iter())
        .map(|(name, _)| name)
        .filter(|name| pattern.is_none_or(|pattern| glob::matches(pattern, name)))
        .collect();
    Ok(Reply::bulks(names))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;
    use crate::{ClientId, Reply};

    fn call(server: &mut TestServer, client: ClientId, words: &str) -> Vec<String> {
        server.send(client, words);
        let replies = server.take_replies();
        let show = |(id, reply): (ClientId, Reply)| {
            let bytes = reply.to_bytes(server.protocol(id));
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", " ");
            format!("{id}: {}", text.trim_end())
        };
        replies.into_iter().map(show).collect()
    }

    #[test]
    fn messages_reach_those_who_listen() {
        let mut server = TestServer::new();
        let (one, two) = (server.connect(), server.connect());
        assert_eq!(
            call(&mut server, one, "SUBSCRIBE a b"),
            ["2: *3 $9 subscribe $1 a :1", "2: *3 $9 subscribe $1 b :2"]
        );
        call(&mut server, two, "HELLO 3");
        assert_eq!(
            call(&mut server, two, "PSUBSCRIBE a*"),
            ["3: >3 $10 psubscribe $2 a* :1"]
        );
        assert_eq!(
            call(&mut server, two, "PUBLISH a hi"),
            [
                "2: *3 $7 message $1 a $2 hi",
                "3: >4 $8 pmessage $2 a* $1 a $2 hi",
                "3: :2"
            ]
        );
        assert_eq!(call(&mut server, one, "PING"), ["2: *2 $4 pong $0"]);
        assert_eq!(
            call(&mut server, one, "GET k"),
            [
                "2: -ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT \
                 / RESET are allowed in this context"
            ]
        );
        assert_eq!(
            call(&mut server, two, "PUBSUB NUMSUB a c"),
            ["3: *4 $1 a :1 $1 c :0"]
        );
        assert_eq!(call(&mut server, two, "PUBSUB NUMPAT"), ["3: :1"]);
        assert_eq!(
            call(&mut server, two, "PUBSUB CHANNELS"),
            ["3: *2 $1 a $1 b"]
        );
        assert_eq!(
            call(&mut server, one, "UNSUBSCRIBE"),
            [
                "2: *3 $11 unsubscribe $1 a :1",
                "2: *3 $11 unsubscribe $1 b :0"
            ]
        );
        assert_eq!(
            call(&mut server, one, "UNSUBSCRIBE"),
            ["2: *3 $11 unsubscribe $-1 :0"]
        );
        assert_eq!(call(&mut server, one, "PUBLISH x y"), ["2: :0"]);
    }

    #[test]
    fn all_patterns_end_in_the_order_of_subscription() {
        let mut server = TestServer::new();
        let client = server.connect();
        for words in ["PSUBSCRIBE c* a* b* c*", "PUNSUBSCRIBE a*", "PSUBSCRIBE a*"] {
            call(&mut server, client, words);
        }
        assert_eq!(
            call(&mut server, client, "PUNSUBSCRIBE"),
            [
                "2: *3 $12 punsubscribe $2 c* :2",
                "2: *3 $12 punsubscribe $2 b* :1",
                "2: *3 $12 punsubscribe $2 a* :0"
            ]
        );
    }

    #[test]
    fn messages_come_to_those_who_want_no_replies() {
        for mode in ["OFF", "SKIP"] {
            let mut server = TestServer::new();
            let (one, two) = (server.connect(), server.connect());
            call(&mut server, one, "HELLO 3");
            call(&mut server, one, &format!("CLIENT REPLY {mode}"));
            assert_eq!(
                call(&mut server, one, "SUBSCRIBE a"),
                ["2: >3 $9 subscribe $1 a :1"]
            );
            assert_eq!(
                call(&mut server, two, "PUBLISH a x"),
                ["2: >3 $7 message $1 a $1 x", "3: :1"]
            );
            call(&mut server, one, &format!("CLIENT REPLY {mode}"));
            assert_eq!(
                call(&mut server, one, "PUBLISH a y"),
                ["2: >3 $7 message $1 a $1 y"]
            );
        }
    }

    #[test]
    fn messages_come_in_the_middle_of_a_transaction() {
        let mut server = TestServer::new();
        let client = server.connect();
        let calls = [
            "MULTI",
            "SUBSCRIBE a b",
            "PING",
            "GET k",
            "PUBLISH a x",
            "UNSUBSCRIBE",
            "PING",
        ];
        for words in calls {
            call(&mut server, client, words);
        }
        assert_eq!(
            call(&mut server, client, "EXEC"),
            [
                "2: *6 *3 $9 subscribe $1 a :1 *3 $9 subscribe $1 b :2 *2 $4 pong $0  $-1 \
                 *3 $7 message $1 a $1 x :1 *3 $11 unsubscribe $1 a :1 \
                 *3 $11 unsubscribe $1 b :0 +PONG"
            ]
        );
        call(&mut server, client, "HELLO 3");
        call(&mut server, client, "SUBSCRIBE a");
        let calls = [
            "MULTI",
            "PUBLISH a x",
            "CLIENT REPLY OFF",
            "PUBLISH a y",
            "ECHO c",
        ];
        for words in calls {
            call(&mut server, client, words);
        }
        assert_eq!(
            call(&mut server, client, "EXEC"),
            ["2: *4 >3 $7 message $1 a $1 x :1 >3 $7 message $1 a $1 y"]
        );
    }
}
