//! `ack` and `fail`: how claimed messages end.

use leaseline::message::{Lease, SettleOutcome, SettleRequest, Settlement};
use leaseline::{Config, Error};

use crate::arguments::{Ack, Fail};
use crate::commands::settle::verdict::{Verdict, Verdicts};
use crate::failure::Failure;
use crate::lease::LeaseBatch;
use crate::messages::Messages;
use crate::output::Output;
use crate::status::Status;
use crate::target::Target;

pub(crate) mod verdict;

/// Leases that are sent before their outcomes are printed.
pub(crate) const BATCH: usize = 100;

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
    let mut verdicts = Verdicts::new(output, messages);
    for chunk in batch.leases.chunks(BATCH) {
        let request = |lease: &Lease| SettleRequest {
            lease: lease.clone(),
            settlement,
        };
        let answers = queue.settle(chunk.iter().map(request).collect()).await;
        for (lease, answer) in chunk.iter().zip(answers) {
            verdicts.add(lease.message_id(), answer.map(verdict))?;
        }
        verdicts.flush()?;
    }
    Ok(verdicts.finish())
}

fn verdict(outcome: SettleOutcome) -> Verdict {
    match outcome {
        SettleOutcome::Done => Verdict::Done { deadline_ms: None },
        SettleOutcome::Stale => Verdict::Stale,
    }
}

/// The answer to one lease.
pub(crate) type Answer = Result<Verdict, Error>;
