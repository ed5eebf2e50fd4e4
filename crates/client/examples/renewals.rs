//! Many leases on one renewal worker: memory for each lease, cost of a renewal, how late renewals
//! are, and how many requests they take alone and together.
//!
//! `cargo run -p leaseline --example renewals -- redis://127.0.0.1:6379 [LEASES] [SECONDS] [INTERVAL]`

use std::sync::Arc;
use std::time::{Duration, Instant};

use leaseline::capability::{Redis, Value};
use leaseline::message::{Lease, RenewOutcome};
use leaseline::{Connection, Engine, Error, Queue, Retry};
use leaseline_renewal::{
    Counts, Extend, Failure, LeaseRenewal, Outcome, Renewer, Settings, Terms, Worker,
};

/// As many as one call of the script takes, and as consumers put into one.
const TOGETHER: usize = 256;

struct Leases {
    queue: Queue,
    batch: usize,
}

fn outcome(renewed: Result<RenewOutcome, Error>) -> Outcome {
    match renewed {
        Ok(RenewOutcome::Renewed(_)) => Ok(()),
        Ok(RenewOutcome::Stale) => Err(Failure::Refused),
        Err(error) if error.retry == Retry::No => Err(Failure::Refused),
        Err(_) => Err(Failure::Transient),
    }
}

impl Extend for Leases {
    type Lease = Lease;

    async fn extend(&self, lease: &Lease, _: Duration) -> Outcome {
        let renewed = self.queue.renew(vec![lease.clone()]).await.pop();
        renewed.map_or(Err(Failure::Unexpected), outcome)
    }

    async fn extend_batch(&self, leases: &[(Arc<Lease>, Duration)]) -> Vec<Outcome> {
        let leases = leases.iter().map(|(lease, _)| (**lease).clone()).collect();
        let renewed = self.queue.renew(leases).await;
        renewed.into_iter().map(outcome).collect()
    }

    fn max_batch(&self) -> usize {
        self.batch
    }
}

/// Resident bytes, and microseconds of processor time.
fn used() -> (u64, u64) {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(0_u64);
    let pages = number(read("/proc/self/statm").split(' ').nth(1));
    let stat = read("/proc/self/stat");
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
    let ticks = number(fields.get(11).copied()) + number(fields.get(12).copied());
    (pages * 4096, ticks * 10_000)
}

/// How many scripts the server has run.
async fn scripts(server: &Connection) -> u64 {
    let info = server.execute(&[b"INFO", b"commandstats"], 5_000).await;
    let text = match info.as_deref() {
        Ok([Value::Bytes(text)]) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    let calls = text.split("cmdstat_evalsha:calls=").nth(1);
    let calls = calls.and_then(|calls| calls.split(',').next()?.parse().ok());
    calls.unwrap_or(0)
}

struct Measure {
    queue: Queue,
    server: Connection,
    seconds: u64,
    interval: Duration,
}

/// Renewals for each script that the server ran.
async fn measure(measure: &Measure, leases: Vec<Lease>, batch: usize) -> Option<f64> {
    let Measure {
        queue,
        server,
        seconds,
        interval,
    } = measure;
    let worker = Worker::new(Settings::default()).ok()?;
    let queue = queue.clone();
    let renewer = Renewer::with(worker.clone(), Leases { queue, batch });
    let terms = Terms::exactly(Duration::from_secs(300)).every(*interval);
    let terms = if batch > 1 {
        terms.early(*interval / 10)
    } else {
        terms
    };
    let count = leases.len() as u64;
    let before = used();
    let mut renewals: Vec<LeaseRenewal<Leases>> = Vec::with_capacity(leases.len());
    // Over one interval, as claims would come.
    let pause = *interval / 100;
    for part in leases.chunks(leases.len().div_ceil(100)) {
        for lease in part {
            let renewal = renewer.renewal(lease.clone(), terms.clone());
            renewal.start().await.ok()?;
            renewals.push(renewal);
        }
        tokio::time::sleep(pause).await;
    }
    let memory = used().0.saturating_sub(before.0) / count;
    let (begun, cost, before) = (worker.metrics(), used().1, scripts(server).await);
    tokio::time::sleep(Duration::from_secs(*seconds)).await;
    let (metrics, scripts) = (worker.metrics(), scripts(server).await - before);
    let renewed = metrics.counts.extended - begun.counts.extended;
    let requests = metrics.requests - begun.requests;
    let Counts { active, .. } = metrics.counts;
    println!(
        "at most {batch} leases in a request: {active} active, {memory} bytes each with their handles; \
         {renewed} renewals in {requests} requests and {scripts} script calls, {:.1} us of processor time each; \
         begun at most {} ms late, p50 within {} ms, p99 within {} ms; refused {}, failed {}",
        (used().1 - cost) as f64 / renewed.max(1) as f64,
        metrics.counts.max_lag_ms,
        metrics.counts.lag_p50_ms(),
        metrics.counts.lag_p99_ms(),
        metrics.counts.refused,
        metrics.counts.transient + metrics.counts.unexpected,
    );
    Some(renewed as f64 / scripts.max(1) as f64)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next();
    let url = url.unwrap_or_else(|| "redis://127.0.0.1:6379".into());
    let mut numbers = arguments.map(|text| text.parse().ok());
    let count: u64 = numbers.next().flatten().unwrap_or(100_000);
    let seconds: u64 = numbers.next().flatten().unwrap_or(30);
    let interval = Duration::from_secs(numbers.next().flatten().unwrap_or(10));
    let server = Connection::open(&url).await?;
    let queue = Queue::builder(format!("renewals-{}", std::process::id()))
        .redis(url)
        .engine(Engine::Native)
        .open()
        .await?;
    let began = Instant::now();
    let mut leases = Vec::new();
    while (leases.len() as u64) < count {
        let messages = (0..1_000).map(|n| format!("{} {n}", leases.len()));
        let published = queue.publish_all(
            messages
                .map(|text| leaseline::Message::from(text).into())
                .collect(),
        );
        drop(published.await);
        while let claimed = queue.claim(100, Duration::ZERO).await?
            && !claimed.is_empty()
        {
            leases.extend(claimed.into_iter().map(|delivery| delivery.lease));
        }
    }
    let build = if cfg!(debug_assertions) {
        "a development"
    } else {
        "a release"
    };
    println!(
        "{} leases claimed in {:.1?}, by {build} build",
        leases.len(),
        began.elapsed()
    );
    let what = Measure {
        queue,
        server,
        seconds,
        interval,
    };
    let alone = measure(&what, leases.clone(), 1).await;
    let together = measure(&what, leases, TOGETHER).await;
    if let (Some(alone), Some(together)) = (alone, together) {
        println!("{:.0} times fewer round trips together", together / alone);
    }
    Ok(())
}
