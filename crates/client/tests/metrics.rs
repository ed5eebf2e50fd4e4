//! What a queue tells the `metrics` facade: exact counts for a scripted history.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseline::capability::{PipelineReply, Redis, RedisError, Reply, Value};
use leaseline::embedded::Embedded;
use leaseline::message::{Outgoing, ReleaseRequest, SettleOutcome, SettleRequest, Settlement};
use leaseline::metrics::{Kind, METRICS};
use leaseline::{Connection, Engine, ErrorKind, Handled, Queue};
use metrics::{
    Counter, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit, set_default_local_recorder,
};

/// What a series is, its unit and the text about it.
type Description = (Kind, Option<Unit>, String);

/// Keeps all that it is told.
#[derive(Default)]
struct Ledger {
    described: Mutex<BTreeMap<String, Description>>,
    counters: Mutex<BTreeMap<String, Arc<AtomicU64>>>,
    gauges: Mutex<BTreeMap<String, Arc<Level>>>,
    histograms: Mutex<BTreeMap<String, Arc<Values>>>,
}

#[derive(Default)]
struct Level(Mutex<f64>);

impl GaugeFn for Level {
    fn increment(&self, value: f64) {
        *self.0.lock().unwrap() += value;
    }

    fn decrement(&self, value: f64) {
        *self.0.lock().unwrap() -= value;
    }

    fn set(&self, value: f64) {
        *self.0.lock().unwrap() = value;
    }
}

#[derive(Default)]
struct Values(Mutex<Vec<f64>>);

impl HistogramFn for Values {
    fn record(&self, value: f64) {
        self.0.lock().unwrap().push(value);
    }
}

/// `name{label=value,…}`.
fn series(key: &Key) -> String {
    let labels: Vec<_> = key
        .labels()
        .map(|label| format!("{}={}", label.key(), label.value()))
        .collect();
    format!("{}{{{}}}", key.name(), labels.join(","))
}

impl Ledger {
    fn describe(&self, kind: Kind, name: KeyName, unit: Option<Unit>, text: SharedString) {
        let told = (kind, unit, text.into_owned());
        self.described
            .lock()
            .unwrap()
            .insert(name.as_str().to_owned(), told);
    }

    /// The counters above 0.
    fn counts(&self) -> BTreeMap<String, u64> {
        let counters = self.counters.lock().unwrap();
        counters
            .iter()
            .map(|(series, count)| (series.clone(), count.load(Ordering::SeqCst)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    fn gauge(&self, name: &str) -> f64 {
        let gauges = self.gauges.lock().unwrap();
        *gauges[&format!("{name}{{queue=q}}")].0.lock().unwrap()
    }

    /// How often a handler ended so.
    fn handled(&self, outcome: &str) -> usize {
        let series = format!("leaseline_handler_duration_seconds{{queue=q,outcome={outcome}}}");
        let values = Arc::clone(&self.histograms.lock().unwrap()[&series]);
        let values = values.0.lock().unwrap();
        assert!(values.iter().all(|value| (0.0..600.0).contains(value)));
        values.len()
    }
}

impl Recorder for Ledger {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.describe(Kind::Counter, key, unit, description);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.describe(Kind::Gauge, key, unit, description);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.describe(Kind::Histogram, key, unit, description);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let mut counters = self.counters.lock().unwrap();
        Counter::from_arc(Arc::clone(counters.entry(series(key)).or_default()))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        let mut gauges = self.gauges.lock().unwrap();
        Gauge::from_arc(Arc::clone(gauges.entry(series(key)).or_default()))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let mut histograms = self.histograms.lock().unwrap();
        Histogram::from_arc(Arc::clone(histograms.entry(series(key)).or_default()))
    }
}

/// A connection that loses the replies of the next commands.
#[derive(Clone)]
struct Lossy {
    inner: Connection,
    losses: Arc<AtomicI64>,
}

impl Redis for Lossy {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        let reply = self.inner.execute(argv, timeout_ms).await;
        if self.losses.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Err(RedisError::Unknown("lost on purpose".into()));
        }
        reply
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        let replies = self.inner.pipeline(commands, timeout_ms).await;
        if self.losses.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Err(RedisError::Unknown("lost on purpose".into()));
        }
        replies
    }
}

struct Stage {
    ledger: Arc<Ledger>,
    queue: Queue,
    lossy: Lossy,
}

