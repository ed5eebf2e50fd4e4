//! `stats`: how many messages are where.

use serde::Serialize;

use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::printable;
use crate::status::Status;
use crate::target::Target;

/// The JSON form.
#[derive(Serialize)]
struct Object<'a> {
    queue: &'a str,
    pending: u64,
    processing: u64,
    delayed: u64,
    overdue: u64,
    oldest_overdue_ms: Option<u64>,
    next_lease_end_ms: Option<u64>,
    last_lease_end_ms: Option<u64>,
    completed: u64,
    failed: u64,
    dlq: u64,
    /// The shared envelope has no time of publishing, so this is not known.
    oldest_pending_ms: Option<u64>,
}

pub(crate) async fn run(
    target: &Target,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let name = target.queue();
    let queue = target.open(name, |_| (), messages).await?;
    let stats = queue.stats().await?;
    if output.is_json() {
        output.object(&Object {
            queue: name,
            pending: stats.pending,
            processing: stats.processing,
            delayed: stats.delayed,
            overdue: stats.overdue,
            oldest_overdue_ms: stats.oldest_overdue_ms,
            next_lease_end_ms: stats.next_lease_end_ms,
            last_lease_end_ms: stats.last_lease_end_ms,
            completed: stats.completed,
            failed: stats.failed,
            dlq: stats.dead_letters,
            oldest_pending_ms: None,
        })?;
        return Ok(Status::Done);
    }
    output.line(format_args!("queue       {}", printable::line(name)))?;
    for (list, length) in [
        ("pending", stats.pending),
        ("processing", stats.processing),
        ("delayed", stats.delayed),
        ("completed", stats.completed),
        ("failed", stats.failed),
        ("dlq", stats.dead_letters),
    ] {
        output.line(format_args!("{list:<11} {length}"))?;
    }
    match stats.oldest_overdue_ms {
        Some(age) => output.line(format_args!(
            "overdue     {}, the oldest for {age} ms",
            stats.overdue
        ))?,
        None => output.line(format_args!("overdue     {}", stats.overdue))?,
    }
    if let (Some(next), Some(last)) = (stats.next_lease_end_ms, stats.last_lease_end_ms) {
        output.line(format_args!(
            "leases end  in {next} ms the next, in {last} ms the last"
        ))?;
    }
    Ok(Status::Done)
}
