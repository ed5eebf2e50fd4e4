//! A queue on a model server that a test can break.

use std::collections::BTreeMap;
use std::future::{Future, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use leaseline_core::capability::{
    Clock, Entropy, PipelineReply, Redis, RedisError, Reply, ServerError, Value,
};
use leaseline_core::message::{
    Delivery, Outgoing, PublishOutcome, ReleaseOutcome, ReleaseRequest, SettleOutcome,
    SettleRequest, Settlement,
};
use leaseline_core::{Config, Error, Queue, script};
use leaseline_redis_model::{Clock as ModelClock, Content, Options, Profile, Server};

use crate::instead;

/// The model as a capability. Every future is ready.
#[derive(Clone)]
pub(crate) struct Model {
    server: Arc<Mutex<Server>>,
    /// The hash of what runs, by the hash that is asked for.
    loaded: Arc<BTreeMap<&'static str, Vec<u8>>>,
    loses_reply: Arc<AtomicBool>,
}

impl Model {
    pub(crate) fn new(profile: Profile) -> Self {
        let clock = ModelClock::Virtual(1_700_000_000_000_000);
        let mut server = Server::new(Options { profile, clock });
        let mut loaded = BTreeMap::new();
        for script in script::ALL {
            let text = instead::text(script).as_bytes();
            match server.execute(&[b"SCRIPT", b"LOAD", text]) {
                leaseline_redis_model::Reply::Bulk(sha) => loaded.insert(script.sha1, sha),
                other => panic!("{}: {other:?}", script.name),
            };
        }
        Self {
            server: Arc::new(Mutex::new(server)),
            loaded: Arc::new(loaded),
            loses_reply: Arc::default(),
        }
    }

    /// The reply to the next single command is lost; the command runs.
    pub(crate) fn lose_next_reply(&self) {
        self.loses_reply.store(true, Ordering::Relaxed);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap()
    }

    fn run(&self, argv: &[&[u8]]) -> Result<Vec<Value>, ServerError> {
        let mut values = Vec::new();
        let mut argv = argv.to_vec();
        if argv[0] == b"EVALSHA" {
            let asked = std::str::from_utf8(argv[1]).unwrap();
            argv[1] = self.loaded.get(asked).unwrap();
        }
        match self.lock().execute(&argv) {
            leaseline_redis_model::Reply::Error(line) => {
                return Err(ServerError::from_line(&String::from_utf8_lossy(&line)));
            }
            reply => flatten(reply, &mut values),
        }
        Ok(values)
    }
}

fn flatten(reply: leaseline_redis_model::Reply, values: &mut Vec<Value>) {
    use leaseline_redis_model::Reply as R;
    match reply {
        R::Nil | R::NilArray => values.push(Value::Nil),
        R::Integer(number) => values.push(Value::Int(number)),
        R::Status(text) => {
            values.push(Value::Status(String::from_utf8_lossy(&text).into_owned()));
        }
        R::Bulk(bytes) => values.push(Value::Bytes(bytes)),
        R::Array(items) => items.into_iter().for_each(|item| flatten(item, values)),
        other => panic!("not a reply of our scripts: {other:?}"),
    }
}

impl Redis for Model {
    fn execute(&self, argv: &[&[u8]], _: u32) -> impl Future<Output = Reply> + Send {
        let reply = self.run(argv).map_err(RedisError::Server);
        if self.loses_reply.swap(false, Ordering::Relaxed) {
            return ready(Err(RedisError::Unknown("the reply was lost".into())));
        }
        ready(reply)
    }

    fn pipeline(
        &self,
        commands: &[&[&[u8]]],
        _: u32,
    ) -> impl Future<Output = PipelineReply> + Send {
        ready(Ok(commands.iter().map(|argv| self.run(argv)).collect()))
    }
}

/// A clock that stands still, and ids that count.
#[derive(Clone, Default)]
pub(crate) struct Still(Arc<AtomicU64>);

impl Clock for Still {
    fn now_ms(&self) -> u64 {
        0
    }

    fn sleep_ms(&self, _: u64) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

impl Entropy for Still {
    fn fill(&self, bytes: &mut [u8]) {
        let next = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        for (byte, next) in bytes.iter_mut().zip(next.into_iter().cycle()) {
            *byte = next;
        }
    }
}

pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the model is always ready"),
    }
}

/// A queue `q` on a model, and what a test knows about its messages.
pub(crate) struct World {
    pub(crate) model: Model,
    pub(crate) queue: Queue<Model, Still, Still>,
    pub(crate) claimed: Vec<Delivery>,
}

impl World {
    pub(crate) fn new(model: &Model, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new("q");
        config.max_delivery_count = Some(2);
        config.retry_budget_ms = 0;
        change(&mut config);
        let still = Still::default();
        let queue = Queue::new(config, model.clone(), still.clone(), still).unwrap();
        Self {
            model: model.clone(),
            queue,
            claimed: Vec::new(),
        }
    }

    pub(crate) fn publish(&mut self, payload: &str) -> Result<PublishOutcome, Error> {
        self.publish_message(payload, None, 0)
    }

