//! Workers of a fleet: processes of the original, and tasks of ours. Some are killed at work, each is
//! replaced at once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use leaseline::Queue;
use leaseline::config::{Config, Log};
use leaseline::message::{ReleaseRequest, SettleRequest, Settlement};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::peer::Library;
use crate::process;
use crate::stage::Stage;
use crate::work::Fate;

/// Processes for each version of the original, and as many tasks of ours.
const WORKERS: usize = 2;

/// Consumers of a process, and messages that one of ours holds at once.
pub(crate) const HELD: usize = 2;

/// How long a handler takes, so that there is work for everybody.
pub(crate) const PACE: Duration = Duration::from_millis(20);

/// Longer than a lease.
pub(crate) const STALL: Duration = Duration::from_millis(1_400);

pub(crate) const LEASE_SECONDS: u64 = 1;

pub(crate) const MAX_DELIVERIES: u32 = 3;

/// How long one of ours waits before it looks whether it shall stop.
const WAIT: Duration = Duration::from_millis(200);

const RETURN_MS: u64 = 300;

const LIVES_MS: [u64; 2] = [300, 450];

/// How a fleet works.
#[derive(Clone, Copy)]
pub(crate) struct Shift {
    /// With leases and a limit of deliveries, or without both.
    pub(crate) leased: bool,
    /// Nothing kills and nothing stalls.
    pub(crate) spared: bool,
}

impl Shift {
    /// Settings of ours.
    pub(crate) fn configure(self, config: &mut Config) {
        config.completed = Log::Unbounded;
        config.failed = Log::Unbounded;
        config.visibility_timeout_ms = self.leased.then_some(LEASE_SECONDS * 1_000);
        config.max_delivery_count = self.leased.then_some(MAX_DELIVERIES);
    }

    pub(crate) fn held(self) -> usize {
        if self.leased { HELD } else { 1 }
    }

    /// How long the lives of a worker are that end by chance, counted from when there is work; the
    /// others end by a message, or not.
    fn lives(self, worker: usize) -> impl Iterator<Item = Duration> {
        let lives: &[u64] = if self.spared { &[] } else { &LIVES_MS };
        lives
            .iter()
            .map(move |life| Duration::from_millis(life + 70 * worker as u64))
    }
}

/// What workers did.
#[derive(Default)]
pub(crate) struct Tally {
    /// Payloads that handlers of ours and of theirs were given.
    pub(crate) by_us: BTreeSet<String>,
    pub(crate) by_them: BTreeSet<String>,
    /// Processes of theirs and tasks of ours that were killed.
    pub(crate) killed: usize,
}

/// What workers are told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// There is nothing to do yet.
    Wait,
    Work,
    Stop,
}

/// Workers at work.
pub(crate) struct Crew {
    call: watch::Sender<Call>,
    workers: JoinSet<()>,
    book: Arc<Book>,
}

/// Where workers write what they do.
#[derive(Default)]
pub(crate) struct Book(Mutex<Tally>);

