//! One connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;

use super::request::Requests;
use super::switchboard::{Outlet, Switchboard};
use crate::ClientId;

/// How much may come while the client waits, before it is left in the socket.
const AHEAD_LIMIT: usize = 1024 * 1024;

/// How long an unfinished request may become: Redis' `client-query-buffer-limit`.
const REQUEST_LIMIT: usize = 1024 * 1024 * 1024;

/// How many requests run before others get their turn.
const REQUESTS_PER_TURN: usize = 128;

/// How long the last replies may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Serves a client until it goes or has to go.
pub(super) async fn serve(socket: TcpStream, address: SocketAddr, switchboard: Arc<Switchboard>) {
    let (reading, writing) = socket.into_split();
    let subscriber = switchboard.connect(address);
    // Apart, so that a client that sends much before it reads anything gets through.
    let writer = write(subscriber.outlet, writing);
    let reader = async {
        read(reading, subscriber.id, &subscriber.news, &switchboard).await;
        switchboard.disconnect(subscriber.id);
        // The writer ends after the last reply; a client that does not read it has had its time.
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = writer => switchboard.disconnect(subscriber.id),
        () = reader => {}
    }
}

/// Sends replies until there can be no more.
async fn write(mut outlet: Outlet, mut socket: OwnedWriteHalf) {
    while let Some(bytes) = outlet.next().await {
        if socket.write_all(&bytes).await.is_err() {
            return;
        }
    }
    let _ = socket.shutdown().await;
}

/// Runs requests until there can be no more.
async fn read(mut socket: OwnedReadHalf, id: ClientId, news: &Notify, switchboard: &Switchboard) {
    let mut requests = Requests::default();
    let mut standing = switchboard.standing(id);
    loop {
        let mut turn = 0;
        while standing.is_connected && !standing.is_waiting {
            match requests.next(standing.is_stranger) {
                Ok(Some(request)) if is_web(&request[0]) => return,
                Ok(Some(request)) => standing = switchboard.submit(id, &request),
                Ok(None) => break,
                Err(error) => {
                    switchboard.send(id, error.to_reply());
                    return;
                }
            }
            turn += 1;
            if turn % REQUESTS_PER_TURN == 0 {
                tokio::task::yield_now().await;
            }
        }
        if !standing.is_connected || requests.pending() > REQUEST_LIMIT {
            return;
        }
        let has_room = !standing.is_waiting || requests.pending() < AHEAD_LIMIT;
        tokio::select! {
            () = news.notified() => {}
            read = socket.read_buf(requests.buffer()), if has_room => {
                if !matches!(read, Ok(1..)) {
                    return;
                }
            }
        }
        standing = switchboard.standing(id);
    }
}

/// Whether a browser was made to send this, which Redis hangs up on.
fn is_web(command: &[u8]) -> bool {
    command.eq_ignore_ascii_case(b"post") || command.eq_ignore_ascii_case(b"host:")
}
