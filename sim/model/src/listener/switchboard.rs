//! The server with its connections: what a client gets finds its way to it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{ClientId, Server};

/// How many bytes may be on their way to a client that does not read them, before it is cut off.
const UNREAD_LIMIT: usize = 1024 * 1024 * 1024;

/// One server for all connections. Its lock is never held across an `await`.
pub(super) struct Switchboard {
    exchange: Mutex<Exchange>,
    /// Rings when there may be a wait that ends before all others.
    waits: Notify,
}

struct Exchange {
    server: Server,
    lines: HashMap<ClientId, Line>,
    next_deadline_ms: Option<i64>,
}

/// The way to one client.
struct Line {
    replies: UnboundedSender<Vec<u8>>,
    unread: Arc<AtomicUsize>,
    news: Arc<Notify>,
}

/// The end of a line, for the connection.
pub(super) struct Outlet {
    replies: UnboundedReceiver<Vec<u8>>,
    unread: Arc<AtomicUsize>,
}

/// A connection's own client, which goes with it, even if the connection's task panics.
pub(super) struct Subscriber {
    switchboard: Arc<Switchboard>,
    id: ClientId,
    /// Rings when the client may have stopped waiting, or is to go.
    pub(super) news: Arc<Notify>,
}

/// What a client may do now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub(super) is_connected: bool,
    pub(super) is_waiting: bool,
    pub(super) is_stranger: bool,
}

impl Switchboard {
    pub(super) fn new(server: Server) -> Self {
        Switchboard {
            exchange: Mutex::new(Exchange {
                server,
                lines: HashMap::new(),
                next_deadline_ms: None,
            }),
            waits: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Exchange> {
        // A panic of a command has been answered by nobody; the others may go on.
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Server) -> T) -> T {
        let mut exchange = self.lock();
        let done = work(&mut exchange.server);
        self.deliver(&mut exchange, None);
        done
    }

    pub(super) fn connect(self: &Arc<Self>, address: SocketAddr) -> (Subscriber, Outlet) {
        let mut exchange = self.lock();
        let id = exchange.server.connect_from(&address.to_string());
        let (replies, outlet) = unbounded_channel();
        let (unread, news) = (Arc::default(), Arc::default());
        let line = Line {
            replies,
            unread: Arc::clone(&unread),
            news: Arc::clone(&news),
        };
        exchange.lines.insert(id, line);
        let subscriber = Subscriber {
            switchboard: Arc::clone(self),
            id,
            news,
        };
        let replies = outlet;
        (subscriber, Outlet { replies, unread })
    }

    /// Sends what clients got, ends the connections that are to end, and looks after the waits.
    /// The `current` client needs no news of itself.
    fn deliver(&self, exchange: &mut Exchange, current: Option<ClientId>) {
        for (id, reply) in exchange.server.take_replies() {
            let bytes = reply.to_bytes(exchange.server.protocol(id));
            exchange.send(id, bytes);
            if current != Some(id) {
                exchange.ring(id);
            }
        }
        for id in exchange.server.take_closed() {
            exchange.hang_up(id);
        }
        let deadline = exchange.server.next_deadline_ms();
        if deadline != exchange.next_deadline_ms {
            exchange.next_deadline_ms = deadline;
            self.waits.notify_one();
        }
    }

    /// Ends waits when their time is up. Does not return.
    pub(super) async fn end_waits(&self) {
        loop {
            let deadline_ms = self.lock().next_deadline_ms;
            let up = async {
                match deadline_ms {
                    Some(deadline_ms) => tokio::time::sleep(time_until(deadline_ms)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.waits.notified() => {}
                () = up => self.with(Server::give_up_late_waits),
            }
        }
    }
}

impl Subscriber {
    /// Runs a request.
    pub(super) fn submit(&self, request: &[Bytes]) -> Standing {
        let argv: Vec<&[u8]> = request.iter().map(|word| &word[..]).collect();
        let mut exchange = self.switchboard.lock();
        exchange.server.submit(self.id, &argv);
        self.switchboard.deliver(&mut exchange, Some(self.id));
        exchange.standing(self.id)
    }

    /// Sends bytes that are no reply of a command.
    pub(super) fn send(&self, bytes: Vec<u8>) {
        self.switchboard.lock().send(self.id, bytes);
    }

    pub(super) fn standing(&self) -> Standing {
        self.switchboard.lock().standing(self.id)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let mut exchange = self.switchboard.lock();
        exchange.server.disconnect(self.id);
        exchange.lines.remove(&self.id);
    }
}

/// How long it is until then, at least a moment: the server's clock may have been set.
fn time_until(deadline_ms: i64) -> Duration {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let deadline = Duration::from_millis(u64::try_from(deadline_ms).unwrap_or_default());
    deadline
        .saturating_sub(now)
        .clamp(Duration::from_millis(1), Duration::from_secs(3600))
}

impl Exchange {
    fn standing(&self, id: ClientId) -> Standing {
        Standing {
            is_connected: self.lines.contains_key(&id) && self.server.is_connected(id),
            is_waiting: self.server.is_waiting(id),
            is_stranger: !self.server.is_authenticated(id),
        }
    }

    fn send(&mut self, id: ClientId, bytes: Vec<u8>) {
        let Some(line) = self.lines.get(&id) else {
            return;
        };
        let unread = line.unread.fetch_add(bytes.len(), Ordering::Relaxed);
        // A line that nobody listens to any more is taken down by its connection.
        let _ = line.replies.send(bytes);
        if unread > UNREAD_LIMIT {
            self.server.disconnect(id);
            self.hang_up(id);
        }
    }

    fn ring(&self, id: ClientId) {
        if let Some(line) = self.lines.get(&id) {
            line.news.notify_one();
        }
    }

    fn hang_up(&mut self, id: ClientId) {
        if let Some(line) = self.lines.remove(&id) {
            line.news.notify_one();
        }
    }
}

impl Outlet {
    /// What is to be sent next, several replies in one. `None` after the last.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        let mut bytes = self.replies.recv().await?;
        while let Ok(more) = self.replies.try_recv() {
            bytes.extend_from_slice(&more);
            if bytes.len() > 256 * 1024 {
                break;
            }
        }
        self.unread.fetch_sub(bytes.len(), Ordering::Relaxed);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{Clock, Options, Profile};

    #[test]
    fn a_panic_leaves_no_client_behind() {
        let server = Server::new(Options {
            profile: Profile::Redis70,
            clock: Clock::Wall,
        });
        let switchboard = Arc::new(Switchboard::new(server));
        let (subscriber, _outlet) = switchboard.connect(SocketAddr::from(([127, 0, 0, 1], 5000)));
        let id = subscriber.id;
        subscriber.submit(&[Bytes::from("BLPOP"), Bytes::from("q"), Bytes::from("0")]);
        assert!(subscriber.standing().is_waiting);
        let work = AssertUnwindSafe(|| {
            let _held = subscriber;
            switchboard.with(|_| panic!("as a command might"));
        });
        assert!(catch_unwind(work).is_err());
        switchboard.with(|server| assert!(!server.is_connected(id)));
        assert!(switchboard.lock().lines.is_empty());
    }
}
