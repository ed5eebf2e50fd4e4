//! The metrics, one by one.

use ::metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Values, in a distribution.
    Histogram,
}

/// A metric that a queue tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// How it behaves.
    pub kind: Kind,
    /// What it is counted in.
    pub unit: Unit,
    /// The values of its label `outcome`; empty: it has only the label `queue`.
    pub outcomes: &'static [&'static str],
    /// What it tells.
    pub description: &'static str,
}

/// All metrics, in the order of the [table](crate::metrics).
pub const METRICS: &[Metric] = &[
    Metric {
        name: "leaseline_publishes_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &["published", "duplicate", "failed"],
        description: "messages published: published, duplicate or failed",
    },
    Metric {
        name: "leaseline_claimed_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "messages claimed",
    },
    Metric {
        name: "leaseline_redelivered_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "of these, messages that had been claimed before",
    },
    Metric {
        name: "leaseline_unreadable_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "of these, messages whose payload cannot be read",
    },
    Metric {
        name: "leaseline_empty_claims_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "claims that found nothing",
    },
    Metric {
        name: "leaseline_failed_claims_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "claims that failed, or stopped early",
    },
    Metric {
        name: "leaseline_claim_retries_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "attempts of claims that had no answer and were made again",
    },
    Metric {
        name: "leaseline_reclaimed_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "leases and delays that were over, as claims met them",
    },
    Metric {
        name: "leaseline_dead_lettered_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "messages that claims moved to the dead letters",
    },
    Metric {
        name: "leaseline_settlements_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &["acked", "failed", "released", "stale", "error"],
        description: "leases given back: acked, failed, released, stale (refused) or error",
    },
    Metric {
        name: "leaseline_renewals_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &["renewed", "stale", "error"],
        description: "leases renewed: renewed, stale (refused) or error",
    },
    Metric {
        name: "leaseline_trim_failures_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "logs that could not be cut to their length",
    },
    Metric {
        name: "leaseline_events_dropped_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "events that one call had too many of: what the counters above miss",
    },
    Metric {
        name: "leaseline_sample_failures_total",
        kind: Kind::Counter,
        unit: Unit::Count,
        outcomes: &[],
        description: "samples that failed, after which the sampled gauges are old",
    },
    Metric {
        name: "leaseline_handler_duration_seconds",
        kind: Kind::Histogram,
        unit: Unit::Seconds,
        outcomes: &["ack", "fail", "retry", "leave", "cut"],
        description: "how long handlers of consumers ran: ack, fail, retry, leave, or cut (dropped, or a panic)",
    },
    Metric {
        name: "leaseline_handlers",
        kind: Kind::Gauge,
        unit: Unit::Count,
        outcomes: &[],
        description: "handlers that run in this process",
    },
    Metric {
        name: "leaseline_oldest_handler_seconds",
        kind: Kind::Gauge,
        unit: Unit::Seconds,
        outcomes: &[],
        description: "sampled: how long the oldest of them has run; 0 for none",
    },
    Metric {
        name: "leaseline_pending_messages",
        kind: Kind::Gauge,
        unit: Unit::Count,
        outcomes: &[],
        description: "sampled: messages that can be claimed",
    },
    Metric {
        name: "leaseline_in_flight_messages",
        kind: Kind::Gauge,
        unit: Unit::Count,
        outcomes: &[],
        description: "sampled: messages that are claimed, or overdue",
    },
    Metric {
        name: "leaseline_delayed_messages",
        kind: Kind::Gauge,
        unit: Unit::Count,
        outcomes: &[],
        description: "sampled: messages that are not due yet",
    },
    Metric {
        name: "leaseline_overdue_messages",
        kind: Kind::Gauge,
        unit: Unit::Count,
        outcomes: &[],
        description: "sampled: leases and delays that are over and that no claim has met",
    },
    Metric {
        name: "leaseline_oldest_overdue_seconds",
        kind: Kind::Gauge,
        unit: Unit::Seconds,
        outcomes: &[],
        description: "sampled: how long the oldest of them has been over; 0 for none",
    },
    Metric {
        name: "leaseline_next_lease_end_seconds",
        kind: Kind::Gauge,
        unit: Unit::Seconds,
        outcomes: &[],
        description: "sampled: until the first running lease ends; 0 for none",
    },
    Metric {
        name: "leaseline_last_lease_end_seconds",
        kind: Kind::Gauge,
        unit: Unit::Seconds,
        outcomes: &[],
        description: "sampled: until the last running lease ends; 0 for none",
    },
    Metric {
        name: "leaseline_dead_letters",
        kind: Kind::Gauge,
        unit: Unit::Count,
        outcomes: &[],
        description: "sampled: payloads in the dead-letter list",
    },
    Metric {
        name: "leaseline_completed_payloads",
        kind: Kind::Gauge,
        unit: Unit::Count,
        outcomes: &[],
        description: "sampled: payloads in the completed log",
    },
    Metric {
        name: "leaseline_failed_payloads",
        kind: Kind::Gauge,
        unit: Unit::Count,
        outcomes: &[],
        description: "sampled: payloads in the failed log",
    },
];

/// Tells the recorder what they are.
pub(super) fn describe() {
    for metric in METRICS {
        let (name, unit, description) = (metric.name, metric.unit, metric.description);
        match metric.kind {
            Kind::Counter => describe_counter!(name, unit, description),
            Kind::Gauge => describe_gauge!(name, unit, description),
            Kind::Histogram => describe_histogram!(name, unit, description),
        }
    }
}
