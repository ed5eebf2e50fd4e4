//! `renew`: later deadlines for leases.

use leaseline::message::RenewOutcome;

use crate::arguments::Renew;
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
    Verdicts::new(output, messages)
        .of(&batch.leases, async |leases| {
            let renewed = queue.renew(leases.to_vec()).await;
            renewed.into_iter().map(|o| o.map(verdict)).collect()
        })
        .await
}

fn verdict(outcome: RenewOutcome) -> Verdict {
    match outcome {
        RenewOutcome::Renewed(deadline_ms) => Verdict::Renewed(deadline_ms),
        RenewOutcome::Stale => Verdict::Stale,
    }
}
