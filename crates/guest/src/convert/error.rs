//! Errors, to the world.

use leaseline_core::{Error, ErrorKind, Retry};

use crate::bindings::types;

pub(crate) fn error(error: Error) -> types::Error {
    types::Error {
        kind: kind(error.kind),
        retry: retry(error.retry),
        message: error.message,
        code: error.code,
        message_id: error.message_id,
    }
}

fn kind(kind: ErrorKind) -> types::ErrorKind {
    match kind {
        ErrorKind::Configuration => types::ErrorKind::Configuration,
        ErrorKind::InvalidArgument => types::ErrorKind::InvalidArgument,
        ErrorKind::PayloadTooLarge => types::ErrorKind::PayloadTooLarge,
        ErrorKind::PayloadTooDeep => types::ErrorKind::PayloadTooDeep,
        ErrorKind::MalformedMessage => types::ErrorKind::MalformedMessage,
        ErrorKind::Backpressure => types::ErrorKind::Backpressure,
        ErrorKind::Drained => types::ErrorKind::Drained,
        ErrorKind::Unavailable => types::ErrorKind::Unavailable,
        ErrorKind::OutcomeUnknown => types::ErrorKind::OutcomeUnknown,
        ErrorKind::Server => types::ErrorKind::Server,
        ErrorKind::ClaimStoreFailed => types::ErrorKind::ClaimStoreFailed,
        ErrorKind::Denied => types::ErrorKind::Denied,
        ErrorKind::Protocol => types::ErrorKind::Protocol,
        // The world cannot gain a case compatibly; a kind that it does not know says least.
        _ => types::ErrorKind::Protocol,
    }
}

fn retry(retry: Retry) -> types::Retry {
    match retry {
        Retry::Yes => types::Retry::Yes,
        Retry::No => types::Retry::No,
        Retry::Unknown => types::Retry::Unknown,
    }
}
