//! A network with faults before a model of Redis, and what went over it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use leaseline::capability::{PipelineReply, Redis, RedisError, Reply, Value};
use leaseline::embedded::Embedded;
use sha1::{Digest, Sha1};
use tokio::time::Instant;

use crate::chance::Chance;

/// When requests meet faults.
pub(crate) struct Weather {
    /// Outages from the beginning on: when each begins, and how long it lasts.
    outages: Vec<(Duration, Duration)>,
    /// Of a thousand requests outside of outages so many meet a fault too.
    showers: u64,
}

impl Weather {
    /// Outages of at most `longest` with some minutes of good weather in between.
    pub(crate) fn gentle(chance: &mut Chance, longest: Duration) -> Self {
        let mut outages = Vec::new();
        let mut at = Duration::ZERO;
        for _ in 0..200 {
            at += Duration::from_secs(60 + chance.below(60));
            let most = longest.as_millis() as u64;
            let long = Duration::from_millis(most / 2 + chance.below(most / 2));
            outages.push((at, long));
            at += long;
        }
        Self {
            outages,
            showers: 0,
        }
    }

    /// Outages of up to two minutes at any time, and faults between them.
    pub(crate) fn wild(chance: &mut Chance) -> Self {
        let mut outages = Vec::new();
        let mut at = Duration::ZERO;
        for _ in 0..60 {
            at += Duration::from_secs(chance.below(180));
            let long = Duration::from_secs(chance.below(120));
            outages.push((at, long));
            at += long;
        }
        Self {
            outages,
            showers: 100,
        }
    }
}

/// What becomes of a request.
#[derive(Clone, Copy)]
enum Fate {
    Answered,
    NotSent,
    /// It is lost on its way, or its answer is; nobody is told.
    Lost {
        runs: bool,
    },
    /// The connection breaks, before the request ran or after it.
    Cut {
        runs: bool,
    },
}

/// A stored message and a token.
type Held = (Vec<u8>, Vec<u8>);

#[derive(Default)]
struct Log {
    renewals: u64,
    faults: u64,
    /// Renewals that met a lease that had ended: anybody could have claimed its message before.
    too_late: u64,
    /// From when on nothing renews a stored message under a token.
    ended: HashMap<Held, (Instant, &'static str)>,
    violation: Option<String>,
}

/// How long after that a renewal may still be sent: a settlement ends when its marker is deleted,
/// which takes a command's timeout at most.
fn grace(how: &str) -> Duration {
    match how {
        "release" => Duration::ZERO,
        _ => Duration::from_millis(5_100),
    }
}

impl Log {
    fn end(&mut self, how: &'static str, stored: &[u8], token: &[u8]) {
        let lease = (stored.to_vec(), token.to_vec());
        self.ended
            .entry(lease)
            .or_insert_with(|| (Instant::now(), how));
    }
}

/// The script of a request, and its arguments without the keys.
fn read<'a>(argv: &'a [&'a [u8]]) -> Option<(&'static str, &'a [&'a [u8]])> {
    let [b"EVALSHA", sha, count, rest @ ..] = argv else {
        return None;
    };
    let script = SCRIPTS.get(*sha)?;
    let keys: usize = std::str::from_utf8(count).ok()?.parse().ok()?;
    Some((script, &rest[keys..]))
}

struct Inner {
    model: Embedded,
    began: Instant,
    moved: Mutex<Duration>,
    weather: Weather,
    chance: Mutex<Chance>,
    log: Mutex<Log>,
}

/// A network. Clones share it.
#[derive(Clone)]
pub(crate) struct Network(Arc<Inner>);

/// Which script a hash is.
static SCRIPTS: LazyLock<HashMap<Vec<u8>, &'static str>> = LazyLock::new(|| {
    [
        (
            "renew",
            include_bytes!("../../../../lua/renew.lua").as_slice(),
        ),
        ("ack", include_bytes!("../../../../lua/remove_lease.lua")),
        ("move", include_bytes!("../../../../lua/move_lease.lua")),
        ("release", include_bytes!("../../../../lua/release.lua")),
    ]
    .map(|(name, text)| (hex::encode(Sha1::digest(text)).into_bytes(), name))
    .into()
});

impl Network {
    pub(crate) fn new(model: Embedded, weather: Weather, seed: u64) -> Self {
        Self(Arc::new(Inner {
            model,
            began: Instant::now(),
            moved: Mutex::default(),
            weather,
            chance: Mutex::new(Chance::new(seed)),
            log: Mutex::default(),
        }))
    }

    /// The model's time is that of the runtime.
    pub(crate) fn catch_up(&self) {
        let mut moved = self.0.moved.lock().unwrap();
        let now = self.0.began.elapsed();
        self.0.model.advance(now.saturating_sub(*moved));
        *moved = now;
    }

    pub(crate) fn renewals(&self) -> u64 {
        self.log().renewals
    }

    pub(crate) fn too_late(&self) -> u64 {
        self.log().too_late
    }

    pub(crate) fn faults(&self) -> u64 {
        self.log().faults
    }

