//! Stored messages: how an id and a payload become the bytes of a list element, and back.
//!
//! The written form is exactly that of `redis-message-queue` 8.3.0: `0x1E`, `RMQ1:`, and a JSON
//! object in ASCII with the id first. A payload that is not UTF-8 is written as `payload_hex`,
//! which that library reads from 9.1.0 on. Reading is lenient: any JSON spelling, any order of
//! fields, extra fields ignored, the last of two equal fields wins.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, ErrorKind};
use crate::json::write_string;

/// What every envelope starts with.
pub const PREFIX: &[u8] = b"\x1eRMQ1:";

/// The largest stored message, in bytes: every host must be able to take it in one reply.
pub const MAX_STORED_BYTES: usize = 16 * 1024 * 1024 - 4096;

/// The stored form of a message; `None` if it is larger than [`MAX_STORED_BYTES`].
pub(crate) fn encode(id: &str, payload: &[u8]) -> Option<Vec<u8>> {
    if payload.len() > MAX_STORED_BYTES {
        return None;
    }
    let mut stored = Vec::with_capacity(PREFIX.len() + id.len() + 32 + payload.len());
    stored.extend_from_slice(PREFIX);
    stored.extend_from_slice(b"{\"id\":");
    write_string(&mut stored, id);
    match core::str::from_utf8(payload) {
        Ok(text) => {
            stored.extend_from_slice(b",\"payload\":");
            write_string(&mut stored, text);
        }
        Err(_) if payload.len() > MAX_STORED_BYTES / 2 => return None,
        Err(_) => {
            stored.extend_from_slice(b",\"payload_hex\":");
            write_string(&mut stored, &hex::encode(payload));
        }
    }
    stored.push(b'}');
    (stored.len() <= MAX_STORED_BYTES).then_some(stored)
}

/// A decoded stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// `None` for an element without an envelope.
    pub(crate) id: Option<String>,
    pub(crate) payload: Vec<u8>,
}

/// Takes a stored message apart. An element without the prefix is its own payload, unless
/// `strict`.
pub(crate) fn decode(stored: &[u8], strict: bool) -> Result<Envelope, Error> {
    let Some(json) = stored.strip_prefix(PREFIX) else {
        return if strict {
            Err(malformed("has no envelope, which strict decoding asks for"))
        } else {
            Ok(Envelope {
                id: None,
                payload: stored.into(),
            })
        };
    };
    let text = core::str::from_utf8(json).map_err(|_| malformed("is not UTF-8"))?;
    let fields: Fields =
        serde_json::from_str(text).map_err(|_| malformed("is not a JSON object"))?;
    let Some(Field::Text(id)) = fields.id else {
        return Err(malformed("has no string field 'id'"));
    };
    let payload = match (fields.payload, fields.payload_hex) {
        (Some(Field::Text(text)), None) => text.into_bytes(),
        (None, Some(Field::Text(text))) => hex::decode(&text)
            .map_err(|_| malformed("has a 'payload_hex' that is not hexadecimal"))?,
        (Some(_), Some(_)) => return Err(malformed("has both 'payload' and 'payload_hex'")),
        _ => return Err(malformed("has no string field 'payload'")),
    };
    Ok(Envelope {
        id: Some(id),
        payload,
    })
}

fn malformed(what: &str) -> Error {
    Error::new(
        ErrorKind::MalformedMessage,
        alloc::format!("the stored message {what}"),
    )
}

/// The fields of an envelope as they were found.
#[derive(Default)]
struct Fields {
    id: Option<Field>,
    payload: Option<Field>,
    payload_hex: Option<Field>,
}

/// A field's value: only text has a meaning.
enum Field {
    Text(String),
    Other,
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some(name) = map.next_key::<String>()? {
                    let slot = match name.as_str() {
                        "id" => &mut fields.id,
                        "payload" => &mut fields.payload,
                        "payload_hex" => &mut fields.payload_hex,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *slot = Some(map.next_value()?);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldVisitor;

        impl<'de> Visitor<'de> for FieldVisitor {
            type Value = Field;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a value")
            }

            fn visit_str<E>(self, text: &str) -> Result<Field, E> {
                Ok(Field::Text(text.into()))
            }

            fn visit_string<E>(self, text: String) -> Result<Field, E> {
                Ok(Field::Text(text))
            }

            fn visit_unit<E>(self) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Field, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Field::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Field::Other)
            }
        }

        deserializer.deserialize_any(FieldVisitor)
    }
}

#[cfg(test)]
#[path = "envelope_tests.rs"]
mod tests;
