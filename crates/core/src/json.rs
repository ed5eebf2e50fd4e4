//! JSON payloads: one text for equal objects, the one that `redis-message-queue` stores.
//!
//! The text is what Python's `json.dumps(value, sort_keys=True, allow_nan=False)` makes of what
//! `json.loads` read:
//!
//! * keys in the order of their code points; of two equal keys the last one counts;
//! * `", "` between items, `": "` behind keys, everything beyond ASCII escaped;
//! * integers exactly, however long; other numbers in the shortest form that means the same double,
//!   as `1.0`, `-0.0`, `1e-05` and `1e+16`.
//!
//! Refused are texts that are not JSON (`NaN` is none), other values than objects, numbers beyond
//! the largest double, halves of surrogate pairs, and what is too deep or too large.

mod number;
mod string;

pub(crate) use string::write as write_string;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::envelope::MAX_STORED_BYTES;
use crate::error::{Error, ErrorKind};

/// The deepest that a value may be; the object itself is at depth 0. Common readers, serde_json
/// among them, take little more.
pub const MAX_DEPTH: u32 = 100;

/// The stored text of a JSON object. `max_depth` is the deepest that a value may be; the object is
/// at depth 0, and every value in an object or array is one deeper.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`] for a text that cannot be published,
/// [`ErrorKind::PayloadTooDeep`], and [`ErrorKind::PayloadTooLarge`] beyond what can be stored.
pub fn canonical(text: &str, max_depth: Option<u32>) -> Result<Vec<u8>, Error> {
    if text.len() > MAX_STORED_BYTES {
        return Err(too_large());
    }
    // The whole syntax is checked here; what follows takes the parts out of it.
    let document: &RawValue = serde_json::from_str(text).map_err(|error| {
        invalid(format!(
            "the payload is not JSON ({error}); correct it, and mind that NaN and Infinity are not JSON"
        ))
    })?;
    if !document.get().starts_with('{') {
        return Err(invalid(
            "the JSON payload is not an object; put it into one, or publish it as text".into(),
        ));
    }
    let mut writer = Writer {
        out: Vec::with_capacity(text.len()),
        max_depth: max_depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH),
    };
    writer.value(document.get(), &Place::Root)?;
    Ok(writer.out)
}

struct Writer {
    out: Vec<u8>,
    max_depth: u32,
}

impl Writer {
    /// Writes a value whose syntax has been checked.
    fn value(&mut self, json: &str, place: &Place<'_>) -> Result<(), Error> {
        if place.depth() > self.max_depth {
            return Err(Error::new(
                ErrorKind::PayloadTooDeep,
                format!(
                    "the JSON payload has depth {} at {place}, and the limit is {}; flatten it, or raise max_payload_depth (at most {MAX_DEPTH})",
                    place.depth(),
                    self.max_depth
                ),
            ));
        }
        match json.as_bytes().first() {
            Some(b'{') => self.object(json, place)?,
            Some(b'[') => self.array(json, place)?,
            Some(b'"') => {
                let text: String = serde_json::from_str(json).map_err(|_| no_text(place))?;
                string::write(&mut self.out, &text);
            }
            Some(b't' | b'f' | b'n') => self.out.extend_from_slice(json.as_bytes()),
            _ => number::write(&mut self.out, json)
                .map_err(|reason| invalid(format!("the number at {place} {reason}")))?,
        }
        if self.out.len() > MAX_STORED_BYTES {
            return Err(too_large());
        }
        Ok(())
    }

    fn object(&mut self, json: &str, place: &Place<'_>) -> Result<(), Error> {
        // Of two equal keys the last one stays, and all are in order.
        let members: BTreeMap<String, &RawValue> =
            serde_json::from_str(json).map_err(|_| no_text(place))?;
        self.out.push(b'{');
        for (at, (key, value)) in members.into_iter().enumerate() {
            self.separate(at);
            string::write(&mut self.out, &key);
            self.out.extend_from_slice(b": ");
            self.value(value.get(), &Place::Member(place, &key))?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn array(&mut self, json: &str, place: &Place<'_>) -> Result<(), Error> {
        self.out.push(b'[');
        let items = Items(|at, item: &str| {
            self.separate(at);
            self.value(item, &Place::Item(place, at))
        });
        serde_json::Deserializer::from_str(json)
            .deserialize_seq(items)
            .map_err(|error| {
                invalid(format!(
                    "the array at {place} cannot be read ({error}); correct it"
                ))
            })??;
        self.out.push(b']');
        Ok(())
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.out.extend_from_slice(b", ");
        }
    }
}

/// Hands out the items of an array one by one: a list of them could be larger than the array.
struct Items<F>(F);

impl<'de, F: FnMut(usize, &'de str) -> Result<(), Error>> Visitor<'de> for Items<F> {
    type Value = Result<(), Error>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut result = Ok(());
        let mut at = 0;
        // An array has to be read to its end even when nobody wants the rest.
        while let Some(item) = items.next_element::<&RawValue>()? {
            if result.is_ok() {
                result = (self.0)(at, item.get());
            }
            at += 1;
        }
        Ok(result)
    }
}

/// Where a value is, as Python would write it.
enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    fn depth(&self) -> u32 {
        match self {
            Self::Root => 0,
            Self::Member(parent, _) | Self::Item(parent, _) => parent.depth() + 1,
        }
    }
}

/// What an error shows of a key, in characters.
const SHOWN: usize = 40;

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("message"),
            Self::Member(parent, key) => {
                let shown: String = key.chars().take(SHOWN).collect();
                let rest = if shown.len() < key.len() { "…" } else { "" };
                write!(f, "{parent}['{}{rest}']", shown.escape_debug())
            }
            Self::Item(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

fn no_text(place: &Place<'_>) -> Error {
    invalid(format!(
        "a string or key at {place} has half a surrogate pair, which is no text; remove it, or publish bytes"
    ))
}

fn too_large() -> Error {
    Error::new(
        ErrorKind::PayloadTooLarge,
        format!(
            "the JSON payload has more than {MAX_STORED_BYTES} bytes; publish a reference to it"
        ),
    )
}
