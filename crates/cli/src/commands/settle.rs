//! `ack` and `fail`: how claimed messages end.

use leaseline::Config;
use leaseline::message::{Lease, SettleOutcome, SettleRequest, Settlement};

use crate::arguments::{Ack, Fail};
use crate::commands::settle::verdict::{Verdict, Verdicts};
use crate::failure::Failure;
use crate::lease::LeaseBatch;
use crate::messages::Messages;
use crate::output::Output;
use crate::status::Status;
use crate::target::Target;

pub(crate) mod verdict;

pub(crate) async fn ack(
    target: &Target,
    ack: Ack,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let configure = |config: &mut Config| ack.log.apply(config);
    let leases = &ack.leases.lease;
    settle(target, leases, Settlement::Ack, configure, output, messages).await
}

pub(crate) async fn fail(
    target: &Target,
    fail: Fail,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let configure = |config: &mut Config| fail.log.apply(config);
    let leases = &fail.leases.lease;
    settle(
        target,
        leases,
        Settlement::Fail,
        configure,
        output,
        messages,
    )
    .await
}

async fn settle(
    target: &Target,
    leases: &str,
    settlement: Settlement,
    configure: impl FnOnce(&mut Config),
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let Some(batch) = LeaseBatch::read(leases, target.named_queue())? else {
        messages.note("standard input has no lease");
        return Ok(Status::NothingThere);
    };
    let queue = target.open(&batch.queue, configure, messages).await?;
    let request = |lease: &Lease| SettleRequest {
        lease: lease.clone(),
        settlement,
        reason: None,
    };
    Verdicts::new(output, messages)
        .of(&batch.leases, async |leases| {
            let settled = queue.settle(leases.iter().map(request).collect()).await;
            settled.into_iter().map(|o| o.map(verdict)).collect()
        })
        .await
}

fn verdict(outcome: SettleOutcome) -> Verdict {
    match outcome {
        SettleOutcome::Done => Verdict::Settled,
        SettleOutcome::Stale => Verdict::Stale,
    }
}
