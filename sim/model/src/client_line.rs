//! A client as `CLIENT LIST` describes it.

use crate::arguments::{is, shown};
use crate::client::{Client, ClientId};
use crate::refusal::Refusal;
use crate::shape::Protocol;
use crate::state::State;

/// What `TYPE` tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Normal,
    Master,
    Replica,
    PubSub,
}

impl Group {
    pub(crate) fn parse(word: &[u8]) -> Result<Self, Refusal> {
        match word {
            word if is(word, "normal") => Ok(Group::Normal),
            word if is(word, "master") => Ok(Group::Master),
            word if is(word, "replica") || is(word, "slave") => Ok(Group::Replica),
            word if is(word, "pubsub") => Ok(Group::PubSub),
            _ => Err(Refusal::line(&[
                &"ERR Unknown client type '",
                &shown(word),
                &"'",
            ])),
        }
    }

    pub(crate) fn of(client: &Client) -> Self {
        match client.subscriptions() {
            0 => Group::Normal,
            _ => Group::PubSub,
        }
    }
}

/// The line of a client, with its end. Without what this model has none of: memory, sockets.
pub(crate) fn of(state: &State, id: ClientId) -> String {
    let client = state.clients.get(id);
    let is_current = id == state.client;
    let (database, protocol) = match is_current {
        true => (state.selected(), state.protocol),
        false => (client.database, client.protocol),
    };
    let age = (state.time.now_ms() - client.connected_at_ms) / 1000;
    let queued = client
        .transaction
        .as_ref()
        .map_or(-1, |transaction| transaction.calls.len() as i64);
    let mut line = format!(
        "id={id} addr={} name={} age={age} idle=0 flags={} db={database} sub={} psub={} ssub=0 \
         multi={queued} cmd={} user=default redir=-1 resp={}",
        client.address,
        String::from_utf8_lossy(&client.name),
        flags(client),
        client.channels.len(),
        client.patterns.len(),
        match client.last_command {
            "" => "NULL",
            name => name,
        },
        match protocol {
            Protocol::Resp2 => 2,
            Protocol::Resp3 => 3,
        },
    );
    if state.profile != crate::Profile::Redis70 {
        line.push_str(&format!(
            " lib-name={} lib-ver={}",
            client.library_name, client.library_version
        ));
    }
    line.push('\n');
    line
}

fn flags(client: &Client) -> String {
    let marks = [
        (client.subscriptions() > 0, 'P'),
        (client.transaction.is_some(), 'x'),
        (client.waiting.is_some(), 'b'),
        (client.watch_broken, 'd'),
        (client.closing, 'c'),
    ];
    let flags: String = marks
        .into_iter()
        .filter_map(|(holds, mark)| holds.then_some(mark))
        .collect();
    match flags.is_empty() {
        true => "N".to_owned(),
        false => flags,
    }
}
