//! `redrive`: dead letters back to pending.

use serde_json::json;

use crate::arguments::Redrive;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::status::Status;
use crate::target::Target;

pub(crate) async fn run(
    target: &Target,
    redrive: Redrive,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let queue = target.open(target.queue(), |_| (), messages).await?;
    let max = match redrive.max {
        Some(max) => max,
        // Those that are there now: with a consumer that fails fast, "until none is left" would
        // go round for ever.
        None => queue.stats().await?.dead_letters,
    };
    let moved = queue.redrive(max).await?;
    output.result(&json!({ "moved": moved }), format_args!("moved {moved}"))?;
    Ok(Status::Done)
}
