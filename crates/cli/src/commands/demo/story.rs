//! What happens in the demo, act by act. Every check compares what calls returned, or what the
//! server holds.

use std::collections::BTreeSet;
use std::time::Duration;

use leaseline::capability::Value;
use leaseline::event::Operation;
use leaseline::message::{
    Delivery, Lease, Outgoing, PublishOutcome, RenewOutcome, SettleOutcome, SettleRequest,
    Settlement,
};
use leaseline::{Error, Queue};

use super::checks::Checks;
use super::stage::{MAX_DELIVERIES, Stage};
use crate::failure::Failure;

const INVOICE: &str = "send invoice 42";
const INVOICE_KEY: &str = "invoice-42";
const POISON: &str = "a message that no worker survives";

/// Tells the whole story.
pub(super) async fn tell(stage: &Stage, checks: &mut Checks<'_>) -> Result<(), Failure> {
    let id = publishing(stage, checks).await?;
    let first = lost_reply(stage, checks, &id).await?;
    let second = expiry(stage, checks, &first).await?;
    staleness(stage, checks, &first, &second).await?;
    poison(stage, checks).await?;
    redriving(stage, checks).await?;
    let left = stage.keys().await?;
    let expected = BTreeSet::from([
        stage.key("processing:lease_token_counter"),
        stage.key(&format!("deduplication::{INVOICE_KEY}")),
    ]);
    checks.that(
        "nothing is left but the token counter and the deduplication key",
        left == expected,
    )
}

/// A message goes in once. Gives its id.
async fn publishing(stage: &Stage, checks: &mut Checks<'_>) -> Result<String, Failure> {
    let message = Outgoing {
        payload: INVOICE.into(),
        deduplication_key: Some(INVOICE_KEY.into()),
        ..Outgoing::default()
    };
    let replies = stage
        .first
        .publish_all(vec![message.clone(), message])
        .await;
    let mut outcomes = Vec::new();
    let mut id = String::new();
    for reply in replies {
        outcomes.push(reply.outcome?);
        if id.is_empty() {
            id = reply.message_id;
        }
    }
    checks.tell(format_args!("published '{INVOICE}' as {id}"))?;
    checks.that(
        "a message is published",
        outcomes.first() == Some(&PublishOutcome::Published),
    )?;
    checks.tell("published it again with the same deduplication key")?;
    let pending = stage.first.stats().await?.pending;
    checks.that(
        "the duplicate is refused, one message is pending",
        outcomes.get(1) == Some(&PublishOutcome::Duplicate) && pending == 1,
    )?;
    Ok(id)
}

/// A worker claims, and the answer never arrives.
async fn lost_reply(stage: &Stage, checks: &mut Checks<'_>, id: &str) -> Result<Delivery, Failure> {
    stage.line.arm();
    let delivery = claim_one(&stage.first).await?;
    let lost = stage.line.lost().unwrap_or_default();
    let token = token(&delivery.lease);
    checks.tell("worker 1 claims; Redis runs the claim, and its reply is lost on purpose")?;
    checks.tell(format_args!(
        "worker 1 asks again under the same claim id: message {}, token {token}",
        delivery.message_id.as_deref().unwrap_or_default()
    ))?;
    checks.that("the reply of the claim is lost", !lost.is_empty())?;
    checks.that(
        "the claim is replayed, with the message and the token of the lost reply",
        delivery.replayed
            && delivery.message_id.as_deref() == Some(id)
            && delivery.payload.as_deref() == Ok(INVOICE.as_bytes())
            && lost.contains(&Value::Bytes(delivery.lease.stored.clone()))
            && lost.contains(&Value::Bytes(token.to_string().into_bytes())),
    )?;
    let granted = stage
        .ask(&["GET", &stage.key("processing:lease_token_counter")])
        .await?;
    checks.that(
        "Redis granted one lease, not two",
        granted == ["1"] && delivery.delivery_count == 1,
    )?;
    let renewed = one(stage.first.renew(vec![delivery.lease.clone()]).await)?;
    checks.that(
        "the lease can be renewed",
        matches!(renewed, RenewOutcome::Renewed(deadline) if Some(deadline) >= delivery.lease.deadline_ms),
    )?;
    Ok(delivery)
}

