//! Bodies for arbitrary bytes, for a fuzzer and for the tests: each must end without a panic, and
//! [`case`] must violate nothing.

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use leaseline_core::capability::{
    Clock, Entropy, PipelineReply, Redis, RedisError, Reply, ServerError, Value,
};
use leaseline_core::message::{Lease, List, Outgoing, ReleaseRequest, SettleRequest, Settlement};
use leaseline_core::{Config, Queue, script};
use leaseline_redis_model::{Clock as ServerClock, Options, Profile, Server};

use crate::case::decode;
use crate::run::Runner;
use crate::violation::Violation;

/// A body, by its name.
pub type Body = (&'static str, fn(&[u8]) -> Result<(), Violation>);

/// All bodies.
pub static BODIES: &[Body] = &[
    ("case", case),
    ("envelope", envelope),
    ("replies", replies),
    ("claim_record", claim_record),
];

/// A history: what [`decode`] makes of the bytes.
///
/// # Errors
///
/// What does not hold in it.
pub fn case(bytes: &[u8]) -> Result<(), Violation> {
    Runner::default().run(&decode(bytes)).map(drop)
}

/// A stored message, as anybody can write one into a list.
///
/// # Errors
///
/// Never; a panic is the failure.
pub fn envelope(bytes: &[u8]) -> Result<(), Violation> {
    for prefix in [
        &b""[..],
        b"\x1eRMQ1:",
        b"\x1eRMQ1:{\"id\":\"a\",\"payload\":\"",
    ] {
        let lease = Lease {
            stored: [prefix, bytes].concat(),
            token: None,
            deadline_ms: None,
            not_after_ms: None,
        };
        let _ = lease.message_id();
    }
    Ok(())
}

/// Replies of a server that says anything at all, to every call of a queue.
///
/// # Errors
///
/// Never; a panic is the failure.
pub fn replies(bytes: &[u8]) -> Result<(), Violation> {
    for leased in [true, false] {
        let mut config = Config::new("q".to_owned());
        config.visibility_timeout_ms = leased.then_some(1000);
        let babble = || Babble(Mutex::new(bytes.to_vec()), AtomicU64::new(0));
        let Ok(mut queue) = Queue::new(config, babble(), babble(), babble()) else {
            continue;
        };
        let lease = Lease {
            stored: bytes.to_vec(),
            token: leased.then(|| "7".to_owned()),
            deadline_ms: None,
            not_after_ms: None,
        };
        let settles = [SettleRequest {
            lease: lease.clone(),
            settlement: Settlement::Fail,
            reason: None,
        }];
        let releases = [ReleaseRequest {
            lease: lease.clone(),
            delay_ms: 1,
        }];
        let leases = [lease];
        let message = Outgoing {
            payload: bytes.to_vec().into(),
            ..Outgoing::default()
        };
        soon(async {
            let _ = queue.claim(3, 0).await;
            let _ = queue.stats().await;
            let _ = queue.peek(List::Processing, 3).await;
            let _ = queue.publish(&[message]).await;
            let _ = queue.settle(&settles).await;
            let _ = queue.renew(&leases).await;
            let _ = queue.release(&releases).await;
            let _ = queue.redrive(2).await;
            let _ = queue.purge(List::Failed).await;
        });
        let _ = queue.take_events();
    }
    Ok(())
}

/// A claim record, as anybody can write one into the keys of a queue: the next claim with its id
/// answers from it or removes it, and takes what is pending.
///
/// # Errors
///
/// If the claim fails.
pub fn claim_record(bytes: &[u8]) -> Result<(), Violation> {
    let mut server = Server::new(Options {
        profile: Profile::Redis70,
        clock: ServerClock::Virtual(1_700_000_000_000_000),
    });
    let claim = script::ALL
        .iter()
        .find(|script| script.name == "claim_lease")
        .map_or("", |script| script.source);
    server.execute(&[b"RPUSH", b"pending", b"a message"]);
    server.execute(&[b"SET", b"result", bytes]);
    server.execute(&[b"HSET", b"ids", b"id", bytes]);
    let reply = server.execute(&[
        b"EVAL",
        claim.as_bytes(),
        b"11",
        b"pending",
        b"processing",
        b"deadlines",
        b"tokens",
        b"counter",
        b"counts",
        b"dead",
        b"refs",
        b"ids",
        b"backrefs",
        b"result",
        b"1000",
        b"3",
        b"1000",
        b"claim",
        b"id",
    ]);
    match reply {
        leaseline_redis_model::Reply::Array(items)
            if items.first() == Some(&leaseline_redis_model::Reply::Integer(1)) =>
        {
            Ok(())
        }
        other => Err(Violation::new(
            "claim_record",
            0,
            format!("a claim with a record of {bytes:?} answered {other:?}"),
        )),
    }
}

/// Polls what waits for nothing but pauses that are over at once.
fn soon(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    // Whatever is not ready by then waits for what never comes.
    for _ in 0..1000 {
        if let Poll::Ready(()) = future.as_mut().poll(&mut context) {
            return;
        }
    }
}

/// A server, a clock and ids made of bytes, until these run out.
struct Babble(Mutex<Vec<u8>>, AtomicU64);

impl Babble {
    fn byte(&self) -> Option<u8> {
        self.0.lock().ok()?.pop()
    }

    fn reply(&self) -> Result<Vec<Value>, RedisError> {
        let mut values = Vec::new();
        loop {
            values.push(match self.byte() {
                None if values.is_empty() => return Err(RedisError::Timeout),
                None => break,
                Some(0..=40) => break,
                Some(41..=60) => Value::Nil,
                Some(61..=120) => Value::Int(i64::from(self.byte().unwrap_or(0) as i8)),
                Some(121..=130) => Value::Int(i64::MAX),
                Some(131..=150) => Value::Status("OK".into()),
                Some(151..=160) => return Err(RedisError::Unknown("reset".into())),
                Some(161..=170) => {
                    return Err(RedisError::Server(ServerError::from_line("OOM full")));
                }
                Some(length) => {
                    let bytes = (0..length % 32).map_while(|_| self.byte());
                    Value::Bytes(bytes.collect())
                }
            });
        }
        Ok(values)
    }
}

impl Redis for Babble {
    async fn execute(&self, _: &[&[u8]], _: u32) -> Reply {
        self.reply()
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], _: u32) -> PipelineReply {
        let one = |_| match self.reply() {
            Ok(values) => Ok(Ok(values)),
            Err(RedisError::Server(error)) => Ok(Err(error)),
            Err(error) => Err(error),
        };
        // Sometimes one too few.
        (0..commands.len() - usize::from(self.byte() == Some(7)))
            .map(one)
            .collect()
    }
}

impl Clock for Babble {
    fn now_ms(&self) -> u64 {
        // Time passes whenever somebody looks, so that every budget ends.
        self.1.fetch_add(1000, Ordering::Relaxed)
    }

    async fn sleep_ms(&self, _: u64) {}
}

impl Entropy for Babble {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.byte().unwrap_or(0));
    }
}
