//! One connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::request::Requests;
use super::switchboard::{Outlet, Subscriber, Switchboard};

/// How much may come that has not run, because it is unfinished or the client waits: Redis'
/// `client-query-buffer-limit`. Up to then reading goes on, so that the end of a connection is
/// noticed behind what was sent before it.
const AHEAD_LIMIT: usize = 1024 * 1024 * 1024;

/// How many requests run before others get their turn.
const REQUESTS_PER_TURN: usize = 128;

/// How long the last replies may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How a connection ends that the client has not left.
enum End {
    /// What was answered is still sent.
    AfterReplies,
    AtOnce,
}

/// Serves a client until it goes or has to go.
pub(super) async fn serve(socket: TcpStream, address: SocketAddr, switchboard: Arc<Switchboard>) {
    let (reading, writing) = socket.into_split();
    let (subscriber, outlet) = switchboard.connect(address);
    // Apart, so that a client that sends much before it reads anything gets through.
    let writer = write(outlet, writing);
    let reader = async move {
        let end = read(reading, &subscriber).await;
        drop(subscriber);
        if let End::AfterReplies = end {
            // The writer ends after the last reply; a client that does not read it has had its
            // time.
            tokio::time::sleep(LAST_WORDS).await;
        }
    };
    tokio::select! {
        () = writer => {}
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
async fn read(mut socket: OwnedReadHalf, subscriber: &Subscriber) -> End {
    let mut requests = Requests::default();
    let mut standing = subscriber.standing();
    loop {
        let mut turn = 0;
        while standing.is_connected && !standing.is_waiting {
            match requests.next(standing.is_stranger) {
                Ok(Some(request)) if is_web(&request[0]) => return End::AtOnce,
                Ok(Some(request)) => standing = subscriber.submit(&request),
                Ok(None) => break,
                Err(error) => {
                    subscriber.send(error.to_reply());
                    return End::AfterReplies;
                }
            }
            turn += 1;
            if turn % REQUESTS_PER_TURN == 0 {
                tokio::task::yield_now().await;
            }
        }
        if !standing.is_connected || requests.pending() > AHEAD_LIMIT {
            return End::AfterReplies;
        }
        tokio::select! {
            () = subscriber.news.notified() => {}
            read = socket.read_buf(requests.buffer()) => {
                if !matches!(read, Ok(1..)) {
                    return End::AfterReplies;
                }
            }
        }
        standing = subscriber.standing();
    }
}

/// Whether a browser was made to send this, which Redis hangs up on.
fn is_web(command: &[u8]) -> bool {
    command.eq_ignore_ascii_case(b"post") || command.eq_ignore_ascii_case(b"host:")
}
