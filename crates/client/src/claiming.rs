//! Claims that wait.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use leaseline_core::message::Delivery;
use leaseline_core::{Error, ErrorKind, Retry};

use crate::queue::Queue;
use crate::waking::{Awake, Call};

/// The pause after a claim that failed in a way that passes.
pub(crate) const FAILURE_PAUSE: Duration = Duration::from_millis(500);

impl Queue {
    /// Claims at most `max` messages (1 to [`leaseline_core::MAX_CLAIM`]) and waits at most `wait`
    /// for the first. An empty list: there was none, or the queue object is drained.
    ///
    /// A claim that waits sleeps until there may be a message and costs the server next to nothing
    /// meanwhile: all that sleep on a queue in this process share one connection that waits for
    /// them.
    ///
    /// # Errors
    ///
    /// Whatever the failed claim took is kept for the next call. After a failure of the connection
    /// it is tried again while the wait lasts.
    pub async fn claim(&self, max: u32, wait: Duration) -> Result<Vec<Delivery>, Error> {
        if !wait.is_zero()
            && let Some(claimed) = self.claim_until(max, tokio::time::sleep(wait)).await?
        {
            return Ok(claimed);
        }
        // Without a wait, or one last look: it makes up for a wake-up that got lost.
        self.claim_now(max).await
    }

    /// Claims at most `max` messages and waits for the first until `over`, which does not cut a
    /// claim short. `None`: it is over, or the queue object is drained.
    pub(crate) async fn claim_until(
        &self,
        max: u32,
        over: impl Future<Output = ()>,
    ) -> Result<Option<Vec<Delivery>>, Error> {
        let mut over = pin!(async {
            tokio::select! {
                () = over => {}
                () = self.pool.drained() => {}
            }
        });
        let mut call: Option<Call> = None;
        let mut failure: Option<Error> = None;
        loop {
            let claimed = self.claim_now(max).await;
            let found = claimed.as_ref().is_ok_and(|claimed| !claimed.is_empty());
            if let Some(call) = call.take() {
                call.answer(found);
            }
            match claimed {
                Ok(_) if !found => failure = None,
                Err(error) if passes(&error) => {
                    // Once more soon. If that fails too, one at a time: a whole process that asks
                    // again and again is the last thing a server in trouble needs.
                    if failure.replace(error.clone()).is_none() {
                        tracing::warn!(%error, "a claim failed and is tried again");
                        tokio::select! {
                            () = &mut over => return Err(error),
                            () = tokio::time::sleep(FAILURE_PAUSE) => continue,
                        }
                    }
                }
                claimed => return claimed.map(Some),
            }
            tokio::select! {
                awake = self.idle.sleep(&mut over) => match awake {
                    Awake::Called(by) => call = Some(by),
                    Awake::Over => return failure.map_or(Ok(None), Err),
                },
                // What a claim of this process left behind does not show on the server.
                () = self.pool.left_behind() => {}
            }
        }
    }
}

/// Whether the failure is one of the connection or of a server that recovers.
fn passes(error: &Error) -> bool {
    match error.kind {
        ErrorKind::Unavailable | ErrorKind::OutcomeUnknown => true,
        ErrorKind::Server => error.retry != Retry::No,
        _ => false,
    }
}
