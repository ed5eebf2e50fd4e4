//! One live connection, and how the outcome of a call on it is judged.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use leaseline_core::capability::{RedisError, ServerError};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisConnectionInfo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio::task::coop::unconstrained;
use tokio::time::Instant;

use crate::wire::{Watched, Wire};

/// A call that has waited this long without a single byte arriving puts its connection in doubt. A
/// caller who gives up after less is an ordinary cancellation.
pub(crate) const LONG_SILENCE: Duration = Duration::from_secs(1);

/// One socket with redis-rs's multiplexer on it. Callers hold it by `Arc`; when the last one lets
/// go, the socket is closed even if replies are still due.
pub(crate) struct Link {
    multiplexed: MultiplexedConnection,
    wire: Arc<Wire>,
    driver: AbortHandle,
}

impl Link {
    /// Puts the multiplexer on a connected stream. Sends nothing: redis-rs's own handshake hides
    /// the server's error codes, so [`dial`](crate::dial) does it.
    pub(crate) async fn start<S>(stream: S) -> Result<Self, redis::RedisError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (watched, wire) = Watched::new(stream);
        let silent = RedisConnectionInfo::default().set_skip_set_lib_name();
        // Deadlines are ours; redis-rs would give up after 500 ms.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let (multiplexed, driver) =
            MultiplexedConnection::new_with_config(&silent, watched, config).await?;
        let driver = tokio::spawn(driver).abort_handle();
        Ok(Self {
            multiplexed,
            wire,
            driver,
        })
    }

    /// Sends one command or pipeline and waits for its reply, or for the end of the connection.
    ///
    /// Without the second wait a call could hang: redis-rs hands commands to its driver through a
    /// tokio channel, and a command that is put in while the driver is dropping the other end is
    /// neither taken nor dropped as long as a handle lives, such as the one that waits for it.
    pub(crate) async fn exchange<T, F>(
        &self,
        send: impl FnOnce(MultiplexedConnection) -> F,
    ) -> redis::RedisResult<T>
    where
        F: Future<Output = redis::RedisResult<T>>,
    {
        let mut sending = pin!(send(self.multiplexed.clone()));
        tokio::select! {
            biased;
            result = &mut sending => return result,
            () = self.wire.gone() => {}
        }
        // Every reply that was read has been handed out before the socket was dropped, so one
        // last look is enough.
        unconstrained(sending).now_or_never().unwrap_or_else(|| {
            let end = io::Error::new(io::ErrorKind::BrokenPipe, "the connection was lost");
            Err(end.into())
        })
    }

    /// The error with which the server turned the connection away, if its first words were one.
    /// redis-rs drops a reply that arrives before the first command.
    pub(crate) fn refusal(&self) -> Option<ServerError> {
        self.wire
            .error_greeting()
            .map(|line| ServerError::from_line(&line))
    }

    /// The bytes that have arrived.
    pub(crate) fn read(&self) -> u64 {
        self.wire.read()
    }

    /// Whether the socket is not known to be closed.
    pub(crate) fn is_open(&self) -> bool {
        !self.wire.is_closing()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Without this, the driver of a half-open socket would wait for its replies for ever.
        self.driver.abort();
    }
}

/// A command that has been handed over and whose reply has not arrived.
pub(crate) struct Flight {
    link: Arc<Link>,
    written_before: u64,
    read_before: u64,
    since: Instant,
}

impl Flight {
    /// Must be made before the command is handed over.
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self {
            written_before: link.wire.written(),
            read_before: link.wire.read(),
            since: Instant::now(),
            link,
        }
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// What a failure of the connection means for this command.
    ///
    /// The socket is gone and accepted nothing since before the hand-over: no byte of the command
    /// left. In every other case the command may have run.
    pub(crate) fn judge(&self, failure: &redis::RedisError) -> RedisError {
        // The order matters: once the socket is gone, the count is final.
        let never_left =
            self.link.wire.is_gone() && self.link.wire.written() == self.written_before;
        let reason = describe(failure);
        if never_left {
            RedisError::NotSent(reason)
        } else {
            RedisError::Unknown(reason)
        }
    }

