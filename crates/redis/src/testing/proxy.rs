//! The proxy: its listener, its rules and its switches.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::rule::{Cut, Fault, Rule};
use super::tunnel::Tunnel;

/// What happens to new connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Open,
    Refusing,
    Silent,
}

/// What happens to all existing connections, at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Cut(Cut),
    Stall,
}

/// The part that the tunnels share.
#[derive(Debug)]
pub(crate) struct Shared {
    rules: Mutex<Vec<Rule>>,
    requests: Mutex<HashMap<String, u64>>,
    fired: AtomicU64,
    connections: AtomicU64,
    orders: broadcast::Sender<Order>,
}

impl Shared {
    /// Counts a request and says which fault it meets: that of the oldest rule that is for it.
    pub(crate) fn meet(&self, command: &str) -> Option<Fault> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry(command.to_owned()).or_default() += 1;
        drop(requests);
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fault = None;
        for rule in rules.iter_mut() {
            if rule.meets(command) && fault.is_none() {
                fault = Some(rule.fault);
            }
        }
        rules.retain(|rule| !rule.is_spent());
        if fault.is_some() {
            self.fired.fetch_add(1, SeqCst);
        }
        fault
    }
}

/// A TCP proxy in front of a Redis that understands requests well enough to lose the right one.
///
/// Requests and replies are RESP2 frames, cut out by the `redis-protocol` crate. Commands with
/// any other number of replies than one (SUBSCRIBE, MONITOR, CLIENT REPLY) and RESP3 are not
/// understood. The proxy ends with this handle.
#[derive(Debug)]
pub struct FaultProxy {
    port: u16,
    shared: Arc<Shared>,
    door: watch::Sender<Door>,
    listening: watch::Receiver<bool>,
    task: AbortHandle,
}

impl FaultProxy {
    /// Listens on a free port of 127.0.0.1 and forwards to `upstream` there.
    ///
    /// # Panics
    ///
    /// If it cannot listen.
    pub async fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("the proxy can listen");
        let port = listener.local_addr().expect("the proxy's address").port();
        let shared = Arc::new(Shared {
            rules: Mutex::default(),
            requests: Mutex::default(),
            fired: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            orders: broadcast::Sender::new(16),
        });
        let (door, door_seen) = watch::channel(Door::Open);
        let (listening_now, listening) = watch::channel(true);
        let guard = Guard {
            port,
            upstream,
            shared: shared.clone(),
            door: door_seen,
            listening_now,
        };
        let task = tokio::spawn(guard.run(listener)).abort_handle();
        Self {
            port,
            shared,
            door,
            listening,
            task,
        }
    }

    /// Its own port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address, without password.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Adds a rule. Its counting starts now.
    pub fn inject(&self, rule: Rule) {
        self.shared
            .rules
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(rule);
    }

    /// Forgets all rules.
    pub fn clear(&self) {
        self.shared
            .rules
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// How many requests of this command have come in so far, forwarded or not.
    pub fn requests(&self, command: &str) -> u64 {
        let requests = self
            .shared
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        requests
            .get(&command.to_ascii_uppercase())
            .copied()
            .unwrap_or(0)
    }

    /// How many faults rules have caused so far.
    pub fn fired(&self) -> u64 {
        self.shared.fired.load(SeqCst)
    }

    /// How many connections have been accepted so far.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(SeqCst)
    }

    /// Cuts all existing connections; new ones are served.
    pub fn cut_all(&self, cut: Cut) {
        // An error means that there is no connection.
        let _ = self.shared.orders.send(Order::Cut(cut));
    }

    /// Makes all existing connections silent without closing them; new ones are served.
    pub fn stall_all(&self) {
        let _ = self.shared.orders.send(Order::Stall);
    }

    /// From now on new connections are refused.
    pub async fn refuse(&self) {
        self.set_door(Door::Refusing).await;
    }

    /// From now on new connections are accepted, and nothing ever answers on them.
    pub async fn fall_silent(&self) {
        self.set_door(Door::Silent).await;
    }

    /// From now on new connections are served again.
    pub async fn admit(&self) {
        self.set_door(Door::Open).await;
    }

    async fn set_door(&self, door: Door) {
        self.door.send_replace(door);
        let expected = door != Door::Refusing;
        let mut listening = self.listening.clone();
        // An error means that the proxy is gone, and then nothing listens.
        let _ = listening.wait_for(|now| *now == expected).await;
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The task that accepts.
struct Guard {
    port: u16,
    upstream: u16,
    shared: Arc<Shared>,
    door: watch::Receiver<Door>,
    listening_now: watch::Sender<bool>,
}

impl Guard {
    async fn run(mut self, listener: TcpListener) {
        let mut listener = Some(listener);
        // Dropped with this task, which ends all tunnels.
        let mut tunnels = JoinSet::new();
        loop {
            let door = *self.door.borrow_and_update();
            if door == Door::Refusing {
                listener = None;
            } else if listener.is_none() {
                let address = (Ipv4Addr::LOCALHOST, self.port);
                listener = Some(
                    TcpListener::bind(address)
                        .await
                        .expect("its own port again"),
                );
            }
            self.listening_now.send_replace(listener.is_some());
            let Some(open) = &listener else {
                if self.door.changed().await.is_err() {
                    return;
                }
                continue;
            };
            tokio::select! {
                accepted = open.accept() => if let Ok((client, _)) = accepted {
                    self.shared.connections.fetch_add(1, SeqCst);
                    tunnels.spawn(serve(client, self.upstream, door, self.shared.clone()));
                },
                changed = self.door.changed() => if changed.is_err() {
                    return;
                },
                Some(_ended) = tunnels.join_next() => {}
            }
        }
    }
}

async fn serve(client: TcpStream, upstream: u16, door: Door, shared: Arc<Shared>) {
    let orders = shared.orders.subscribe();
    // A server that is down looks like a connection that closes at once.
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, upstream)).await else {
        return;
    };
    let tunnel = Tunnel::new(client, server, shared);
    tunnel.run(orders, door == Door::Silent).await;
}
