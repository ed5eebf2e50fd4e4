//! What a queue tells the `metrics` facade (cargo feature `metrics`).
//!
//! | name | type | unit | labels | what |
//! |---|---|---|---|---|
//! | `leaseline_publishes_total` | counter | count | queue, outcome | messages published: `published`, `duplicate` or `failed` |
//! | `leaseline_claimed_total` | counter | count | queue | messages claimed |
//! | `leaseline_redelivered_total` | counter | count | queue | of these, messages that had been claimed before |
//! | `leaseline_unreadable_total` | counter | count | queue | of these, messages whose payload cannot be read |
//! | `leaseline_empty_claims_total` | counter | count | queue | claims that found nothing |
//! | `leaseline_failed_claims_total` | counter | count | queue | claims that failed, or stopped early |
//! | `leaseline_claim_retries_total` | counter | count | queue | attempts of claims that had no answer and were made again |
//! | `leaseline_reclaimed_total` | counter | count | queue | leases and delays that were over, as claims met them |
//! | `leaseline_dead_lettered_total` | counter | count | queue | messages that claims moved to the dead letters |
//! | `leaseline_settlements_total` | counter | count | queue, outcome | leases given back: `acked`, `failed`, `released`, `stale` (refused) or `error` |
//! | `leaseline_renewals_total` | counter | count | queue, outcome | leases renewed: `renewed`, `stale` (refused) or `error` |
//! | `leaseline_trim_failures_total` | counter | count | queue | logs that could not be cut to their length |
//! | `leaseline_events_dropped_total` | counter | count | queue | events that one call had too many of: what the counters above miss |
//! | `leaseline_sample_failures_total` | counter | count | queue | samples that failed, after which the sampled gauges are old |
//! | `leaseline_handler_duration_seconds` | histogram | seconds | queue, outcome | how long handlers of consumers ran: `ack`, `fail`, `retry`, `leave`, or `cut` (dropped, or a panic) |
//! | `leaseline_handlers` | gauge | count | queue | handlers that run in this process |
//! | `leaseline_oldest_handler_seconds` | gauge | seconds | queue | sampled: how long the oldest of them has run; 0 for none |
//! | `leaseline_pending_messages` | gauge | count | queue | sampled: messages that can be claimed |
//! | `leaseline_in_flight_messages` | gauge | count | queue | sampled: messages that are claimed, or overdue |
//! | `leaseline_delayed_messages` | gauge | count | queue | sampled: messages that are not due yet |
//! | `leaseline_overdue_messages` | gauge | count | queue | sampled: leases and delays that are over and that no claim has met |
//! | `leaseline_oldest_overdue_seconds` | gauge | seconds | queue | sampled: how long the oldest of them has been over; 0 for none |
//! | `leaseline_next_lease_end_seconds` | gauge | seconds | queue | sampled: until the first running lease ends; 0 for none |
//! | `leaseline_last_lease_end_seconds` | gauge | seconds | queue | sampled: until the last running lease ends; 0 for none |
//! | `leaseline_dead_letters` | gauge | count | queue | sampled: payloads in the dead-letter list |
//! | `leaseline_completed_payloads` | gauge | count | queue | sampled: payloads in the completed log |
//! | `leaseline_failed_payloads` | gauge | count | queue | sampled: payloads in the failed log |
//!
//! `queue` is the name of the queue. All series exist, as 0, as soon as the queue is opened.
//!
//! # Where the numbers come from
//!
//! A queue tells nothing until [`Builder::metrics`](crate::Builder::metrics) asks for it, and then
//! to the recorder that is installed when it is opened: install it before. Counters are fed by the
//! events of each call when the call ends; [`Queue::take_events`](crate::Queue::take_events) gives
//! the same events all the same. They count what this queue object and its clones do, and calls
//! that reached an engine: a publish that a drained queue refuses is not among them. Retries of
//! publishes and settlements have no events, so only those of claims are told.
//!
//! Sampled gauges are about the whole queue and need a server command, one for each sample:
//! [`Queue::sample_metrics`](crate::Queue::sample_metrics), spawned in one process for each queue.
//! How long a message has been in flight is stored nowhere, so there is no such gauge:
//! `leaseline_oldest_handler_seconds` is that of this process, and see
//! [`Stats::next_lease_end_ms`](crate::message::Stats::next_lease_end_ms).
//!
//! # Attaching an exporter
//!
//! Any exporter of the facade will do. For Prometheus add the crate `metrics-exporter-prometheus`:
//!
//! ```ignore
//! // Listens on port 9000 and serves /metrics.
//! metrics_exporter_prometheus::PrometheusBuilder::new().install()?;
//! let queue = leaseline::Queue::builder("jobs").redis("redis://localhost").metrics().open().await?;
//! tokio::spawn(queue.clone().sample_metrics(Duration::from_secs(15)));
//! ```

mod catalogue;
mod meter;

pub use catalogue::{Kind, METRICS, Metric};
pub(crate) use meter::Meter;
