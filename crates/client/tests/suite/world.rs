//! A server with a queue on it, for each combination of engine and server.

use std::time::Duration;

use leaseline::capability::{Redis, Value};
use leaseline::embedded::Embedded;
use leaseline::message::{
    Delivery, Lease, Outgoing, ReleaseOutcome, ReleaseRequest, SettleOutcome, SettleRequest,
    Settlement, Stats,
};
use leaseline::{Connection, Engine, Error, Queue};
use leaseline_redis::Connector;
use leaseline_redis::testing::RedisServer;

/// Which Redis a test runs against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Real,
    Embedded,
}

/// A server of its own, and the engine under test.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) connection: Connection,
    place: Place,
}

enum Place {
    Real(RedisServer),
    Embedded(Embedded),
}

impl World {
    pub(crate) async fn new(engine: Engine, kind: Kind) -> Self {
        let (place, connection) = match kind {
            Kind::Embedded => {
                let model = Embedded::new();
                (Place::Embedded(model.clone()), model.into())
            }
            Kind::Real => {
                let server = RedisServer::start();
                let connection = Connection::open(&server.url()).await.unwrap();
                (Place::Real(server), connection)
            }
        };
        Self {
            engine,
            connection,
            place,
        }
    }

    /// Makes connections on which commands may block.
    pub(crate) fn dedicated(&self) -> impl Fn() -> Connection + Send + Sync + 'static {
        enum Source {
            Real(Connector),
            Embedded(Embedded),
        }
        let source = match &self.place {
            Place::Real(server) => Source::Real(Connector::new(&server.url()).unwrap()),
            Place::Embedded(model) => Source::Embedded(model.clone()),
        };
        move || match &source {
            Source::Real(connector) => Connection::new(connector.clone().dedicated("waiter")),
            Source::Embedded(model) => Connection::new(model.dedicated()),
        }
    }

    /// The queue `q`, changed by `change`.
    pub(crate) async fn queue(&self, change: impl FnOnce(&mut leaseline::Config)) -> Queue {
        self.try_queue(change).await.unwrap()
    }

    pub(crate) async fn try_queue(
        &self,
        change: impl FnOnce(&mut leaseline::Config),
    ) -> Result<Queue, Error> {
        Queue::builder("q")
            .connection(self.connection.clone())
            .engine(self.engine)
            .configure(change)
            .open()
            .await
    }

    /// A raw command.
    pub(crate) async fn redis(&self, argv: &[&str]) -> Vec<Value> {
        let argv: Vec<&[u8]> = argv.iter().map(|argument| argument.as_bytes()).collect();
        self.connection
            .execute(&argv, 5_000)
            .await
            .unwrap_or_else(|error| panic!("{argv:?}: {error}"))
    }

    /// The names of all keys, sorted.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self
            .redis(&["KEYS", "*"])
            .await
            .into_iter()
            .map(text)
            .collect();
        keys.sort();
        keys
    }

    /// A list, head first.
    pub(crate) async fn list(&self, key: &str) -> Vec<String> {
        self.redis(&["LRANGE", key, "0", "-1"])
            .await
            .into_iter()
            .map(text)
            .collect()
    }

    /// The server's time in milliseconds.
    pub(crate) async fn now_ms(&self) -> u64 {
        let time = self.redis(&["TIME"]).await;
        let [seconds, micros] = [0, 1].map(|at| text(time[at].clone()).parse::<u64>().unwrap());
        seconds * 1_000 + micros / 1_000
    }

    /// Lets every lease of the queue expire, by the score and not by the clock.
    pub(crate) async fn expire_leases(&self) {
        for stored in self
            .redis(&["ZRANGE", "q::processing:lease_deadlines", "0", "-1"])
            .await
        {
            let stored = bytes(stored);
            let argv: [&[u8]; 4] = [b"ZADD", b"q::processing:lease_deadlines", b"1", &stored];
            self.connection.execute(&argv, 5_000).await.unwrap();
        }
    }
}

pub(crate) fn bytes(value: Value) -> Vec<u8> {
    match value {
        Value::Bytes(bytes) => bytes,
        other => panic!("{other:?} is not a string"),
    }
}

