//! The clients of a server.

use std::collections::BTreeMap;
use std::fmt;

use crate::fields::Fields;
use crate::reply::Reply;
use crate::shape::Protocol;
use crate::wait::Wait;

/// One connection to a server, by the number that `CLIENT ID` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub(crate) u64);

impl ClientId {
    /// The client behind [`Server::execute`](crate::Server::execute).
    pub(crate) const OWN: ClientId = ClientId(1);

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Calls kept for `EXEC`.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) calls: Vec<Vec<Vec<u8>>>,
    /// Whether a call was refused, so that `EXEC` will run none.
    pub(crate) failed: bool,
    /// Whether one of the calls writes.
    pub(crate) writes: bool,
    /// Whether one of the calls is refused when memory is full.
    pub(crate) needs_memory: bool,
}

/// A key that must not change before `EXEC`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) database: usize,
    pub(crate) key: Vec<u8>,
    /// Whether it had expired, unnoticed, when the watch began: then its removal is no change.
    pub(crate) expired: bool,
}

/// Which replies a client does not want. Messages it gets all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Silence {
    pub(crate) off: bool,
    /// For the command that runs.
    pub(crate) this: bool,
    /// For the command after that.
    pub(crate) next: bool,
}

impl Silence {
    pub(crate) fn holds(self) -> bool {
        self.off || self.this
    }

    /// Goes on to the next command.
    fn pass(&mut self) {
        self.this = std::mem::take(&mut self.next);
    }
}

/// What the server knows of a client.
#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) name: Vec<u8>,
    /// Where it comes from, as a listener says.
    pub(crate) address: String,
    pub(crate) library_name: String,
    pub(crate) library_version: String,
    pub(crate) connected_at_ms: i64,
    pub(crate) protocol: Protocol,
    pub(crate) database: usize,
    pub(crate) authenticated: bool,
    pub(crate) transaction: Option<Transaction>,
    pub(crate) watched: Vec<Watched>,
    /// Whether a watched key has changed since.
    pub(crate) watch_broken: bool,
    pub(crate) waiting: Option<Waiting>,
    /// The names without values.
    pub(crate) channels: Fields,
    pub(crate) patterns: Fields,
    pub(crate) silence: Silence,
    /// Whether the connection ends after what it has been answered.
    pub(crate) closing: bool,
    pub(crate) last_command: &'static str,
}

/// A client that waits, and since when compared with others.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) wait: Wait,
    pub(crate) turn: u64,
}

impl Client {
    /// Whether only messages and the commands about them are exchanged now. With RESP3 a client
    /// can tell messages from replies, so there it may go on.
    pub(crate) fn only_listens(&self) -> bool {
        self.protocol == Protocol::Resp2 && self.subscriptions() > 0
    }

    pub(crate) fn subscriptions(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }

    /// What of a reply the client gets.
    pub(crate) fn hear(&self, reply: Reply) -> Reply {
        match reply {
            Reply::Series(replies) => Reply::series(replies),
            message @ Reply::Push(_) => message,
            _ if self.silence.holds() => Reply::Series(Vec::new()),
            reply => reply,
        }
    }

    /// The same for the reply that ends a command.
    pub(crate) fn hear_last(&mut self, reply: Reply) -> Reply {
        let heard = self.hear(reply);
        self.silence.pass();
        heard
    }

    /// Forgets the transaction and what was watched for it.
    pub(crate) fn end_transaction(&mut self) {
        self.transaction = None;
        self.forget_watches();
    }

    pub(crate) fn forget_watches(&mut self) {
        self.watched.clear();
        self.watch_broken = false;
    }
}

/// All clients, and who listens to what.
#[derive(Debug)]
pub(crate) struct Clients {
    clients: BTreeMap<ClientId, Client>,
    /// Those whose connections are to be ended, since they were last asked for.
    closed: Vec<ClientId>,
    /// Those who wait, the first comer first.
    waits: BTreeMap<u64, ClientId>,
    last_id: u64,
    last_turn: u64,
    /// Stands in for a client that is gone, so that asking for one cannot fail.
    nobody: Client,
}

impl Default for Clients {
    fn default() -> Self {
        let own = Client {
            authenticated: true,
            ..Client::default()
        };
        Clients {
            clients: BTreeMap::from([(ClientId::OWN, own)]),
            closed: Vec::new(),
            waits: BTreeMap::new(),
            last_id: ClientId::OWN.0,
            last_turn: 0,
            nobody: Client::default(),
        }
    }
}

impl Clients {
    pub(crate) fn add(&mut self, client: Client) -> ClientId {
        self.last_id += 1;
        let id = ClientId(self.last_id);
        self.clients.insert(id, client);
        id
    }

    pub(crate) fn remove(&mut self, id: ClientId) {
        self.stop_waiting(id);
        self.clients.remove(&id);
    }

    pub(crate) fn find(&self, id: ClientId) -> Option<&Client> {
        self.clients.get(&id)
    }

    pub(crate) fn get(&self, id: ClientId) -> &Client {
        self.clients.get(&id).unwrap_or(&self.nobody)
    }

    pub(crate) fn get_mut(&mut self, id: ClientId) -> &mut Client {
        self.clients.get_mut(&id).unwrap_or(&mut self.nobody)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ClientId, &Client)> {
        self.clients.iter().map(|(id, client)| (*id, client))
    }

    pub(crate) fn ids(&self) -> Vec<ClientId> {
        self.clients.keys().copied().collect()
    }

    /// Ends a connection, once what it has been answered is sent.
    pub(crate) fn close(&mut self, id: ClientId) {
        self.stop_waiting(id);
        let client = self.get_mut(id);
        if !client.closing && id != ClientId::OWN {
            client.closing = true;
            self.closed.push(id);
        }
    }

    /// Removes the clients whose connections are to be ended, and names them.
    pub(crate) fn take_closed(&mut self) -> Vec<ClientId> {
        let closed = std::mem::take(&mut self.closed);
        for id in &closed {
            self.remove(*id);
        }
        closed
    }

    /// Makes a client wait, behind all who wait already.
    pub(crate) fn wait(&mut self, id: ClientId, wait: Wait) {
        self.last_turn += 1;
        let turn = self.last_turn;
        self.waits.insert(turn, id);
        self.get_mut(id).waiting = Some(Waiting { wait, turn });
    }

    pub(crate) fn stop_waiting(&mut self, id: ClientId) {
        if let Some(waiting) = self.get_mut(id).waiting.take() {
            self.waits.remove(&waiting.turn);
        }
    }

    /// Those who wait, the first comer first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (ClientId, &Wait)> {
        self.waits
            .values()
            .filter_map(|id| Some((*id, &self.get(*id).waiting.as_ref()?.wait)))
    }

    /// Whether anybody watches a key or waits for one, so that changes have to be remembered.
    pub(crate) fn care_about_keys(&self) -> bool {
        !self.waits.is_empty() || self.iter().any(|(_, client)| !client.watched.is_empty())
    }
}
