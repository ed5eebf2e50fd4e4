//! `release`: claimed messages that come back later.

use leaseline::message::{Lease, ReleaseOutcome, ReleaseRequest};

use crate::arguments::Release;
use crate::commands::settle::verdict::{Verdict, Verdicts};
use crate::duration::milliseconds;
use crate::failure::Failure;
use crate::lease::LeaseBatch;
use crate::messages::Messages;
use crate::output::Output;
use crate::status::Status;
use crate::target::Target;

pub(crate) async fn run(
    target: &Target,
    release: Release,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let Some(batch) = LeaseBatch::read(&release.leases.lease, target.named_queue())? else {
        messages.note("standard input has no lease");
        return Ok(Status::NothingThere);
    };
    if batch.leases.iter().any(|lease| lease.token.is_none()) {
        return Err(Failure::usage(
            "a message claimed without lease cannot be released; settle it with ack or fail",
        ));
    }
    let queue = target.open(&batch.queue, |_| (), messages).await?;
    let request = |lease: &Lease| ReleaseRequest {
        lease: lease.clone(),
        delay_ms: milliseconds(release.delay),
    };
    Verdicts::new(output, messages)
        .of(&batch.leases, async |leases| {
            let released = queue.release(leases.iter().map(request).collect()).await;
            released.into_iter().map(|o| o.map(verdict)).collect()
        })
        .await
}

fn verdict(outcome: ReleaseOutcome) -> Verdict {
    match outcome {
        ReleaseOutcome::Released(due_ms) => Verdict::Released(due_ms),
        ReleaseOutcome::Stale => Verdict::Stale,
    }
}
