//! Numbers for what has long names: stored messages, payloads and claim ids.

use std::collections::HashMap;

/// A stored message. Two with equal payloads are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Message(pub(crate) u32);

/// A payload. Each publish has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Payload(pub(crate) u32);

impl Payload {
    /// Nobody published it.
    pub(crate) const UNKNOWN: Payload = Payload(u32::MAX);
}

/// A claim id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(pub(crate) u32);

/// The numbers that were given. Only looked up, never walked: their order means nothing.
#[derive(Debug, Default)]
pub(crate) struct Names {
    messages: HashMap<Vec<u8>, Message>,
    payload_of: Vec<Payload>,
    foreign: Vec<bool>,
    payloads: HashMap<Vec<u8>, Payload>,
    bytes: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, Id>,
    id_texts: Vec<Vec<u8>>,
}

impl Names {
    /// A new payload.
    pub(crate) fn publish(&mut self, bytes: Vec<u8>) -> Payload {
        let payload = Payload(self.bytes.len() as u32);
        self.payloads.insert(bytes.clone(), payload);
        self.bytes.push(bytes);
        payload
    }

    /// The payload that some bytes are.
    pub(crate) fn payload(&self, bytes: &[u8]) -> Payload {
        let found = self.payloads.get(bytes);
        found.copied().unwrap_or(Payload::UNKNOWN)
    }

    /// How many payloads there are.
    pub(crate) fn payloads(&self) -> usize {
        self.bytes.len()
    }

    /// The number of a stored message.
    pub(crate) fn message(&mut self, stored: &[u8]) -> Message {
        if let Some(message) = self.messages.get(stored) {
            return *message;
        }
        let message = Message(self.payload_of.len() as u32);
        // An element without an envelope is its own payload.
        let payload = match unwrap(stored) {
            Some(bytes) => self.payload(&bytes),
            None => self.payload(stored),
        };
        self.payload_of.push(payload);
        self.foreign.push(!stored.starts_with(b"\x1eRMQ1:"));
        self.messages.insert(stored.to_vec(), message);
        message
    }

    /// The payload of a message.
    pub(crate) fn payload_of(&self, message: Message) -> Payload {
        self.payload_of[message.0 as usize]
    }

    /// Whether a message has no envelope.
    pub(crate) fn is_foreign(&self, message: Message) -> bool {
        self.foreign[message.0 as usize]
    }

    /// The number of a claim id.
    pub(crate) fn id(&mut self, id: &[u8]) -> Id {
        if let Some(id) = self.ids.get(id) {
            return *id;
        }
        let number = Id(self.ids.len() as u32);
        self.ids.insert(id.to_vec(), number);
        self.id_texts.push(id.to_vec());
        number
    }

    /// The text of a claim id.
    pub(crate) fn id_text(&self, id: Id) -> &[u8] {
        &self.id_texts[id.0 as usize]
    }
}

/// The payload of an envelope, read without the product's own decoder.
fn unwrap(stored: &[u8]) -> Option<Vec<u8>> {
    let value: serde_json::Value =
        serde_json::from_slice(stored.strip_prefix(b"\x1eRMQ1:")?).ok()?;
    match (value.get("payload"), value.get("payload_hex")) {
        (Some(text), None) => Some(text.as_str()?.as_bytes().to_vec()),
        (None, Some(text)) => hex::decode(text.as_str()?).ok(),
        _ => None,
    }
}
