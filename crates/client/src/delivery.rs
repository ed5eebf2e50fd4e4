//! A claimed message in the hands of a handler.

use std::time::Duration;

use leaseline_core::message::{
    self, Lease, ReleaseOutcome, ReleaseRequest, RenewOutcome, SettleOutcome, SettleRequest,
    Settlement,
};
use leaseline_core::{Error, ErrorKind};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::pool::millis;
use crate::queue::{Queue, only};

/// Why nobody keeps a lease any longer while its handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// A renewal was refused: the lease has passed on, or the server will not renew it.
    NotRenewed,
    /// It was held for as long as [`Consumer::max_lease_time`](crate::Consumer::max_lease_time)
    /// allows, and is over.
    MaxLeaseTime,
}

/// A claimed message whose payload could be read.
///
/// Dropping it without settling leaves the message to its lease: it comes back when that expires.
#[derive(Debug)]
pub struct Delivery {
    queue: Queue,
    message: message::Delivery,
    payload: Vec<u8>,
    received: Instant,
    lost: watch::Sender<Option<Lost>>,
}

impl Delivery {
    /// A delivery of `queue`; the error is that of a message whose payload cannot be read.
    pub(crate) fn new(queue: Queue, mut message: message::Delivery) -> Result<Self, Error> {
        let payload = std::mem::replace(&mut message.payload, Ok(Vec::new()))?;
        Ok(Self {
            queue,
            message,
            payload,
            received: Instant::now(),
            lost: watch::Sender::new(None),
        })
    }

    /// Never renews the lease beyond so long after its claim, by the server's clock. Gives the time
    /// on the clock of this process by which it is over.
    pub(crate) fn cap_lease(&mut self, longest: Duration) -> Option<Instant> {
        let lease = &mut self.message.lease;
        let timeout_ms = self.queue.config().visibility_timeout_ms?;
        // The claim has set it to its own time plus the visibility timeout.
        let claimed_ms = lease.deadline_ms?.saturating_sub(timeout_ms);
        lease.not_after_ms = Some(claimed_ms.saturating_add(millis(longest)));
        self.received.checked_add(longest)
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Tells the handler.
    pub(crate) fn lose(&self, why: Lost) {
        self.lost.send_replace(Some(why));
    }

    /// Waits until a [`Consumer`](crate::Consumer) can keep the lease no longer. For handlers that
    /// end early then: they are not stopped, and what they settle afterwards is stale as soon as
    /// the message has passed on. Without a heartbeat it waits for ever.
    pub async fn lease_lost(&self) -> Lost {
        let mut lost = self.lost.subscribe();
        match lost.wait_for(Option::is_some).await.map(|lost| *lost) {
            Ok(Some(why)) => why,
            // Never: the sender is a field of this.
            _ => std::future::pending().await,
        }
    }

    /// The payload.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The payload, read as JSON.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MalformedMessage`] if it is not JSON, or not what `T` expects. The message stays
    /// under its lease until the handler says what becomes of it; a handler that returns this error
    /// fails it.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.payload).map_err(|error| {
            let message = format!(
                "the payload is not the JSON that its handler expects: {error}; fail the message, or correct the handler"
            );
            let error = Error::new(ErrorKind::MalformedMessage, message);
            match self.message_id() {
                Some(id) => error.with_message_id(id),
                None => error,
            }
        })
    }

    /// The id that was minted at publish; `None` for messages stored without an envelope.
    pub fn message_id(&self) -> Option<&str> {
        self.message.message_id.as_deref()
    }

    /// The fencing token: decimal digits, to be compared as a number with other tokens of the same
    /// message id. A new claim of the message has a larger one, a replayed one the same. `None`
    /// without leases.
    pub fn token(&self) -> Option<&str> {
        self.message.lease.token.as_deref()
    }

    /// Claims of this message so far, this one included; 0 without leases.
    pub fn delivery_count(&self) -> u64 {
        self.message.delivery_count
    }

    /// This claim was made before and its reply was lost.
    pub fn replayed(&self) -> bool {
        self.message.replayed
    }

    /// The lease, for settling elsewhere.
    pub fn lease(&self) -> &Lease {
        &self.message.lease
    }

    /// Acknowledges the message.
    ///
    /// # Errors
    ///
    /// The message stays under its lease, or is settled if the outcome is unknown.
    pub async fn ack(&self) -> Result<SettleOutcome, Error> {
        self.settle(Settlement::Ack, None).await
    }

    /// Ends the message as failed. The event `failed` tells the reason.
    ///
    /// # Errors
    ///
    /// As [`ack`](Self::ack).
    pub async fn fail(&self, reason: Option<String>) -> Result<SettleOutcome, Error> {
        self.settle(Settlement::Fail, reason).await
    }

    /// Gives the message back: nobody can claim it before the delay is over, by the server's clock.
    ///
    /// # Errors
    ///
    /// The message stays under its lease, or is released if the outcome is unknown. A queue without
    /// leases cannot release.
    pub async fn release(&self, delay: Duration) -> Result<ReleaseOutcome, Error> {
        let request = ReleaseRequest {
            lease: self.message.lease.clone(),
            delay_ms: millis(delay),
        };
        only(self.queue.release(vec![request]).await)
    }

    /// Moves the lease's deadline to now plus the visibility timeout.
    ///
    /// # Errors
    ///
    /// The deadline may not have moved.
    pub async fn renew(&self) -> Result<RenewOutcome, Error> {
        only(self.queue.renew(vec![self.message.lease.clone()]).await)
    }

    async fn settle(
        &self,
        settlement: Settlement,
        reason: Option<String>,
    ) -> Result<SettleOutcome, Error> {
        let request = SettleRequest {
            lease: self.message.lease.clone(),
            settlement,
            reason,
        };
        only(self.queue.settle(vec![request]).await)
    }
}
