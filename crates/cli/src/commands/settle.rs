//! `ack` and `fail`: how claimed messages end.

use leaseline::message::{SettleOutcome, SettleRequest, Settlement};
use leaseline::{Config, Error};

use crate::arguments::{Ack, Fail};
use crate::commands::settle::verdict::{Verdict, Verdicts};
use crate::failure::Failure;
use crate::lease::{LeaseBatch, NamedLease};
use crate::messages::Messages;
use crate::output::Output;
use crate::status::Status;
use crate::target::{Target, log};

pub(crate) mod verdict;

/// Leases that are sent in one go.
const BATCH: usize = 100;

pub(crate) async fn ack(
    target: &Target,
    ack: Ack,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let configure = |config: &mut Config| config.completed = log(ack.max_completed_length);
    let leases = &ack.leases.lease;
    settle(target, leases, Settlement::Ack, configure, output, messages).await
}

pub(crate) async fn fail(
    target: &Target,
    fail: Fail,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let configure = |config: &mut Config| config.failed = log(fail.max_failed_length);
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
    for chunk in chunks(batch.leases) {
        let requests = chunk
            .iter()
            .map(|named| SettleRequest {
                lease: named.lease.clone(),
                settlement,
            })
            .collect();
        let answers = queue.settle(requests).await;
        for (named, answer) in chunk.into_iter().zip(answers) {
            verdicts.add(named.message_id, answer.map(verdict))?;
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

/// Leases in batches of a bounded size.
pub(crate) fn chunks(leases: Vec<NamedLease>) -> impl Iterator<Item = Vec<NamedLease>> {
    /// As for publishing: what the component holds at once is limited.
    const MAX_BYTES: usize = 1 << 20;

    let mut leases = leases.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut chunk = vec![leases.next()?];
        let mut bytes = chunk[0].lease.stored.len();
        while chunk.len() < BATCH
            && let Some(next) = leases.next_if(|next| bytes + next.lease.stored.len() <= MAX_BYTES)
        {
            bytes += next.lease.stored.len();
            chunk.push(next);
        }
        Some(chunk)
    })
}

/// The answer to one lease.
pub(crate) type Answer = Result<Verdict, Error>;
