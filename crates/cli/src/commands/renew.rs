//! `renew`: later deadlines for leases.

use leaseline::message::RenewOutcome;

use crate::arguments::Renew;
use crate::commands::settle::BATCH;
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
    renew: Renew,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let Some(batch) = LeaseBatch::read(&renew.leases.lease, target.named_queue())? else {
        messages.note("standard input has no lease");
        return Ok(Status::NothingThere);
    };
    if batch.leases.iter().any(|lease| lease.token.is_none()) {
        return Err(Failure::usage(
            "a claim without lease has no deadline to renew; only leases with a token can be renewed",
        ));
    }
    let configure = |config: &mut leaseline::Config| {
        if let Some(timeout) = renew.visibility_timeout {
            config.visibility_timeout_ms = Some(milliseconds(timeout));
        }
    };
    let queue = target.open(&batch.queue, configure, messages).await?;
    let mut verdicts = Verdicts::new(output, messages);
    for chunk in batch.leases.chunks(BATCH) {
        let answers = queue.renew(chunk.to_vec()).await;
        for (lease, answer) in chunk.iter().zip(answers) {
            verdicts.add(lease.message_id(), answer.map(verdict))?;
        }
        verdicts.flush()?;
    }
    Ok(verdicts.finish())
}

fn verdict(outcome: RenewOutcome) -> Verdict {
    match outcome {
        RenewOutcome::Renewed(deadline_ms) => Verdict::Done {
            deadline_ms: Some(deadline_ms),
        },
        RenewOutcome::Stale => Verdict::Stale,
    }
}