    /// Whether giving up now should cost the connection its place (see [`LONG_SILENCE`]).
    pub(crate) fn is_suspicious(&self) -> bool {
        self.link.wire.read() == self.read_before && self.since.elapsed() >= LONG_SILENCE
    }
}

/// redis-rs's reason. The text of a parse failure quotes the reply, so it is left out.
fn describe(failure: &redis::RedisError) -> String {
    if failure.kind() == redis::ErrorKind::Parse {
        "the reply is not in the Redis protocol".to_owned()
    } else {
        failure.to_string()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;

    async fn link() -> (Arc<Link>, DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(1024);
        (
            Arc::new(Link::start(ours).await.expect("nothing is sent")),
            theirs,
        )
    }

    async fn ping(flight: &Flight) -> RedisError {
        let ping = redis::cmd("PING");
        let send = |mut sender: MultiplexedConnection| async move {
            sender.send_packed_command(&ping).await
        };
        let failure = flight.link().exchange(send).await;
        flight.judge(&failure.expect_err("no reply"))
    }

    #[tokio::test]
    async fn an_end_before_the_write_is_not_sent() {
        let (link, theirs) = link().await;
        let flight = Flight::new(link.clone());
        drop(theirs);
        assert!(link.is_open(), "nothing has told us yet");
        let outcome = ping(&flight).await;
        assert!(matches!(outcome, RedisError::NotSent(_)), "{outcome:?}");
        assert!(!link.is_open());
    }

    #[tokio::test]
    async fn an_end_after_the_write_is_unknown() {
        let (link, mut theirs) = link().await;
        let flight = Flight::new(link);
        let end = async move {
            let mut first = [0; 1];
            theirs.read_exact(&mut first).await.expect("the command");
        };
        let (outcome, ()) = tokio::join!(ping(&flight), end);
        assert!(matches!(outcome, RedisError::Unknown(_)), "{outcome:?}");
    }

    /// A neighbour's bytes cannot be told from ours.
    #[tokio::test]
    async fn an_end_after_a_neighbours_write_is_unknown() {
        let (link, mut theirs) = link().await;
        let neighbour = Flight::new(link.clone());
        let flight = Flight::new(link);
        let end = async move {
            let mut first = [0; 1];
            theirs
                .read_exact(&mut first)
                .await
                .expect("the neighbour's command");
        };
        let (_, ()) = tokio::join!(ping(&neighbour), end);
        let outcome = ping(&flight).await;
        assert!(matches!(outcome, RedisError::Unknown(_)), "{outcome:?}");
    }

    #[tokio::test]
    async fn an_error_before_any_command_is_kept() {
        let (link, mut theirs) = link().await;
        theirs
            .write_all(b"-ERR max number of clients reached\r\n")
            .await
            .expect("written");
        drop(theirs);
        let outcome = ping(&Flight::new(link.clone())).await;
        assert!(matches!(outcome, RedisError::NotSent(_)), "{outcome:?}");
        let refusal = link.refusal().expect("a refusal");
        assert_eq!(refusal.to_string(), "ERR max number of clients reached");
    }

    /// What a command does that got into the channel too late for the driver.
    #[tokio::test]
    async fn a_command_that_is_never_taken_does_not_hang() {
        let (link, theirs) = link().await;
        let flight = Flight::new(link.clone());
        let end = async {
            tokio::task::yield_now().await;
            drop(theirs);
        };
        let stuck = |_| std::future::pending::<redis::RedisResult<()>>();
        let (result, ()) = tokio::join!(link.exchange(stuck), end);
        let outcome = flight.judge(&result.expect_err("no reply"));
        assert!(matches!(outcome, RedisError::NotSent(_)), "{outcome:?}");
    }
}
