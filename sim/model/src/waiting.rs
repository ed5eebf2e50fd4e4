//! Clients that wait for a key: who is served, in which order, and when they give up.

use crate::client::ClientId;
use crate::commands::{self, stream_wait};
use crate::dispatch;
use crate::keyspace::Change;
use crate::refusal::{Answer, Refusal};
use crate::script::Engine;
use crate::state::State;
use crate::wait::Wait;

const STREAM: &str = "stream";

/// Breaks the watches of the keys that changed and serves who waited for them, until nothing
/// changes any more: `BLMOVE` changes a key itself.
pub(crate) fn settle_changes(engine: &mut Engine, state: &mut State) {
    loop {
        let changes = state.take_changes();
        if changes.is_empty() {
            break;
        }
        break_watches(state, &changes);
        for ready in ready_keys(state, changes) {
            serve(engine, state, &ready);
        }
    }
    if !state.clients.care_about_keys() {
        state.record_changes(false);
    }
}

/// A key that may serve those who wait for it.
#[derive(Debug, PartialEq, Eq)]
struct Ready {
    database: usize,
    key: Vec<u8>,
    /// Whether it is new. One that was merely written serves those alone who wait for a stream.
    added: bool,
}

/// The keys to look at, in the order in which they became ready, each once.
fn ready_keys(state: &State, changes: Vec<(usize, Vec<u8>, Change)>) -> Vec<Ready> {
    let mut keys = Vec::new();
    for (database, key, change) in changes {
        let kind = match change {
            Change::Lessened => continue,
            Change::Written | Change::Woken => STREAM,
            Change::Added(kind) => kind,
        };
        // As in Redis, a key is queued if there is somebody for it and somebody, whoever that is,
        // for its type, which may be another one when its turn comes.
        let for_key = |(id, wait): (ClientId, &Wait)| wants(state, id, wait, database, &key);
        let for_kind = |(_, wait): (ClientId, &Wait)| wait.kind() == kind;
        if state.clients.waiting().any(for_key) && state.clients.waiting().any(for_kind) {
            let added = matches!(change, Change::Added(_));
            let ready = Ready {
                database,
                key,
                added,
            };
            if !keys.contains(&ready) {
                keys.push(ready);
            }
        }
    }
    keys
}

fn wants(state: &State, id: ClientId, wait: &Wait, database: usize, key: &[u8]) -> bool {
    state.clients.get(id).database == database && wait.keys.iter().any(|wanted| wanted == key)
}

/// Marks the clients whose watched keys changed. That a key which had expired before the watch
/// began is now removed is no change.
fn break_watches(state: &mut State, changes: &[(usize, Vec<u8>, Change)]) {
    #[cfg(feature = "planted-faults")]
    if state.makes(crate::Fault::WatchSeesNothing) {
        return;
    }
    for id in state.clients.ids() {
        let mut watched = std::mem::take(&mut state.clients.get_mut(id).watched);
        let mut broken = false;
        for watch in &mut watched {
            let writes = changes.iter().filter(|(database, key, change)| {
                *change == Change::Written && *database == watch.database && *key == watch.key
            });
            match (writes.count(), watch.expired) {
                (0, _) => {}
                (1, true) => {
                    let there = |state: &mut State| state.keys.contains(&watch.key);
                    broken |= state.in_database(watch.database, there);
                    watch.expired = false;
                }
                _ => broken = true,
            }
        }
        let client = state.clients.get_mut(id);
        client.watched = watched;
        client.watch_broken |= broken;
    }
}

/// Tries again, in order, who waits for a key.
fn serve(engine: &mut Engine, state: &mut State, ready: &Ready) {
    let waiting: Vec<_> = state
        .clients
        .waiting()
        .filter(|(id, wait)| wants(state, *id, wait, ready.database, &ready.key))
        .filter(|(_, wait)| ready.added || wait.kind() == STREAM)
        .map(|(id, wait)| (id, wait.clone()))
        .collect();
    for (id, wait) in waiting {
        if let Some(answer) = try_again(engine, state, id, &wait, &ready.key) {
            finish(state, id, answer);
        }
    }
}

