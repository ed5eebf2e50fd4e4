//! Judging the keys of a queue.

use leaseline::message::List;
use leaseline::{Connection, Error, MAX_PEEK, Queue};

use super::finding::{Finding, Verdict};
use crate::commands::beside::beside;
use crate::failure::Failure;

/// Judges the keys of a queue, without a change.
pub(crate) async fn judge(connection: &Connection, queue: &Queue) -> Result<Vec<Finding>, Failure> {
    let foreign = foreign_types(connection, queue).await?;
    if !foreign.is_empty() {
        return Ok(vec![Finding::new(
            "keys",
            Verdict::Problem,
            format!("of another type than the queue's: {}", foreign.join(", ")),
            "another program uses these names: give the queue another name, or remove the keys",
        )]);
    }
    if let Some(counter) = foreign_counter(connection, queue).await? {
        return Ok(vec![Finding::new(
            "token counter",
            Verdict::Problem,
            format!("{counter} holds no number"),
            "every claim is refused: give the queue another name, or remove the key if nothing is in processing",
        )]);
    }
    let stats = queue.stats().await?;
    let mut findings = vec![Finding::ok(
        "queue",
        format!(
            "{}: {} pending, {} in processing, {} delayed",
            queue.config().name,
            stats.pending,
            stats.processing,
            stats.delayed
        ),
    )];
    let held = queue.peek(List::Processing, MAX_PEEK).await?;
    let stuck = held
        .iter()
        .filter(|held| held.deadline_ms.is_none())
        .count();
    if stuck > 0 {
        findings.push(Finding::new(
            "messages without a lease",
            Verdict::Warning,
            format!("{stuck} of the newest {} in processing", held.len()),
            "they were claimed without a lease, and nothing brings them back: if no worker holds them, move them to pending by hand",
        ));
    }
    if let Some(overdue_ms) = stats.oldest_overdue_ms {
        findings.push(Finding::new(
            "expired leases",
            Verdict::Warning,
            format!("{}, the oldest for {} s", stats.overdue, overdue_ms / 1000),
            "start a consumer: every claim brings a hundred of them back, so at this moment nobody claims",
        ));
    }
    if stats.dead_letters > 0 {
        findings.push(Finding::new(
            "dead letters",
            Verdict::Note,
            stats.dead_letters.to_string(),
            "look at them with `peek --from dlq`, then `redrive` or `purge` them",
        ));
    }
    Ok(findings)
}

/// The key of the token counter, if it holds something else.
async fn foreign_counter(connection: &Connection, queue: &Queue) -> Result<Option<String>, Error> {
    let key = queue.config().keys().lease_token_counter;
    let found = beside(connection, &key, &["GET", &key]).await?;
    // Nothing where there is no counter.
    let is_number = |text: &String| text.is_empty() || text.parse::<i64>().is_ok();
    Ok((!found.iter().all(is_number)).then_some(key))
}

/// Keys that hold another type than the queue expects.
async fn foreign_types(connection: &Connection, queue: &Queue) -> Result<Vec<String>, Error> {
    let keys = queue.config().keys();
    let expected = [
        (&keys.pending, "list"),
        (&keys.processing, "list"),
        (&keys.completed, "list"),
        (&keys.failed, "list"),
        (&keys.dead_letters, "list"),
        (&keys.lease_deadlines, "zset"),
        (&keys.lease_tokens, "hash"),
        (&keys.lease_token_counter, "string"),
        (&keys.delivery_counts, "hash"),
        (&keys.claim_refs, "hash"),
        (&keys.claim_ids, "hash"),
        (&keys.claim_backrefs, "hash"),
        (&keys.delays, "zset"),
    ];
    let mut foreign = Vec::new();
    for (key, kind) in expected {
        let found = beside(connection, key, &["TYPE", key]).await?;
        if !found.iter().all(|found| found == kind || found == "none") {
            foreign.push(key.clone());
        }
    }
    Ok(foreign)
}