/// The worker hangs, its lease ends, another one takes over.
async fn expiry(
    stage: &Stage,
    checks: &mut Checks<'_>,
    first: &Delivery,
) -> Result<Delivery, Failure> {
    let early = stage.second.claim(1, Duration::ZERO).await?;
    checks.that(
        "nobody else gets it while the lease lasts",
        early.is_empty(),
    )?;
    stage.expire_leases().await;
    let second = claim_one(&stage.second).await?;
    checks.tell(format_args!(
        "worker 1 hangs, its lease expires; worker 2 claims the message, token {}",
        token(&second.lease)
    ))?;
    checks.that(
        "after the lease another worker gets the same message",
        second.lease.stored == first.lease.stored && second.delivery_count == 2,
    )?;
    checks.that(
        "its fencing token is larger",
        token(&second.lease) > token(&first.lease),
    )?;
    Ok(second)
}

/// The first worker wakes up and acknowledges.
async fn staleness(
    stage: &Stage,
    checks: &mut Checks<'_>,
    first: &Delivery,
    second: &Delivery,
) -> Result<(), Failure> {
    let late = ack(&stage.first, &first.lease).await?;
    let processing = stage.second.stats().await?.processing;
    checks.tell("worker 1 wakes up and acknowledges; worker 2 does so after it")?;
    checks.that(
        "the stale acknowledgement is refused and changes nothing",
        late == SettleOutcome::Stale && processing == 1,
    )?;
    let done = ack(&stage.second, &second.lease).await?;
    let stats = stage.second.stats().await?;
    checks.that(
        "the current one is accepted and the message is gone",
        done == SettleOutcome::Done && (stats.pending, stats.processing) == (0, 0),
    )
}

/// A message that kills every worker which claims it.
async fn poison(stage: &Stage, checks: &mut Checks<'_>) -> Result<(), Failure> {
    let message = Outgoing {
        payload: POISON.into(),
        ..Outgoing::default()
    };
    for reply in stage.first.publish_all(vec![message]).await {
        reply.outcome?;
    }
    for _ in 0..MAX_DELIVERIES {
        claim_one(&stage.second).await?;
        stage.expire_leases().await;
    }
    stage.second.take_events().await;
    let none = stage.second.claim(1, Duration::ZERO).await?;
    let events = stage.second.take_events().await.events;
    let letters = stage.ask(&["LRANGE", &stage.key("dlq"), "0", "-1"]).await?;
    checks.tell(format_args!(
        "published '{POISON}'; {MAX_DELIVERIES} claims of it die"
    ))?;
    checks.that(
        "at its delivery limit a poison message is dead-lettered, not delivered",
        none.is_empty() && letters == [POISON],
    )?;
    checks.that(
        "an event says so",
        events.iter().any(|event| event.operation == Operation::Dlq),
    )
}

/// An operator gives the dead letter another chance.
async fn redriving(stage: &Stage, checks: &mut Checks<'_>) -> Result<(), Failure> {
    let moved = stage.second.redrive(10).await?;
    let delivery = claim_one(&stage.second).await?;
    checks.tell("an operator redrives the dead letter, and this time it succeeds")?;
    checks.that(
        "redriven, it is delivered with a new delivery count",
        moved == 1
            && delivery.payload.as_deref() == Ok(POISON.as_bytes())
            && delivery.delivery_count == 1,
    )?;
    let done = ack(&stage.second, &delivery.lease).await?;
    let stats = stage.second.stats().await?;
    checks.that(
        "and acknowledged",
        done == SettleOutcome::Done
            && (stats.pending, stats.processing, stats.dead_letters) == (0, 0, 0),
    )
}

/// Claims a message that must be there.
async fn claim_one(queue: &Queue) -> Result<Delivery, Failure> {
    let claimed = queue.claim(1, Duration::ZERO).await?;
    claimed
        .into_iter()
        .next()
        .ok_or_else(|| Failure::io("there was nothing to claim where a message had to be"))
}

async fn ack(queue: &Queue, lease: &Lease) -> Result<SettleOutcome, Failure> {
    let request = SettleRequest {
        lease: lease.clone(),
        settlement: Settlement::Ack,
        reason: None,
    };
    one(queue.settle(vec![request]).await)
}

/// The answer of a batch of one.
fn one<T>(answers: Vec<Result<T, Error>>) -> Result<T, Failure> {
    let answer = answers.into_iter().next();
    Ok(answer.ok_or_else(|| Failure::io("the engine gave no answer"))??)
}

/// The fencing token as a number, for comparison.
fn token(lease: &Lease) -> u64 {
    lease
        .token
        .as_deref()
        .and_then(|token| token.parse().ok())
        .unwrap_or(0)
}
