//! `work`: a command for each message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use leaseline::{Consumer, Delivery, Handled, Lost, Progress, Queue};
use serde_json::json;

use crate::arguments::Work;
use crate::commands::giving_back::give_back;
use crate::exec::{Ended, Exec};
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::signals::{Drain, Signals, Stop};
use crate::status::Status;
use crate::target::Target;
use crate::{progress, warnings};

/// Why the commands could not be run, if that is so.
type Trouble = Arc<Mutex<Option<String>>>;

pub(crate) async fn run(
    target: &Target,
    work: Work,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let mut signals = Signals::catch()?;
    let exec = Exec::new(work.exec.clone(), output.is_json()).await?;
    let opening = target.open_patiently(
        target.queue(),
        |config| {
            work.leasing.apply(config);
            work.completed.apply(config);
            work.failed.apply(config);
        },
        messages,
    );
    let queue = tokio::select! {
        opened = opening => opened?,
        () = signals.next() => {
            messages.note("stopped before Redis was reached");
            return Ok(Status::Failed);
        }
    };

    let bar = progress::line();
    let messages = messages.around(bar.clone());
    warnings::show(messages.clone());
    let stop = Stop::default();
    let left = match queue.config().visibility_timeout_ms {
        Some(_) => "left to their leases",
        None => "left in the processing list, without a lease",
    };
    let overdue = Stop::default();
    let drain = Drain {
        stop: stop.clone(),
        overdue: overdue.clone(),
        timeout: work.drain_timeout,
        messages: messages.clone(),
        left,
    };
    signals.drive(drain, {
        let exec = Arc::clone(&exec);
        move || exec.terminate()
    });

    let trouble = Trouble::default();
    // What was done is told even if the work ends with an error.
    let reached = Arc::new(Mutex::new(Progress::default()));
    let consumer = consumer(&queue, &work)
        .stop_when(stop.requested())
        .on_progress({
            let (bar, reached) = (bar.clone(), Arc::clone(&reached));
            move |progress| {
                bar.set_message(progress::summary(progress));
                *reached.lock().unwrap_or_else(PoisonError::into_inner) = progress.clone();
            }
        });
    let running = consumer.run({
        let (exec, trouble) = (Arc::clone(&exec), Arc::clone(&trouble));
        move |delivery| {
            handle(
                Arc::clone(&exec),
                delivery,
                work.retry_delay,
                Arc::clone(&trouble),
                stop.clone(),
            )
        }
    });
    // Dropped when it is overdue, so that no command that is ended then settles its message.
    let finished = tokio::select! {
        finished = running => Some(finished),
        () = overdue.requested() => None,
    };
    if finished.is_none() {
        exec.end().await;
    }
    bar.finish_and_clear();

    let refusal = finished
        .as_ref()
        .and_then(|finished| finished.as_ref().err());
    let given_back = give_back(&queue, refusal, &messages).await;
    let mut done = match &finished {
        Some(Ok(done)) => done.clone(),
        _ => reached
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone(),
    };
    // Nobody settles what was in flight when the work was broken off.
    let ended = std::mem::take(&mut done.in_flight);
    done.unsettled += ended;
    if ended > 0 {
        messages.note(&format!(
            "the drain timeout is over: {ended} commands were ended, their messages are {left}"
        ));
    }
    if refusal.is_some() && done == Progress::default() {
        // Nothing was done: the error says it all.
    } else if output.is_json() {
        output.object(&json!({
            "acked": done.acked,
            "failed": done.failed,
            "released": done.released,
            "stale": done.stale,
            "unsettled": done.unsettled,
        }))?;
    } else {
        // Standard output belongs to the commands.
        messages.summary(&progress::summary(&done));
    }
    finished.transpose()?;
    let trouble = trouble
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    match trouble {
        Some(reason) => Err(Failure::io(format!(
            "the command of --exec could not be run: {reason}; its messages are {left}, correct the command and start again"
        ))),
        None if done.unsettled > 0 || !given_back => Ok(Status::Failed),
        None => Ok(Status::Done),
    }
}

fn consumer(queue: &Queue, work: &Work) -> Consumer {
    queue
        .consumer()
        .concurrency(work.concurrency.unwrap_or(1).into())
        .heartbeat(work.heartbeat.interval(queue.config()))
        .max_lease_time(work.heartbeat.longest())
        .until_empty(work.until_empty)
        .limit(work.limit)
}

/// Runs the command for a message. If it could not be run, that says nothing about the message,
/// and nothing good about the next ones.
async fn handle(
    exec: Arc<Exec>,
    delivery: Arc<Delivery>,
    retry_delay: Option<Duration>,
    trouble: Trouble,
    stop: Stop,
) -> Handled {
    let cut = AtomicBool::new(false);
    let over = async {
        // A command whose lease has passed on may still be of use to somebody.
        if delivery.lease_lost().await != Lost::MaxLeaseTime {
            std::future::pending::<()>().await;
        }
        cut.store(true, Ordering::Relaxed);
    };
    match exec.run(&delivery, over).await {
        Ended::Success => Handled::Ack,
        Ended::Failure(reason) | Ended::Killed(reason) if cut.load(Ordering::Relaxed) => {
            let message_id = delivery.message_id();
            tracing::warn!(
                reason,
                message_id,
                "a command was ended when its lease was over, which leaves its message to others"
            );
            Handled::Leave
        }
        Ended::Failure(reason) | Ended::Killed(reason) if let Some(delay) = retry_delay => {
            let message_id = delivery.message_id();
            tracing::warn!(
                reason,
                message_id,
                "a handler failed, and is tried again later"
            );
            Handled::RetryAfter(delay)
        }
        Ended::Failure(reason) => Handled::Fail(reason),
        Ended::Killed(reason) => {
            let message_id = delivery.message_id();
            tracing::warn!(
                reason,
                message_id,
                "a command was killed, which says nothing about its message; it is left to its lease"
            );
            Handled::Leave
        }
        Ended::NotRun(reason) => {
            trouble
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(reason);
            stop.request();
            Handled::Leave
        }
    }
}