    pub(crate) fn publish_keyed(
        &mut self,
        payload: &str,
        key: &str,
    ) -> Result<PublishOutcome, Error> {
        self.publish_message(payload, Some(key), 0)
    }

    pub(crate) fn publish_message(
        &mut self,
        payload: &str,
        key: Option<&str>,
        delay_ms: u64,
    ) -> Result<PublishOutcome, Error> {
        let message = Outgoing {
            payload: payload.into(),
            deduplication_key: key.map(Into::into),
            delay_ms,
        };
        now(self.queue.publish(&[message])).remove(0).outcome
    }

    /// Claims without waiting and keeps what it gets.
    pub(crate) fn claim(&mut self, max: u32) -> Result<usize, Error> {
        let claimed = now(self.queue.claim(max, 0))?;
        let count = claimed.len();
        self.claimed.extend(claimed);
        Ok(count)
    }

    pub(crate) fn settle(
        &mut self,
        at: usize,
        settlement: Settlement,
    ) -> Result<SettleOutcome, Error> {
        let request = SettleRequest {
            lease: self.claimed[at].lease.clone(),
            settlement,
            reason: None,
        };
        now(self.queue.settle(&[request])).remove(0)
    }

    pub(crate) fn release(&mut self, at: usize, delay_ms: u64) -> Result<ReleaseOutcome, Error> {
        let request = ReleaseRequest {
            lease: self.claimed[at].lease.clone(),
            delay_ms,
        };
        now(self.queue.release(&[request])).remove(0)
    }

    /// Publishes, and expects every message to be accepted.
    pub(crate) fn publish_all(&mut self, payloads: &[&str]) {
        for payload in payloads {
            self.publish(payload).unwrap();
        }
    }

    /// Lets every lease expire.
    pub(crate) fn expire(&self) {
        let scores = match self
            .model
            .lock()
            .dump()
            .remove(b"q::processing:lease_deadlines".as_slice())
        {
            Some(entry) => entry.content,
            None => return,
        };
        if let Content::SortedSet(members) = scores {
            for (member, _) in members {
                let argv: [&[u8]; 4] = [b"ZADD", b"q::processing:lease_deadlines", b"1", &member];
                self.model.lock().execute(&argv);
            }
        }
    }

    /// The payloads of a list, decoded where they are enveloped.
    pub(crate) fn list(&self, word: &str) -> Vec<String> {
        let key = format!("q::{word}");
        let entry = self.model.lock().dump().remove(key.as_bytes());
        let Some(Content::List(items)) = entry.map(|entry| entry.content) else {
            return Vec::new();
        };
        items.into_iter().map(|item| payload(&item)).collect()
    }

    /// The current token of a message.
    pub(crate) fn token_of(&self, message: &str) -> Option<String> {
        let dump = self.model.lock().dump();
        let Content::Hash(tokens) = &dump.get(b"q::processing:lease_tokens".as_slice())?.content
        else {
            return None;
        };
        let (_, token) = tokens
            .iter()
            .find(|(stored, _)| payload(stored) == message)?;
        Some(String::from_utf8(token.clone()).unwrap())
    }

    /// When the lease or the delay of a message is over.
    pub(crate) fn deadline_of(&self, message: &str) -> Option<u64> {
        let dump = self.model.lock().dump();
        let Content::SortedSet(deadlines) = &dump
            .get(b"q::processing:lease_deadlines".as_slice())?
            .content
        else {
            return None;
        };
        let (_, deadline) = deadlines
            .iter()
            .find(|(stored, _)| payload(stored) == message)?;
        Some(*deadline as u64)
    }

    /// Lets time pass on the server.
    pub(crate) fn pass(&self, ms: u64) {
        self.model.lock().advance(Duration::from_millis(ms));
    }

    /// Elements of processing that have no deadline or no token: nothing would bring them back.
    pub(crate) fn stuck(&self) -> Vec<String> {
        let dump = self.model.lock().dump();
        let content = |key: &str| dump.get(key.as_bytes()).map(|entry| &entry.content);
        let Some(Content::List(items)) = content("q::processing") else {
            return Vec::new();
        };
        let leased = |item: &Vec<u8>| {
            matches!(content("q::processing:lease_deadlines"),
                Some(Content::SortedSet(members)) if members.iter().any(|(member, _)| member == item))
                && matches!(content("q::processing:lease_tokens"),
                    Some(Content::Hash(tokens)) if tokens.contains_key(item))
        };
        items
            .iter()
            .filter(|item| !leased(item))
            .map(|item| payload(item))
            .collect()
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.model
            .lock()
            .dump()
            .into_keys()
            .map(|key| String::from_utf8(key).unwrap())
            .collect()
    }
}

/// What comes before the last `"` pair of an envelope; enough for the payloads of these tests.
fn payload(stored: &[u8]) -> String {
    let text = String::from_utf8_lossy(stored).into_owned();
    match text.rsplit_once("\"payload\":\"") {
        Some((_, rest)) => rest.trim_end_matches("\"}").to_string(),
        None => text,
    }
}
