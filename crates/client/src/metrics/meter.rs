//! Counting for one queue.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::metrics::{Counter, Gauge, Histogram, Label, counter, gauge, histogram};
use leaseline_core::ErrorKind;
use leaseline_core::event::{Event, EventBatch, Operation, Outcome};
use leaseline_core::message::Stats;

use super::catalogue;
use crate::handling::Handled;
use crate::instance::Instance;

/// The meter of a queue.
pub(crate) struct Meter {
    published: Counter,
    duplicates: Counter,
    failed_publishes: Counter,
    claimed: Counter,
    redelivered: Counter,
    unreadable: Counter,
    empty_claims: Counter,
    failed_claims: Counter,
    claim_retries: Counter,
    reclaimed: Counter,
    dead_lettered: Counter,
    settlements: Settlements,
    renewed: Counter,
    stale_renewals: Counter,
    failed_renewals: Counter,
    trim_failures: Counter,
    events_dropped: Counter,
    sample_failures: Counter,
    durations: Durations,
    handlers: Gauge,
    oldest_handler: Gauge,
    sampled: Sampled,
    running: Mutex<Running>,
    /// What [`Queue::take_events`](crate::Queue::take_events) has not taken yet.
    kept: Mutex<Kept>,
    capacity: usize,
}

struct Settlements {
    acked: Counter,
    failed: Counter,
    released: Counter,
    stale: Counter,
    error: Counter,
}

struct Durations {
    ack: Histogram,
    fail: Histogram,
    retry: Histogram,
    leave: Histogram,
    cut: Histogram,
}

struct Sampled {
    pending: Gauge,
    in_flight: Gauge,
    delayed: Gauge,
    overdue: Gauge,
    oldest_overdue: Gauge,
    next_lease_end: Gauge,
    last_lease_end: Gauge,
    dead_letters: Gauge,
    completed: Gauge,
    failed: Gauge,
}

/// When the handlers that run have begun.
#[derive(Default)]
struct Running {
    next: u64,
    begun: BTreeMap<u64, Instant>,
}

#[derive(Default)]
struct Kept {
    events: VecDeque<Event>,
    dropped: u64,
}