impl Book {
    pub(crate) fn write(&self, entry: impl FnOnce(&mut Tally)) {
        entry(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Crew {
    /// Starts them and waits until all are ready.
    pub(crate) async fn start(stage: &Arc<Stage>, libraries: &[Library], shift: Shift) -> Self {
        let mut crew = Self {
            call: watch::Sender::new(Call::Wait),
            workers: JoinSet::new(),
            book: Arc::default(),
        };
        let (ready, mut are_ready) = mpsc::unbounded_channel();
        for number in 0..WORKERS {
            for library in libraries {
                let (url, library) = (stage.url(), *library);
                let (call, book) = (crew.call.subscribe(), crew.book.clone());
                let ready = ready.clone();
                crew.workers.spawn_blocking(move || {
                    let lives = shift.lives(number);
                    let start = || process::Worker::start(library, &url, shift, number);
                    process::employ(start, lives, &call, &book, &ready);
                });
            }
            let (stage, ready) = (stage.clone(), ready.clone());
            let (call, book) = (crew.call.subscribe(), crew.book.clone());
            crew.workers.spawn(async move {
                let open = || stage.ours(|config| shift.configure(config));
                // Opening takes long with the component. Those who follow the killed are there.
                let mut queues = Vec::new();
                for _ in 0..=shift.lives(number).count() {
                    queues.push(open().await);
                }
                ready.send(()).expect("the crew is waiting");
                let mut lives = shift.lives(number);
                loop {
                    let queue = match queues.pop() {
                        Some(queue) => queue,
                        None => open().await,
                    };
                    let end = tokio::select! {
                        end = work(&queue, shift, &call, &book) => end,
                        () = end_of(lives.next(), call.clone()) => End::Killed,
                    };
                    if end == End::Stopped {
                        break;
                    }
                    book.write(|tally| tally.killed += 1);
                }
            });
        }
        for _ in 0..WORKERS * (libraries.len() + 1) {
            are_ready.recv().await.expect("a worker that starts");
        }
        crew
    }

    /// Tells them that there is work: their lives are counted from now on.
    pub(crate) fn work(&self) {
        self.call.send_replace(Call::Work);
    }

    /// Lets them finish what they have in hand.
    pub(crate) async fn stop(mut self) -> Tally {
        self.call.send_replace(Call::Stop);
        while let Some(worker) = self.workers.join_next().await {
            worker.expect("a worker that ends well");
        }
        let mut tally = Tally::default();
        self.book.write(|book| std::mem::swap(book, &mut tally));
        tally
    }
}

impl Drop for Crew {
    /// A test that fails leaves no thread behind that would go on for ever.
    fn drop(&mut self) {
        self.call.send_replace(Call::Stop);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Stopped,
    Killed,
}

/// Waits for the end of a life.
async fn end_of(life: Option<Duration>, mut call: watch::Receiver<Call>) {
    let Some(life) = life else {
        return std::future::pending().await;
    };
    let begins = call.wait_for(|call| *call != Call::Wait).await;
    drop(begins.expect("the crew is there"));
    tokio::time::sleep(life).await;
}

/// One of ours. Dropped or ended by a message, it leaves behind what it holds.
async fn work(queue: &Queue, shift: Shift, call: &watch::Receiver<Call>, book: &Book) -> End {
    let mut seen = BTreeSet::new();
    let held = u32::try_from(shift.held()).expect("a few");
    while *call.borrow() != Call::Stop {
        let claimed = queue.claim(held, WAIT).await.expect("the claim succeeds");
        for delivery in claimed {
            let payload = delivery.payload.expect("a payload");
            let payload = String::from_utf8(payload).expect("text");
            book.write(|tally| {
                tally.by_us.insert(payload.clone());
            });
            tokio::time::sleep(PACE).await;
            let settlement = match Fate::of(&payload) {
                Fate::Kills if !shift.spared => return End::Killed,
                Fate::Returns if delivery.delivery_count == 1 => {
                    let request = ReleaseRequest {
                        lease: delivery.lease,
                        delay_ms: RETURN_MS,
                    };
                    // Stale if someone else has it meanwhile.
                    let released = queue.release(vec![request]).await.remove(0);
                    released.expect("the release succeeds");
                    continue;
                }
                Fate::Fails => Settlement::Fail,
                fate => {
                    let stalls = fate == Fate::Stalls && !shift.spared;
                    if stalls && seen.insert(payload) {
                        tokio::time::sleep(STALL).await;
                    }
                    Settlement::Ack
                }
            };
            let request = SettleRequest {
                lease: delivery.lease,
                settlement,
                reason: None,
            };
            // Done, or stale as a release.
            let settled = queue.settle(vec![request]).await.remove(0);
            settled.expect("the settlement succeeds");
        }
    }
    End::Stopped
}