/// The answer for a client, unless it has to wait on.
fn try_again(
    engine: &mut Engine,
    state: &mut State,
    id: ClientId,
    wait: &Wait,
    key: &[u8],
) -> Option<Answer> {
    let left = state.enter(id);
    let answer = if wait.kind() == STREAM {
        stream_wait::read_on(state, wait, key)
    } else if (state.keys.slot(key)).is_some_and(|slot| slot.value.kind() == wait.kind()) {
        let call = wait.call_for(key);
        let argv: Vec<&[u8]> = call.iter().map(Vec::as_slice).collect();
        let command = commands::find(state.profile, &argv);
        match command.and_then(|command| dispatch::run(engine, state, command, &argv)) {
            Err(Refusal::Wait(_)) => None,
            answer => Some(answer),
        }
    } else {
        None
    };
    state.leave(left);
    answer
}

/// Ends a wait.
pub(crate) fn finish(state: &mut State, id: ClientId, answer: Answer) {
    state.clients.stop_waiting(id);
    let reply = state.reply(answer);
    state.send_last(id, reply);
}

/// Ends the waits whose time is up.
pub(crate) fn give_up(state: &mut State) {
    let now_ms = state.time.now_ms();
    let is_late = |(id, wait): (ClientId, &Wait)| {
        let deadline = wait.deadline_ms.filter(|deadline| *deadline <= now_ms)?;
        Some((deadline, id, wait.empty.clone()))
    };
    let mut late: Vec<_> = state.clients.waiting().filter_map(is_late).collect();
    late.sort_by_key(|(deadline, _, _)| *deadline);
    for (_, id, empty) in late {
        finish(state, id, Ok(empty));
    }
}

/// When the first wait ends, in milliseconds since 1970.
pub(crate) fn next_deadline_ms(state: &State) -> Option<i64> {
    let waits = state.clients.waiting();
    waits.filter_map(|(_, wait)| wait.deadline_ms).min()
}

/// Sends away everybody who waits, because this server is a replica now.
pub(crate) fn send_away(state: &mut State) {
    let waiting: Vec<_> = state.clients.waiting().map(|(id, _)| id).collect();
    for id in waiting {
        let text = "UNBLOCKED force unblock from blocking operation, instance state changed \
                    (master -> replica?)";
        finish(state, id, Err(Refusal::Text(text)));
    }
}

impl Wait {
    /// The command that waits, in lower case.
    fn command(&self) -> String {
        let name = self.call.first().map(Vec::as_slice).unwrap_or_default();
        String::from_utf8_lossy(name).to_ascii_lowercase()
    }

    /// The type of value that it waits for.
    fn kind(&self) -> &'static str {
        match self.command().as_str() {
            name if name.starts_with('x') => STREAM,
            name if name.starts_with("bz") => "zset",
            _ => "list",
        }
    }

    /// The call for one of the keys alone: not the first key of the call is served, but the first
    /// that changed.
    fn call_for(&self, key: &[u8]) -> Vec<Vec<u8>> {
        let call = &self.call;
        match self.command().as_str() {
            "blpop" | "brpop" | "bzpopmin" | "bzpopmax" => {
                let timeout = call.last().cloned().unwrap_or_default();
                vec![call[0].clone(), key.to_vec(), timeout]
            }
            "blmpop" | "bzmpop" => {
                let mut one = call[..2].to_vec();
                one.extend([b"1".to_vec(), key.to_vec()]);
                one.extend_from_slice(&call[3 + self.keys.len()..]);
                one
            }
            _ => call.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Reply;

    #[test]
    fn one_key_is_tried_at_a_time() {
        for (call, keys, expected) in [
            ("BLPOP a b 5", &["a", "b"][..], "BLPOP b 5"),
            (
                "BLMPOP 0 2 a b LEFT COUNT 3",
                &["a", "b"],
                "BLMPOP 0 1 b LEFT COUNT 3",
            ),
            ("BLMOVE b c LEFT LEFT 0", &["b"], "BLMOVE b c LEFT LEFT 0"),
        ] {
            let words = |text: &str| {
                text.split(' ')
                    .map(|word| word.as_bytes().to_vec())
                    .collect()
            };
            let wait = Wait {
                keys: keys.iter().map(|key| key.as_bytes().to_vec()).collect(),
                deadline_ms: None,
                empty: Reply::Nil,
                call: words(call),
            };
            let expected: Vec<Vec<u8>> = words(expected);
            assert_eq!(wait.call_for(b"b"), expected);
        }
    }
}
