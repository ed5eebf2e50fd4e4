//! `claim`: messages with the leases to settle them.

use std::time::Duration;

use leaseline::MAX_CLAIM;
use leaseline::message::Delivery;
use serde::Serialize;

use crate::arguments::Claim;
use crate::commands::giving_back::give_back;
use crate::failure::Failure;
use crate::lease::LeaseObject;
use crate::messages::Messages;
use crate::output::Output;
use crate::payload::Payload;
use crate::printable;
use crate::status::Status;
use crate::target::Target;

/// The JSON form.
#[derive(Serialize)]
struct Object<'a> {
    message_id: Option<&'a str>,
    #[serde(flatten)]
    payload: Payload<'a>,
    delivery_count: u64,
    replayed: bool,
    lease: LeaseObject,
}

pub(crate) async fn run(
    target: &Target,
    claim: Claim,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let name = target.queue();
    let queue = target
        .open(name, |config| claim.leasing.apply(config), messages)
        .await?;
    let mut left = claim.max;
    let mut wait = claim.wait;
    let mut status = Status::NothingThere;
    while left > 0 {
        let deliveries = match queue.claim(left.min(MAX_CLAIM), wait).await {
            Ok(deliveries) => deliveries,
            Err(error) => {
                give_back(&queue, Some(&error), messages).await;
                return Err(error.into());
            }
        };
        if deliveries.is_empty() {
            break;
        }
        let leased = queue.config().visibility_timeout_ms.is_some();
        let unseen = |failure| unseen(&failure, deliveries.len(), leased);
        for delivery in &deliveries {
            left = left.saturating_sub(1);
            if let Err(failure) = print(name, delivery, output).map_err(unseen)? {
                messages.failure(&failure);
                status = Status::Failed;
            } else if status == Status::NothingThere {
                status = Status::Done;
            }
        }
        // What is claimed must be seen even if a later claim fails.
        output.flush().map_err(unseen)?;
        wait = Duration::ZERO;
    }
    if status == Status::NothingThere {
        messages.note("nothing to claim");
    }
    Ok(status)
}

/// Messages are claimed, and whoever was to settle them may not know.
fn unseen(failure: &Failure, claimed: usize, leased: bool) -> Failure {
    let then = match leased {
        true => "come back when their leases expire",
        false => "stay in the processing list, which `leaseline peek --from processing` shows",
    };
    Failure::io(format!(
        "{failure}; {claimed} messages were claimed by then, and those that nobody settles {then}"
    ))
}

/// Prints one message. The inner failure is that of a message whose payload cannot be read.
fn print(
    queue: &str,
    delivery: &Delivery,
    output: &mut Output,
) -> Result<Result<(), Failure>, Failure> {
    let payload = match &delivery.payload {
        Ok(payload) => Payload::from(payload.as_slice()),
        Err(error) => {
            return Ok(Err(Failure::Unreadable {
                error: Box::new(error.clone()),
                lease: Box::new(LeaseObject::new(queue, &delivery.lease)),
            }));
        }
    };
    let object = Object {
        message_id: delivery.message_id.as_deref(),
        payload,
        delivery_count: delivery.delivery_count,
        replayed: delivery.replayed,
        lease: LeaseObject::new(queue, &delivery.lease),
    };
    if output.is_json() {
        output.object(&object)?;
        return Ok(Ok(()));
    }
    output.line(format_args!(
        "message  {}",
        printable::line(object.message_id.unwrap_or("without id"))
    ))?;
    output.line(format_args!("payload  {}", object.payload))?;
    if let Some(token) = &delivery.lease.token {
        output.line(format_args!(
            "token    {token}, delivery {}",
            delivery.delivery_count
        ))?;
    }
    output.line(format_args!("lease    {}", object.lease))?;
    Ok(Ok(()))
}
