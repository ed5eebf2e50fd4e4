//! Messages on their way in.

use std::time::Duration;

use leaseline_core::message::Outgoing;

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
        Self(Outgoing {
            payload: payload.into(),
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
