//! Errors, from the guest.

use leaseline_core::{Error, ErrorKind, Retry};

use crate::bindings::exports::leaseline::queue::queue as types;

pub(crate) fn error(error: types::Error) -> Error {
    let mut result = Error::new(kind(error.kind), error.message).with_retry(retry(error.retry));
    result.code = error.code;
    result.message_id = error.message_id;
    result
}

fn kind(kind: types::ErrorKind) -> ErrorKind {
    match kind {
        types::ErrorKind::Configuration => ErrorKind::Configuration,
        types::ErrorKind::InvalidArgument => ErrorKind::InvalidArgument,
        types::ErrorKind::PayloadTooLarge => ErrorKind::PayloadTooLarge,
        types::ErrorKind::PayloadTooDeep => ErrorKind::PayloadTooDeep,
        types::ErrorKind::MalformedMessage => ErrorKind::MalformedMessage,
        types::ErrorKind::Backpressure => ErrorKind::Backpressure,
        types::ErrorKind::Drained => ErrorKind::Drained,
        types::ErrorKind::Unavailable => ErrorKind::Unavailable,
        types::ErrorKind::OutcomeUnknown => ErrorKind::OutcomeUnknown,
        types::ErrorKind::Server => ErrorKind::Server,
        types::ErrorKind::ClaimStoreFailed => ErrorKind::ClaimStoreFailed,
        types::ErrorKind::Denied => ErrorKind::Denied,
        types::ErrorKind::Protocol => ErrorKind::Protocol,
    }
}

fn retry(retry: types::Retry) -> Retry {
    match retry {
        types::Retry::Yes => Retry::Yes,
        types::Retry::No => Retry::No,
        types::Retry::Unknown => Retry::Unknown,
    }
}
