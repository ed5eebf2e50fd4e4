//! `purge`: remove messages for good.

use leaseline::message::List;
use serde_json::json;

use crate::arguments::Purge;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::status::Status;
use crate::target::Target;

pub(crate) async fn run(
    target: &Target,
    purge: Purge,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let list = purge.from.list();
    // Refused by the queue as well, and here before the question of --yes.
    if list != List::Processing && !purge.yes {
        return Err(Failure::usage(
            "a purge removes messages for good; to do it, add --yes",
        ));
    }
    let queue = target.open(target.queue(), |_| (), messages).await?;
    let purged = queue.purge(list).await?;
    output.result(
        &json!({ "purged": purged }),
        format_args!("purged {purged}"),
    )?;
    Ok(Status::Done)
}
