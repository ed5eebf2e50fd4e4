//! A server that answers as told and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseline_renewal::{Extend, Failure, LeaseRenewal, Outcome, Renewer, Settings, Terms};
use tokio::time::Instant;

/// What the server does with one request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Now(Outcome),
    After(u64, Outcome),
    Never,
    Panic,
}

pub(crate) struct Server {
    epoch: Instant,
    answers: Mutex<VecDeque<Answer>>,
    /// When a request began, for which lease, for how many seconds.
    pub(crate) begun: Mutex<Vec<(u64, &'static str, u64)>>,
    /// What took effect, in order: for which lease, for how many seconds.
    pub(crate) applied: Mutex<Vec<(&'static str, u64)>>,
    pub(crate) ended: AtomicUsize,
    pub(crate) running: AtomicUsize,
    pub(crate) requests: AtomicUsize,
    pub(crate) batch: usize,
    pub(crate) crash: AtomicBool,
}

pub(crate) struct Fake(pub(crate) Arc<Server>);

struct Running<'a>(&'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Extend for Fake {
    type Lease = &'static str;

    async fn extend(&self, lease: &&'static str, time: Duration) -> Outcome {
        let server = &self.0;
        server.requests.fetch_add(1, Ordering::SeqCst);
        server.begin(lease, time);
        server.running.fetch_add(1, Ordering::SeqCst);
        let _running = Running(&server.running);
        let answer = server.answers.lock().unwrap().pop_front();
        let outcome = match answer.unwrap_or(Answer::Now(Ok(()))) {
            Answer::Now(outcome) => outcome,
            Answer::After(ms, outcome) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                outcome
            }
            Answer::Never => std::future::pending().await,
            Answer::Panic => panic!("on purpose"),
        };
        server.ended.fetch_add(1, Ordering::SeqCst);
        server
            .applied
            .lock()
            .unwrap()
            .push((*lease, time.as_secs()));
        outcome
    }

    async fn extend_batch(&self, leases: &[(Arc<&'static str>, Duration)]) -> Vec<Outcome> {
        self.0.requests.fetch_add(1, Ordering::SeqCst);
        for (lease, time) in leases {
            self.0.begin(lease, *time);
        }
        vec![Ok(()); leases.len()]
    }

    fn max_batch(&self) -> usize {
        assert!(
            !self.0.crash.swap(false, Ordering::SeqCst),
            "a crash on purpose"
        );
        self.0.batch
    }
}

impl Server {
    fn begin(&self, lease: &'static str, time: Duration) {
        let now = u64::try_from(self.epoch.elapsed().as_millis()).unwrap();
        self.begun
            .lock()
            .unwrap()
            .push((now, lease, time.as_secs()));
    }

    /// Answers the next requests so.
    pub(crate) fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.answers.lock().unwrap().extend(answers);
    }

    /// When requests began.
    pub(crate) fn times(&self) -> Vec<u64> {
        self.begun
            .lock()
            .unwrap()
            .iter()
            .map(|begun| begun.0)
            .collect()
    }

    pub(crate) fn times_of(&self, name: &str) -> Vec<u64> {
        let begun = self.begun.lock().unwrap();
        begun
            .iter()
            .filter(|begun| begun.1 == name)
            .map(|begun| begun.0)
            .collect()
    }
}

pub(crate) struct World {
    pub(crate) server: Arc<Server>,
    pub(crate) renewer: Renewer<Fake>,
}

impl World {
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::with(Settings::default(), 1, answers)
    }

    pub(crate) fn with(
        settings: Settings,
        batch: usize,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Self {
        let server = Arc::new(Server {
            epoch: Instant::now(),
            answers: Mutex::new(answers.into_iter().collect()),
            begun: Mutex::default(),
            applied: Mutex::default(),
            ended: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            batch,
            crash: AtomicBool::new(false),
        });
        let worker = crate::table::worker(settings);
        let renewer = Renewer::with(worker, Fake(Arc::clone(&server)));
        Self { server, renewer }
    }

    pub(crate) fn stop_timeouts(&self) -> u64 {
        self.renewer.worker().metrics().counts.stop_timeouts
    }

    /// Of 30 seconds, renewed every ten.
    pub(crate) fn lease(&self, name: &'static str) -> LeaseRenewal<Fake> {
        self.renewer.renewal(name, terms())
    }
}

pub(crate) fn terms() -> Terms {
    Terms::of_seconds(Some(30.0)).unwrap()
}

pub(crate) async fn pass(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

pub(crate) const REFUSED: Outcome = Err(Failure::Refused);
pub(crate) const LOST: Outcome = Err(Failure::Connection);

/// In a runtime whose clock moves on when everybody waits.
pub(crate) fn paused<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(work)
}

/// Polls once.
pub(crate) fn at_once<T>(
    future: std::pin::Pin<&mut (impl Future<Output = T> + ?Sized)>,
) -> Option<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}