async fn open(engine: Engine, limit: u32) -> Stage {
    let ledger = Arc::new(Ledger::default());
    let lossy = Lossy {
        inner: Embedded::new().into(),
        losses: Arc::default(),
    };
    let recorder = set_default_local_recorder(&*ledger);
    let queue = Queue::builder("q")
        .connection(Connection::new(lossy.clone()))
        .engine(engine)
        .max_delivery_count(Some(limit))
        .metrics()
        .open()
        .await
        .unwrap();
    drop(recorder);
    Stage {
        ledger,
        queue,
        lossy,
    }
}

impl Stage {
    async fn publish(&self, payload: &str, key: Option<&str>) {
        let message = Outgoing {
            payload: payload.into(),
            deduplication_key: key.map(Into::into),
            ..Outgoing::default()
        };
        self.queue.publish_all(vec![message]).await[0]
            .outcome
            .clone()
            .unwrap();
    }

    async fn claim(&self) -> Option<leaseline::message::Delivery> {
        self.queue.claim(1, Duration::ZERO).await.unwrap().pop()
    }

    async fn settle(
        &self,
        delivery: &leaseline::message::Delivery,
        settlement: Settlement,
    ) -> Result<SettleOutcome, leaseline::Error> {
        let request = SettleRequest {
            lease: delivery.lease.clone(),
            settlement,
            reason: None,
        };
        self.queue.settle(vec![request]).await.remove(0)
    }

    async fn expire_leases(&self) {
        let deadlines = b"q::processing:lease_deadlines".as_slice();
        let inner = &self.lossy.inner;
        for stored in inner
            .execute(&[b"ZRANGE", deadlines, b"0", b"-1"], 5_000)
            .await
            .unwrap()
        {
            let Value::Bytes(stored) = stored else {
                panic!("{stored:?}")
            };
            let argv: [&[u8]; 4] = [b"ZADD", deadlines, b"1", &stored];
            inner.execute(&argv, 5_000).await.unwrap();
        }
    }
}

fn counts(expected: &[(&str, u64)]) -> BTreeMap<String, u64> {
    let key = |series: &str| match series.split_once('/') {
        Some((name, outcome)) => format!("leaseline_{name}_total{{queue=q,outcome={outcome}}}"),
        None => format!("leaseline_{series}_total{{queue=q}}"),
    };
    expected
        .iter()
        .map(|(series, count)| (key(series), *count))
        .collect()
}

async fn a_scripted_history_is_counted_exactly(engine: Engine) {
    let stage = open(engine, 2).await;
    let (ledger, queue) = (&stage.ledger, &stage.queue);
    assert_eq!(ledger.counts(), counts(&[]));

    assert!(stage.claim().await.is_none());
    stage.publish("a", Some("k")).await;
    stage.publish("again", Some("k")).await;
    stage.publish("b", None).await;
    let large = queue.publish(vec![b'x'; 17 << 20]).await;
    assert_eq!(large.unwrap_err().kind, ErrorKind::PayloadTooLarge);

    // Lost twice after the server has seen the script, so that the claim fails and is recovered by the next.
    stage.lossy.losses.store(2, Ordering::SeqCst);
    queue.claim(1, Duration::ZERO).await.unwrap_err();
    let a = stage.claim().await.unwrap();
    assert!(a.replayed);

    // Its lease ends, another takes it, and it acknowledges too late.
    stage.expire_leases().await;
    assert_eq!(
        stage.claim().await.unwrap().payload.as_deref(),
        Ok(b"a".as_slice())
    );
    assert_eq!(
        stage.settle(&a, Settlement::Ack).await,
        Ok(SettleOutcome::Stale)
    );
    queue.renew(vec![a.lease.clone()]).await.remove(0).unwrap();

    // Two claims are the limit.
    stage.expire_leases().await;
    let b = stage.claim().await.unwrap();
    assert_eq!(b.payload.as_deref(), Ok(b"b".as_slice()));
    queue.renew(vec![b.lease.clone()]).await.remove(0).unwrap();
    let request = ReleaseRequest {
        lease: b.lease.clone(),
        delay_ms: 0,
    };
    queue.release(vec![request]).await.remove(0).unwrap();
    let b = stage.claim().await.unwrap();
    assert_eq!(b.delivery_count, 2);
    assert_eq!(
        stage.settle(&b, Settlement::Fail).await,
        Ok(SettleOutcome::Done)
    );
    assert!(stage.claim().await.is_none());
    stage.publish("c", None).await;
    let c = stage.claim().await.unwrap();
    assert_eq!(
        stage.settle(&c, Settlement::Ack).await,
        Ok(SettleOutcome::Done)
    );
    let mut broken = c.lease.clone();
    broken.token = Some("none".into());
    let request = SettleRequest {
        lease: broken,
        settlement: Settlement::Fail,
        reason: None,
    };
    queue.settle(vec![request]).await.remove(0).unwrap_err();

    assert_eq!(
        ledger.counts(),
        counts(&[
            ("publishes/published", 3),
            ("publishes/duplicate", 1),
            ("publishes/failed", 1),
            ("failed_claims", 1),
            ("claim_retries", 1),
            ("claimed", 5),
            ("redelivered", 2),
            // Two leases and the release.
            ("reclaimed", 3),
            ("dead_lettered", 1),
            ("empty_claims", 2),
            ("settlements/acked", 1),
            ("settlements/failed", 1),
            ("settlements/released", 1),
            ("settlements/stale", 1),
            ("settlements/error", 1),
            ("renewals/renewed", 1),
            ("renewals/stale", 1),
        ])
    );
    // The events are there for whoever wants them too, and only once.
    let batch = queue.take_events().await;
    assert!(batch.events.len() >= 20 && batch.dropped == 0, "{batch:?}");
    assert!(queue.take_events().await.events.is_empty());
}

