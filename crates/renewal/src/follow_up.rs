//! Updates that are made once, after a handler or in it.

use std::time::Duration;

use leaseline_core::renewal::{Failure, FollowUp, Settings, visibility_seconds};
use leaseline_core::{Error, ErrorKind, Retry};

use crate::extend::Extend;

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extended {
    /// The lease ends when it was told to.
    Done,
    /// There is no such lease any more.
    Gone,
}

/// Sends an update until it is answered, three times at most.
pub(crate) async fn follow_up<E: Extend>(
    settings: &Settings,
    extender: &E,
    lease: &E::Lease,
    seconds: f64,
) -> Result<Extended, Error> {
    let seconds = visibility_seconds(settings, seconds, "duration")?;
    let lease_time = Duration::from_secs(seconds);
    let limit = Duration::from_millis(settings.attempt_timeout_ms);
    let mut retries = FollowUp::new(settings);
    loop {
        let attempt = extender.extend(lease, lease_time);
        let outcome = if extender.ends_by_itself() {
            attempt.await
        } else {
            let timed = tokio::time::timeout(limit, attempt).await;
            timed.unwrap_or(Err(Failure::Transient))
        };
        let failure = match outcome {
            Ok(()) => return Ok(Extended::Done),
            Err(Failure::Gone) => {
                tracing::warn!("a lease was gone when its end was to be moved");
                return Ok(Extended::Gone);
            }
            Err(failure) => failure,
        };
        match retries.failed(failure) {
            Some(delay_ms) => tokio::time::sleep(Duration::from_millis(delay_ms)).await,
            None => return Err(failed(failure)),
        }
    }
}

pub(crate) fn gone() -> Error {
    Error::new(
        ErrorKind::Server,
        "there is no such lease any more; claim the message again",
    )
    .with_retry(Retry::No)
}

fn failed(failure: Failure) -> Error {
    match failure {
        Failure::Throttled(_) => Error::new(
            ErrorKind::Server,
            "the server asks for fewer requests; try again later",
        )
        .with_retry(Retry::Yes),
        Failure::Connection => Error::new(
            ErrorKind::OutcomeUnknown,
            "the server could not be reached; the lease may have been moved, try again",
        ),
        Failure::Gone => gone(),
        Failure::Refused => Error::new(
            ErrorKind::Server,
            "the server refused to move the end of the lease; it has passed on or ended",
        )
        .with_retry(Retry::No),
        _ => Error::new(
            ErrorKind::OutcomeUnknown,
            "the server did not move the end of the lease, or did not say so; try again",
        ),
    }
}