    /// What went over the wire was as it must be.
    pub(crate) fn check(&self, seed: u64) {
        if let Some(violation) = &self.log().violation {
            panic!("seed {seed}: {violation}");
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.log.lock().unwrap()
    }

    /// Looks at a request that is being sent.
    fn sent(&self, argv: &[&[u8]]) {
        let Some((script, arguments)) = read(argv) else {
            return;
        };
        let mut log = self.log();
        match script {
            "renew" => {
                for lease in arguments[1..].chunks_exact(3) {
                    log.renewals += 1;
                    let ended = log.ended.get(&(lease[0].to_vec(), lease[1].to_vec()));
                    if let Some((ended, how)) = ended
                        && ended.elapsed() > grace(how)
                    {
                        let text = format!(
                            "token {} was renewed {:?} after its {how}",
                            String::from_utf8_lossy(lease[1]),
                            ended.elapsed()
                        );
                        log.violation.get_or_insert(text);
                    }
                }
            }
            // It follows a stop that was waited for.
            "release" => log.end("release", arguments[0], arguments[1]),
            _ => {}
        }
    }

    /// Looks at a request that is about to run.
    async fn runs(&self, argv: &[&[u8]]) {
        let Some(("renew", arguments)) = read(argv) else {
            return;
        };
        let model = &self.0.model;
        let number = async |command: &[&[u8]]| {
            let found = model.execute(command, 1_000).await.expect("an answer");
            match found.first() {
                Some(Value::Bytes(digits)) => std::str::from_utf8(digits).ok()?.parse::<f64>().ok(),
                _ => None,
            }
        };
        let now = number(&[b"TIME"]).await.expect("the time") * 1_000.0;
        for lease in arguments[1..].chunks_exact(3) {
            let token = number(&[b"HGET", argv[4], lease[0]]).await;
            let held = token.map(|token| token.to_string().into_bytes()) == Some(lease[1].to_vec());
            let deadline = number(&[b"ZSCORE", argv[3], lease[0]]).await;
            if held && deadline.is_some_and(|deadline| deadline < now) {
                self.log().too_late += 1;
            }
        }
    }

    /// Looks at a request that was answered. A lease is renewed until its settlement is.
    fn answered(&self, argv: &[&[u8]]) {
        match read(argv) {
            Some(("ack", arguments)) => self.log().end("settlement", arguments[0], arguments[1]),
            Some(("move", arguments)) => self.log().end("settlement", arguments[0], arguments[2]),
            _ => {}
        }
    }

    fn fate(&self) -> Fate {
        let now = self.0.began.elapsed();
        let weather = &self.0.weather;
        let mut chance = self.0.chance.lock().unwrap();
        let is_out = |&(at, long): &(Duration, Duration)| at <= now && now < at + long;
        if !weather.outages.iter().any(is_out) && chance.below(1_000) >= weather.showers {
            return Fate::Answered;
        }
        self.log().faults += 1;
        match chance.below(5) {
            0 => Fate::NotSent,
            1 => Fate::Lost { runs: false },
            2 => Fate::Lost { runs: true },
            3 => Fate::Cut { runs: false },
            _ => Fate::Cut { runs: true },
        }
    }

    /// The way of a request. Whether it runs.
    async fn depart(&self, fate: Fate) -> bool {
        if let Fate::NotSent = fate {
            return false;
        }
        tokio::time::sleep(self.way()).await;
        self.catch_up();
        match fate {
            Fate::Lost { runs } | Fate::Cut { runs } => runs,
            Fate::Answered | Fate::NotSent => true,
        }
    }

    /// The way of its answer.
    async fn arrive<T>(
        &self,
        fate: Fate,
        timeout_ms: u32,
        reply: Option<Result<T, RedisError>>,
    ) -> Result<T, RedisError> {
        match (fate, reply) {
            (Fate::Answered, Some(reply)) => {
                tokio::time::sleep(self.way()).await;
                reply
            }
            (Fate::Lost { .. }, _) => {
                tokio::time::sleep(Duration::from_millis(timeout_ms.into())).await;
                Err(RedisError::Timeout)
            }
            (Fate::Cut { .. }, _) => Err(RedisError::Unknown("the connection broke".into())),
            _ => Err(RedisError::NotSent("no network".into())),
        }
    }

    fn way(&self) -> Duration {
        Duration::from_millis(self.0.chance.lock().unwrap().below(20))
    }
}

impl Redis for Network {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.sent(argv);
        let fate = self.fate();
        let mut reply = None;
        if self.depart(fate).await {
            self.runs(argv).await;
            reply = Some(self.0.model.execute(argv, timeout_ms).await);
        }
        let reply = self.arrive(fate, timeout_ms, reply).await;
        if reply.is_ok() {
            self.answered(argv);
        }
        reply
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        for argv in commands {
            self.sent(argv);
        }
        let fate = self.fate();
        let mut reply = None;
        if self.depart(fate).await {
            reply = Some(self.0.model.pipeline(commands, timeout_ms).await);
        }
        let replies = self.arrive(fate, timeout_ms, reply).await;
        for (argv, reply) in commands.iter().zip(replies.iter().flatten()) {
            if reply.is_ok() {
                self.answered(argv);
            }
        }
        replies
    }
}
