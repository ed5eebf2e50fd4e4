//! The server on a TCP port, for clients in other processes.
//!
//! A test double and no more: it keeps everything in memory and one lock around it.

mod connection;
mod protocol_error;
mod request;
mod switchboard;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::task::JoinSet;

use crate::Server;
use switchboard::Switchboard;

/// How long to wait when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A [`Server`] that clients reach over TCP, in RESP2 and RESP3.
///
/// What is not a well-formed request is answered with the protocol error of Redis and ends that
/// connection alone. The server should follow the machine's clock ([`Clock::Wall`]): waits of
/// clients end by it.
///
/// [`Clock::Wall`]: crate::Clock::Wall
pub struct Listener {
    socket: TcpListener,
    switchboard: Arc<Switchboard>,
}

/// Access to the server behind a [`Listener`], while that runs.
#[derive(Clone)]
pub struct Handle(Arc<Switchboard>);

impl Handle {
    /// Does something with the server between two commands of its clients, such as to impose a
    /// [`Condition`](crate::Condition). What clients get by that is sent to them.
    pub fn with<T>(&self, work: impl FnOnce(&mut Server) -> T) -> T {
        self.0.with(work)
    }
}

impl Listener {
    /// Opens the port; port 0 is one that is free.
    ///
    /// # Errors
    ///
    /// What the system says when it cannot be opened.
    pub async fn bind(address: impl ToSocketAddrs, server: Server) -> io::Result<Self> {
        Ok(Listener {
            socket: TcpListener::bind(address).await?,
            switchboard: Arc::new(Switchboard::new(server)),
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// What the system says when it cannot tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Access to the server.
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.switchboard))
    }

    /// Serves clients until `stop` is ready; then all connections end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        let switchboard = &self.switchboard;
        tokio::pin!(stop);
        let waits = switchboard.end_waits();
        tokio::pin!(waits);
        loop {
            tokio::select! {
                () = &mut stop => break,
                () = &mut waits => {}
                Some(_) = connections.join_next() => {}
                accepted = self.socket.accept() => match accepted {
                    Ok((socket, address)) => {
                        // Replies are short, and a client waits for each.
                        let _ = socket.set_nodelay(true);
                        let switchboard = Arc::clone(switchboard);
                        connections.spawn(connection::serve(socket, address, switchboard));
                    }
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                },
            }
        }
    }
}