async fn a_large_batch_is_counted_to_the_last(engine: Engine) {
    let stage = open(engine, 10).await;
    let message = || Outgoing {
        payload: "m".into(),
        ..Outgoing::default()
    };
    stage
        .queue
        .publish_all((0..2_500).map(|_| message()).collect())
        .await;
    assert_eq!(
        stage.ledger.counts(),
        counts(&[("publishes/published", 2_500)])
    );
    // As many as are configured are kept, and the others are told as dropped.
    let batch = stage.queue.take_events().await;
    assert_eq!((batch.events.len(), batch.dropped), (1_024, 2_500 - 1_024));
}

async fn handlers_are_timed(engine: Engine) {
    let stage = open(engine, 10).await;
    let (ledger, queue) = (&stage.ledger, &stage.queue);
    for payload in ["ack", "fail", "retry", "leave", "panic"] {
        stage.publish(payload, None).await;
    }
    let seen = Arc::new(Mutex::new(0.0));
    queue
        .consumer()
        .until_empty(true)
        .run({
            let (ledger, seen) = (Arc::clone(ledger), Arc::clone(&seen));
            move |delivery| {
                *seen.lock().unwrap() = ledger.gauge("leaseline_handlers");
                async move {
                    match delivery.payload() {
                        b"ack" => Handled::Ack,
                        b"fail" => Handled::Fail("on purpose".into()),
                        b"retry" if delivery.delivery_count() == 1 => {
                            Handled::RetryAfter(Duration::from_secs(3_600))
                        }
                        b"leave" => Handled::Leave,
                        _ => panic!("on purpose"),
                    }
                }
            }
        })
        .await
        .unwrap();
    for outcome in ["ack", "fail", "retry", "leave", "cut"] {
        assert_eq!(ledger.handled(outcome), 1, "{outcome}");
    }
    assert_eq!(*seen.lock().unwrap(), 1.0);
    assert_eq!(ledger.gauge("leaseline_handlers"), 0.0);
}

