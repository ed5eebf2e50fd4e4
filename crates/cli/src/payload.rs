//! Payloads in results.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::printable;

/// A payload as JSON has it: text, or base64 where it is not UTF-8.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Payload<'a> {
    Payload(&'a str),
    PayloadBase64(String),
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(payload: &'a [u8]) -> Self {
        match str::from_utf8(payload) {
            Ok(text) => Self::Payload(text),
            Err(_) => Self::PayloadBase64(STANDARD.encode(payload)),
        }
    }
}

/// For people: on one line.
impl fmt::Display for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payload(text) => f.write_str(&printable::line(text)),
            Self::PayloadBase64(text) => write!(f, "{text} (base64)"),
        }
    }
}
