//! A transparent layer around the socket that knows what redis-rs does not tell: whether a byte
//! was written or read since some moment, and whether the socket is gone.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;

/// How much of the first bytes is kept: enough for any line with which Redis turns a client away.
const GREETING_LIMIT: usize = 512;

/// What has happened on one socket so far.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    written: AtomicU64,
    read: AtomicU64,
    greeting: OnceLock<Vec<u8>>,
    closing: AtomicBool,
    gone: watch::Sender<bool>,
}

impl Wire {
    /// Bytes that the socket (or the TLS layer) has accepted.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(SeqCst)
    }

    /// Bytes that have arrived.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(SeqCst)
    }

    /// The error line that was the first thing to arrive, without `-`, if one was.
    pub(crate) fn error_greeting(&self) -> Option<String> {
        let line = self.greeting.get()?.strip_prefix(b"-")?;
        let end = line.windows(2).position(|pair| pair == b"\r\n")?;
        Some(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    /// End of stream or an error was seen: no further command should be given to it.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(SeqCst)
    }

    /// The socket was dropped, so `written` is final.
    pub(crate) fn is_gone(&self) -> bool {
        *self.gone.borrow()
    }

    /// Waits until the socket is dropped.
    pub(crate) async fn gone(&self) {
        // The error means that the sender is gone, but it is a field of this.
        let _ = self.gone.subscribe().wait_for(|gone| *gone).await;
    }

    fn observe<T>(&self, poll: &Poll<io::Result<T>>) {
        if matches!(poll, Poll::Ready(Err(_))) {
            self.closing.store(true, SeqCst);
        }
    }
}

/// A stream whose traffic is noted in a [`Wire`].
pub(crate) struct Watched<S> {
    stream: S,
    wire: Arc<Wire>,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S) -> (Self, Arc<Wire>) {
        let wire = Arc::new(Wire::default());
        (
            Self {
                stream,
                wire: wire.clone(),
            },
            wire,
        )
    }
}

impl<S> Drop for Watched<S> {
    fn drop(&mut self) {
        self.wire.closing.store(true, SeqCst);
        self.wire.gone.send_replace(true);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let room = buffer.remaining();
        let poll = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let arrived = buffer.filled().len() - before;
        if arrived > 0 {
            let first = &buffer.filled()[before..];
            self.wire
                .greeting
                .get_or_init(|| first[..arrived.min(GREETING_LIMIT)].to_vec());
        }
        self.wire.read.fetch_add(arrived as u64, SeqCst);
        if matches!(poll, Poll::Ready(Ok(()))) && arrived == 0 && room > 0 {
            self.wire.closing.store(true, SeqCst);
        }
        self.wire.observe(&poll);
        poll
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, bytes);
        // An error counts as a byte: under TLS a part of the bytes may have left before it.
        let accepted = match &poll {
            Poll::Ready(Ok(accepted)) => *accepted as u64,
            Poll::Ready(Err(_)) => 1,
            Poll::Pending => 0,
        };
        self.wire.written.fetch_add(accepted, SeqCst);
        self.wire.observe(&poll);
        poll
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(cx);
        self.wire.observe(&poll);
        poll
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