impl Meter {
    /// Registers all series of `queue` with the recorder that is installed now. `capacity` events
    /// are kept.
    pub(crate) fn new(queue: &str, capacity: u32) -> Self {
        catalogue::describe();
        let labels = |outcome: Option<&'static str>| {
            let mut labels = vec![Label::new("queue", queue.to_owned())];
            labels.extend(outcome.map(|outcome| Label::new("outcome", outcome)));
            labels
        };
        let count = |name| counter!(name, labels(None));
        let publishes = |outcome| counter!("leaseline_publishes_total", labels(Some(outcome)));
        let settlements = |outcome| counter!("leaseline_settlements_total", labels(Some(outcome)));
        let renewals = |outcome| counter!("leaseline_renewals_total", labels(Some(outcome)));
        let duration =
            |outcome| histogram!("leaseline_handler_duration_seconds", labels(Some(outcome)));
        let level = |name| gauge!(name, labels(None));
        let meter = Self {
            published: publishes("published"),
            duplicates: publishes("duplicate"),
            failed_publishes: publishes("failed"),
            claimed: count("leaseline_claimed_total"),
            redelivered: count("leaseline_redelivered_total"),
            unreadable: count("leaseline_unreadable_total"),
            empty_claims: count("leaseline_empty_claims_total"),
            failed_claims: count("leaseline_failed_claims_total"),
            claim_retries: count("leaseline_claim_retries_total"),
            reclaimed: count("leaseline_reclaimed_total"),
            dead_lettered: count("leaseline_dead_lettered_total"),
            settlements: Settlements {
                acked: settlements("acked"),
                failed: settlements("failed"),
                released: settlements("released"),
                stale: settlements("stale"),
                error: settlements("error"),
            },
            renewed: renewals("renewed"),
            stale_renewals: renewals("stale"),
            failed_renewals: renewals("error"),
            trim_failures: count("leaseline_trim_failures_total"),
            events_dropped: count("leaseline_events_dropped_total"),
            sample_failures: count("leaseline_sample_failures_total"),
            durations: Durations {
                ack: duration("ack"),
                fail: duration("fail"),
                retry: duration("retry"),
                leave: duration("leave"),
                cut: duration("cut"),
            },
            handlers: level("leaseline_handlers"),
            oldest_handler: level("leaseline_oldest_handler_seconds"),
            sampled: Sampled {
                pending: level("leaseline_pending_messages"),
                in_flight: level("leaseline_in_flight_messages"),
                delayed: level("leaseline_delayed_messages"),
                overdue: level("leaseline_overdue_messages"),
                oldest_overdue: level("leaseline_oldest_overdue_seconds"),
                next_lease_end: level("leaseline_next_lease_end_seconds"),
                last_lease_end: level("leaseline_last_lease_end_seconds"),
                dead_letters: level("leaseline_dead_letters"),
                completed: level("leaseline_completed_payloads"),
                failed: level("leaseline_failed_payloads"),
            },
            running: Mutex::default(),
            kept: Mutex::default(),
            capacity: capacity as usize,
        };
        meter.handlers.set(0.0);
        meter
    }

    /// Counts what the call that has just ended tells.
    pub(crate) async fn read(&self, instance: &mut Instance) {
        // An instance that broke has taken its events with it.
        let Ok(batch) = instance.take_events().await else {
            return;
        };
        self.events_dropped.increment(batch.dropped);
        let mut failing = false;
        for event in &batch.events {
            self.count(event, failing);
            // The settlement of a failed message is told right after its failure; the release of
            // one is told without.
            failing = event.operation == Operation::Failed;
        }
        let mut kept = lock(&self.kept);
        kept.dropped += batch.dropped;
        kept.events.extend(batch.events);
        let excess = kept.events.len().saturating_sub(self.capacity);
        kept.events.drain(..excess);
        kept.dropped += excess as u64;
    }

    fn count(&self, event: &Event, failing: bool) {
        let counter = match (event.operation, event.outcome) {
            (Operation::Publish, Outcome::Success) => &self.published,
            (Operation::Publish, _) => &self.failed_publishes,
            (Operation::PublishDedupHit, _) => &self.duplicates,
            (Operation::Claim, outcome) => {
                let malformed =
                    |error: &leaseline_core::Error| error.kind == ErrorKind::MalformedMessage;
                if outcome != Outcome::Success {
                    if !event.error.as_ref().is_some_and(malformed) {
                        return self.failed_claims.increment(1);
                    }
                    self.unreadable.increment(1);
                }
                if event.delivery_count.is_some_and(|count| count > 1) {
                    self.redelivered.increment(1);
                }
                &self.claimed
            }
            (Operation::ClaimEmpty, _) => &self.empty_claims,
            // One without a count is a claim that was recovered.
            (Operation::ClaimReclaim, _) if event.delivery_count.is_some() => &self.reclaimed,
            (Operation::RetryAttempt, _) => &self.claim_retries,
            (Operation::Dlq, _) => &self.dead_lettered,
            (Operation::Ack | Operation::Nack, Outcome::Skipped) => &self.settlements.stale,
            (Operation::Ack, _) => &self.settlements.acked,
            (Operation::Nack, _) if failing => &self.settlements.failed,
            (Operation::Nack, _) => &self.settlements.released,
            (Operation::CleanupFailed, _) => &self.settlements.error,
            (Operation::LeaseRenew, _) => &self.renewed,
            (Operation::LeaseRenewFailed, Outcome::Skipped) => &self.stale_renewals,
            (Operation::LeaseRenewFailed, _) => &self.failed_renewals,
            (Operation::TrimFailed, _) => &self.trim_failures,
            // The others tell more about one that is counted.
            _ => return,
        };
        counter.increment(1);
    }

    /// The events that were counted and not taken.
    pub(crate) fn take_events(&self) -> EventBatch {
        let kept = std::mem::take(&mut *lock(&self.kept));
        EventBatch {
            events: kept.events.into(),
            dropped: kept.dropped,
        }
    }

    /// A handler begins.
    pub(crate) fn begin(&self) -> Timing<'_> {
        let begun = Instant::now();
        let mut running = lock(&self.running);
        let number = running.next;
        running.next += 1;
        running.begun.insert(number, begun);
        self.handlers.set(running.begun.len() as f64);
        Timing {
            meter: self,
            number,
            begun,
            histogram: &self.durations.cut,
        }
    }

    /// Sets the sampled gauges.
    pub(crate) fn sample(&self, stats: &Stats) {
        let seconds = |ms: Option<u64>| Duration::from_millis(ms.unwrap_or(0)).as_secs_f64();
        let sampled = &self.sampled;
        sampled.pending.set(stats.pending as f64);
        sampled.in_flight.set(stats.processing as f64);
        sampled.delayed.set(stats.delayed as f64);
        sampled.overdue.set(stats.overdue as f64);
        sampled.oldest_overdue.set(seconds(stats.oldest_overdue_ms));
        sampled.next_lease_end.set(seconds(stats.next_lease_end_ms));
        sampled.last_lease_end.set(seconds(stats.last_lease_end_ms));
        sampled.dead_letters.set(stats.dead_letters as f64);
        sampled.completed.set(stats.completed as f64);
        sampled.failed.set(stats.failed as f64);
    }

    /// Sets the gauge that needs no server.
    pub(crate) fn sample_handlers(&self) {
        let running = lock(&self.running);
        let oldest = running.begun.values().min();
        self.oldest_handler
            .set(oldest.map_or(0.0, |begun| begun.elapsed().as_secs_f64()));
    }

    /// A sample had no answer.
    pub(crate) fn sample_failed(&self) {
        self.sample_failures.increment(1);
    }
}

/// A handler that runs, until this is dropped.
pub(crate) struct Timing<'a> {
    meter: &'a Meter,
    number: u64,
    begun: Instant,
    histogram: &'a Histogram,
}

impl Timing<'_> {
    /// The handler has ended by itself.
    pub(crate) fn end(mut self, handled: &Handled) {
        let durations = &self.meter.durations;
        self.histogram = match handled {
            Handled::Ack => &durations.ack,
            Handled::Fail(_) => &durations.fail,
            Handled::RetryAfter(_) => &durations.retry,
            Handled::Leave => &durations.leave,
        };
    }
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        self.histogram.record(self.begun.elapsed().as_secs_f64());
        let mut running = lock(&self.meter.running);
        running.begun.remove(&self.number);
        self.meter.handlers.set(running.begun.len() as f64);
    }
}

/// Nothing can panic while one of these is locked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