pub(crate) fn text(value: Value) -> String {
    String::from_utf8_lossy(&bytes(value)).into_owned()
}

pub(crate) fn outgoing(payload: &str) -> Outgoing {
    Outgoing {
        payload: payload.into(),
        ..Outgoing::default()
    }
}

pub(crate) fn keyed(payload: &str, key: &str) -> Outgoing {
    Outgoing {
        payload: payload.into(),
        deduplication_key: Some(key.into()),
        ..Outgoing::default()
    }
}

/// Publishes, and expects every message to be accepted.
pub(crate) async fn publish(queue: &Queue, payloads: &[&str]) {
    for reply in queue
        .publish_all(payloads.iter().map(|payload| outgoing(payload)).collect())
        .await
    {
        reply.outcome.unwrap();
    }
}

/// Claims at most `max` without waiting.
pub(crate) async fn claim(queue: &Queue, max: u32) -> Vec<Delivery> {
    queue.claim(max, Duration::ZERO).await.unwrap()
}

/// Claims one message, which must be there.
pub(crate) async fn claim_one(queue: &Queue) -> Delivery {
    claim(queue, 1).await.pop().expect("a message to claim")
}

pub(crate) fn payload(delivery: &Delivery) -> &str {
    std::str::from_utf8(delivery.payload.as_ref().unwrap()).unwrap()
}

pub(crate) fn payloads(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(payload).collect()
}

pub(crate) fn token(delivery: &Delivery) -> u64 {
    delivery
        .lease
        .token
        .as_ref()
        .expect("a token")
        .parse()
        .unwrap()
}

pub(crate) async fn settle(
    queue: &Queue,
    lease: &Lease,
    settlement: Settlement,
) -> Result<SettleOutcome, Error> {
    let request = SettleRequest {
        lease: lease.clone(),
        settlement,
        reason: None,
    };
    queue.settle(vec![request]).await.pop().unwrap()
}

pub(crate) async fn ack(queue: &Queue, delivery: &Delivery) -> SettleOutcome {
    settle(queue, &delivery.lease, Settlement::Ack)
        .await
        .unwrap()
}

pub(crate) async fn fail(queue: &Queue, delivery: &Delivery) -> SettleOutcome {
    settle(queue, &delivery.lease, Settlement::Fail)
        .await
        .unwrap()
}

/// Releases a message. Gives when it is due, by the server's clock.
pub(crate) async fn release(queue: &Queue, delivery: &Delivery, delay_ms: u64) -> u64 {
    match try_release(queue, &delivery.lease, delay_ms).await {
        Ok(ReleaseOutcome::Released(due_ms)) => due_ms,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn try_release(
    queue: &Queue,
    lease: &Lease,
    delay_ms: u64,
) -> Result<ReleaseOutcome, Error> {
    let request = ReleaseRequest {
        lease: lease.clone(),
        delay_ms,
    };
    queue.release(vec![request]).await.pop().unwrap()
}

/// Statistics without the ends of leases, which follow the clock.
pub(crate) async fn counts(queue: &Queue) -> Stats {
    Stats {
        next_lease_end_ms: None,
        last_lease_end_ms: None,
        ..queue.stats().await.unwrap()
    }
}

/// Claims without leases.
pub(crate) fn without_leases(config: &mut leaseline::Config) {
    config.visibility_timeout_ms = None;
    config.max_delivery_count = None;
}

/// Makes each async function a test for every engine and server.
#[macro_export]
macro_rules! suite {
    ($($(#[$meta:meta])* async fn $name:ident($world:ident: World) $body:block)*) => {$(
        mod $name {
            use super::*;

            async fn body($world: World) $body

            $(#[$meta])*
            #[tokio::test]
            async fn native_real() {
                body(World::new(Engine::Native, Kind::Real).await).await;
            }

            #[tokio::test]
            async fn native_embedded() {
                body(World::new(Engine::Native, Kind::Embedded).await).await;
            }

            #[tokio::test]
            async fn component_real() {
                body(World::new(Engine::Component, Kind::Real).await).await;
            }

            #[tokio::test]
            async fn component_embedded() {
                body(World::new(Engine::Component, Kind::Embedded).await).await;
            }
        }
    )*};
}
