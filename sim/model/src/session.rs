//! Whose command runs: what the state takes from a client and gives back.

use crate::client::ClientId;
use crate::state::State;

/// The client that was interrupted, to go back to.
#[must_use]
pub(crate) struct Left {
    client: ClientId,
    may_wait: bool,
}

impl State {
    /// Goes on as another client.
    pub(crate) fn enter(&mut self, id: ClientId) -> Left {
        let left = Left {
            client: self.client,
            may_wait: self.may_wait,
        };
        self.put_aside();
        self.take_up(id, id != ClientId::OWN);
        left
    }

    /// Goes on as the client before.
    pub(crate) fn leave(&mut self, left: Left) {
        self.put_aside();
        self.take_up(left.client, left.may_wait);
    }

    fn put_aside(&mut self) {
        let (database, protocol) = (self.selected(), self.protocol);
        let client = self.clients.get_mut(self.client);
        client.database = database;
        client.protocol = protocol;
    }

    fn take_up(&mut self, id: ClientId, may_wait: bool) {
        let client = self.clients.get(id);
        let (database, protocol) = (client.database, client.protocol);
        self.client = id;
        self.may_wait = may_wait;
        self.protocol = protocol;
        self.select(database);
    }
}