async fn a_sampler_sets_the_gauges_until_the_drain(engine: Engine) {
    let stage = open(engine, 10).await;
    let (ledger, queue) = (&stage.ledger, &stage.queue);
    for payload in ["a", "b", "c", "d"] {
        stage.publish(payload, None).await;
    }
    stage.claim().await.unwrap();
    stage.expire_leases().await;
    let later = Outgoing {
        payload: "later".into(),
        delay_ms: 3_600_000,
        ..Outgoing::default()
    };
    queue.publish_all(vec![later]).await;
    let direct = &stage.lossy.inner;
    let argv: [&[u8]; 4] = [b"LPUSH", b"q::dlq", b"x", b"y"];
    direct.execute(&argv, 5_000).await.unwrap();

    let sampler = tokio::spawn(queue.clone().sample_metrics(Duration::from_millis(10)));
    let until = async |name: &str, value: f64| {
        for _ in 0..6_000 {
            if ledger.gauge(name) == value {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{name} is {} and never {value}", ledger.gauge(name));
    };
    until("leaseline_pending_messages", 3.0).await;
    assert_eq!(ledger.gauge("leaseline_in_flight_messages"), 1.0);
    assert_eq!(ledger.gauge("leaseline_delayed_messages"), 1.0);
    assert_eq!(ledger.gauge("leaseline_overdue_messages"), 1.0);
    assert!(ledger.gauge("leaseline_oldest_overdue_seconds") > 1.0);
    assert_eq!(ledger.gauge("leaseline_next_lease_end_seconds"), 0.0);
    assert_eq!(ledger.gauge("leaseline_dead_letters"), 2.0);
    assert_eq!(ledger.gauge("leaseline_oldest_handler_seconds"), 0.0);
    // The overdue one comes back, and is taken.
    stage.claim().await.unwrap();
    until("leaseline_overdue_messages", 0.0).await;
    let (next, last) = (
        ledger.gauge("leaseline_next_lease_end_seconds"),
        ledger.gauge("leaseline_last_lease_end_seconds"),
    );
    assert!(next > 0.0 && next <= 300.0 && next == last, "{next} {last}");

    assert_eq!(queue.drain(Duration::from_secs(60)).await, Ok(true));
    assert_eq!(sampler.await.unwrap(), Ok(()));
    let zero = queue.clone().sample_metrics(Duration::ZERO).await;
    assert_eq!(zero.unwrap_err().kind, ErrorKind::Configuration);
}

macro_rules! for_both_engines {
    ($($name:ident)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn native() {
                super::$name(Engine::Native).await;
            }

            #[tokio::test]
            async fn component() {
                super::$name(Engine::Component).await;
            }
        }
    )*};
}

for_both_engines! {
    a_scripted_history_is_counted_exactly
    a_large_batch_is_counted_to_the_last
    handlers_are_timed
    a_sampler_sets_the_gauges_until_the_drain
}

#[tokio::test]
async fn the_documented_list_is_the_list_that_is_told() {
    let ledger = open(Engine::Native, 2).await.ledger;
    let mut documented = BTreeMap::new();
    let mut announced = BTreeSet::new();
    for line in include_str!("../src/metrics.rs").lines() {
        let Some(row) = line.strip_prefix("//! | `") else {
            continue;
        };
        let cells: Vec<_> = row.trim_end_matches(" |").splitn(5, " | ").collect();
        let name = cells[0].trim_end_matches('`').to_owned();
        let kind = match cells[1] {
            "counter" => Kind::Counter,
            "gauge" => Kind::Gauge,
            "histogram" => Kind::Histogram,
            other => panic!("{other}"),
        };
        let unit = match cells[2] {
            "count" => Unit::Count,
            "seconds" => Unit::Seconds,
            other => panic!("{other}"),
        };
        // What stands in backticks are the outcomes.
        let outcomes: Vec<_> = cells[4].split('`').skip(1).step_by(2).collect();
        match cells[3] {
            "queue" => {
                assert!(outcomes.is_empty(), "{name}");
                announced.insert(format!("{name}{{queue=q}}"));
            }
            "queue, outcome" => announced.extend(
                outcomes
                    .iter()
                    .map(|outcome| format!("{name}{{queue=q,outcome={outcome}}}")),
            ),
            other => panic!("{other}"),
        }
        let metric = METRICS.iter().find(|metric| metric.name == name).unwrap();
        assert_eq!(metric.outcomes, outcomes, "{name}");
        documented.insert(name, (kind, Some(unit), cells[4].replace('`', "")));
    }
    assert_eq!(documented.len(), METRICS.len());
    assert_eq!(*ledger.described.lock().unwrap(), documented);
    let mut told = BTreeSet::new();
    told.extend(ledger.counters.lock().unwrap().keys().cloned());
    told.extend(ledger.gauges.lock().unwrap().keys().cloned());
    told.extend(ledger.histograms.lock().unwrap().keys().cloned());
    assert_eq!(told, announced);
}

#[tokio::test]
async fn a_queue_that_was_not_asked_tells_nothing() {
    let ledger = Ledger::default();
    let recorder = set_default_local_recorder(&ledger);
    let queue = Queue::builder("q")
        .engine(Engine::Native)
        .open()
        .await
        .unwrap();
    queue.publish("a").await.unwrap();
    drop(recorder);
    assert!(ledger.described.lock().unwrap().is_empty());
    let refused = queue.sample_metrics(Duration::from_secs(1)).await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Configuration);
}
