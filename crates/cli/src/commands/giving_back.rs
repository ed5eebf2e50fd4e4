//! Claims without lease whose replies were lost.

use std::time::Duration;

use leaseline::{Error, Queue};

use crate::messages::Messages;

/// How long a process that ends tries to give back what its lost claims took.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it waits for the last try.
const LAST_TRY: Duration = Duration::from_secs(5);

/// Gives back what claims without a reply may have taken: only this process knows their ids. The
/// queue takes no more calls that claim or publish. False, with a warning: something may be left.
///
/// `refusal` is what ended the claims, if something did. If the server refuses this in the same
/// way, there is nothing to add: what it refuses does not run.
///
/// Leased messages come back by themselves. For them there would be nothing to do but to drop the
/// token counter of an idle queue, after which fencing tokens start again at 1, below those that
/// the messages' resources have seen.
pub(crate) async fn give_back(queue: &Queue, refusal: Option<&Error>, messages: &Messages) -> bool {
    if queue.config().visibility_timeout_ms.is_some() {
        return true;
    }
    let drained = tokio::time::timeout(PATIENCE + LAST_TRY, queue.drain(PATIENCE)).await;
    let reason = match drained {
        Ok(Ok(true)) => return true,
        Ok(Err(error)) if Some(&error) == refusal => return true,
        Ok(Ok(false)) | Err(_) => "a lost claim could not be given back".into(),
        Ok(Err(error)) => format!("a lost claim could not be given back: {error}"),
    };
    messages.warning(&format!(
        "{reason}; its message may be in the processing list for good, look there"
    ));
    false
}
