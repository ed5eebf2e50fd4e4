//! `peek`: look at messages without taking them.

use leaseline::message::{List, Peeked};
use serde::Serialize;

use crate::arguments::Peek;
use crate::failure::Failure;
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
    /// None where there is no lease and no delay.
    #[serde(flatten)]
    holding: Option<Holding>,
}

/// How long a message stays where it is.
#[derive(Serialize)]
struct Holding {
    deadline_ms: u64,
    remaining_ms: i64,
    delayed: bool,
}

impl Holding {
    fn of(peeked: &Peeked) -> Option<Self> {
        Some(Self {
            deadline_ms: peeked.deadline_ms?,
            remaining_ms: peeked.remaining_ms?,
            delayed: peeked.delayed,
        })
    }
}

pub(crate) async fn run(
    target: &Target,
    peek: Peek,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let queue = target.open(target.queue(), |_| (), messages).await?;
    let list = peek.from.list();
    let peeked = queue.peek(list, peek.max).await?;
    if peeked.is_empty() {
        messages.note("nothing there");
        return Ok(Status::NothingThere);
    }
    let mut status = Status::Done;
    for message in &peeked {
        if let Err(error) = print(list, message, output)? {
            messages.failure(&error.into());
            status = Status::Failed;
        }
    }
    Ok(status)
}

/// Prints one message. The inner error is that of a message whose payload cannot be read.
fn print(
    list: List,
    peeked: &Peeked,
    output: &mut Output,
) -> Result<Result<(), leaseline::Error>, Failure> {
    let payload = match &peeked.payload {
        Ok(payload) => Payload::from(payload.as_slice()),
        Err(error) => return Ok(Err(error.clone())),
    };
    let object = Object {
        message_id: peeked.message_id.as_deref(),
        payload,
        delivery_count: peeked.delivery_count,
        holding: Holding::of(peeked),
    };
    if output.is_json() {
        output.object(&object)?;
        return Ok(Ok(()));
    }
    if matches!(list, List::Pending | List::Processing) {
        output.line(format_args!(
            "message  {}, claimed {} times",
            printable::line(object.message_id.unwrap_or("without id")),
            object.delivery_count
        ))?;
    }
    output.line(format_args!("payload  {}", object.payload))?;
    if let Some(holding) = &object.holding {
        let what = if holding.delayed { "delay" } else { "lease" };
        let seconds = holding.remaining_ms.unsigned_abs() as f64 / 1000.0;
        if holding.remaining_ms >= 0 {
            output.line(format_args!("{what}    ends in {seconds} s"))?;
        } else {
            output.line(format_args!("{what}    over for {seconds} s"))?;
        }
    }
    Ok(Ok(()))
}
