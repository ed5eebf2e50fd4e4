//! Messages on their way in.

mod finite;

use std::time::Duration;

use leaseline_core::message::{Outgoing, Payload};
use leaseline_core::{Error, ErrorKind};
use serde::Serialize;

use crate::pool::millis;

/// A message to publish.
///
/// ```
/// use leaseline::Message;
/// let message = Message::text("hello").deduplication_key("order-1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(Outgoing);

impl Message {
    /// A message of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::bytes(text.into())
    }

    /// A message of bytes. Bytes that are not UTF-8 can be read by `redis-message-queue` from
    /// version 9.1.0 on.
    pub fn bytes(payload: impl Into<Vec<u8>>) -> Self {
        Self::new(Payload::Bytes(payload.into()))
    }

    /// A message of JSON: a structure or map, stored in the same text that `redis-message-queue`
    /// stores for an equal dictionary (see [`crate::json`]).
    ///
    /// ```
    /// use leaseline::Message;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Order {
    ///     id: u64,
    ///     total: f64,
    /// }
    ///
    /// let message = Message::json(&Order { id: 7, total: 19.5 })?;
    /// # Ok::<(), leaseline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for what JSON cannot express: NaN, infinities, keys that are
    /// no text. What the queue does not take is refused by the publish.
    pub fn json(value: &(impl Serialize + ?Sized)) -> Result<Self, Error> {
        finite::check(value)?;
        serde_json::to_string(value)
            .map(Self::json_text)
            .map_err(|error| {
                let message =
                    format!("the value cannot be written as JSON: {error}; change its type");
                Error::new(ErrorKind::InvalidArgument, message)
            })
    }

    /// A message of JSON that is text already, in any spelling. The publish checks it.
    pub fn json_text(text: impl Into<String>) -> Self {
        Self::new(Payload::Json(text.into()))
    }

    fn new(payload: Payload) -> Self {
        Self(Outgoing {
            payload,
            ..Outgoing::default()
        })
    }

    /// Messages with an equal key inside the deduplication window are published once.
    pub fn deduplication_key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.0.deduplication_key = Some(key.into());
        self
    }

    /// Nobody can claim the message before this time is over, by the server's clock. Needs a queue
    /// with leases; the deduplication window begins at the publish all the same.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.0.delay_ms = millis(delay);
        self
    }
}

impl From<Message> for Outgoing {
    fn from(message: Message) -> Self {
        message.0
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<Vec<u8>> for Message {
    fn from(payload: Vec<u8>) -> Self {
        Self::bytes(payload)
    }
}
