//! A client: the real queue objects of the core, doing one thing after another.

mod leases;

use std::future::{Future, poll_fn};
use std::hash::Hash;
use std::pin::Pin;
use std::task::Poll;

use leaseline_core::event::EventBatch;
use leaseline_core::message::{Delivery, List, Outgoing, Settlement};
use leaseline_core::{Error, ErrorKind};

use super::client::Job;
use super::link::{Link, Shared};
use super::object::Object;
use crate::case::{Op, ms};
use crate::{Engine, Mark};

/// A claim that waits looks twice a second, which teaches nothing new.
const LONGEST_WAIT_MS: u64 = 500;

/// The future of a client. It never ends.
pub(super) fn work(
    world: &Shared,
    client: usize,
    engine: &Engine,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let engine = engine.clone();
    let link = Link {
        world: world.clone(),
        client,
    };
    Box::pin(async move {
        let queues = link.world.lock().settings.queues as usize;
        let mut objects: Vec<Object> = Vec::new();
        for queue in 0..queues {
            match open(&engine, &link, queue).await {
                Ok(object) => objects.push(object),
                Err(error) => {
                    let message = format!("the settings are no configuration: {error}");
                    link.world.lock().fail("configuration", message);
                    return;
                }
            }
        }
        loop {
            let job = next(&link).await;
            Worker {
                engine: &engine,
                link: &link,
                objects: &mut objects,
            }
            .perform(job)
            .await;
            if !objects.iter().all(Object::is_alive) {
                let message = format!("an instance of client {client} broke");
                link.world.lock().fail("component", message);
                return;
            }
            link.world.lock().clients[client].busy = false;
        }
    })
}

async fn open(engine: &Engine, link: &Link, queue: usize) -> Result<Object, Error> {
    let config = link.world.lock().settings.config(queue);
    Object::open(engine, config, link).await
}

/// The next thing to do, when there is one.
async fn next(link: &Link) -> Job {
    poll_fn(|_| {
        let mut world = link.world.lock();
        let side = &mut world.clients[link.client];
        match side.inbox.pop_front() {
            Some(job) => {
                side.busy = true;
                Poll::Ready(job)
            }
            None => Poll::Pending,
        }
    })
    .await
}

struct Worker<'a> {
    engine: &'a Engine,
    link: &'a Link,
    objects: &'a mut Vec<Object>,
}

impl Worker<'_> {
    async fn perform(&mut self, job: Job) {
        match job {
            Job::Op(op) => self.perform_op(op).await,
            Job::RenewAll => {
                for queue in 0..self.objects.len() {
                    let held = self.held(queue).clone();
                    self.renew(queue, held).await;
                }
            }
            Job::TakeOut { queue } => {
                self.claim(queue, 10, 0).await;
                let held = self.held(queue);
                self.settle(queue, held, Settlement::Ack).await;
            }
            Job::Drain { queue } => self.drain(queue).await,
            Job::LookAtDead { queue } => {
                if let Ok(letters) = self.objects[queue].peek(List::DeadLetters, 1000).await {
                    let mut world = self.link.world.lock();
                    let world = &mut *world;
                    for letter in letters {
                        let payload = letter.payload.unwrap_or_default();
                        world.black_box.seen_dead(world.names.payload(&payload));
                    }
                }
            }
        }
    }

    async fn perform_op(&mut self, op: Op) {
        let queues = self.objects.len();
        let at = |queue: u32| queue as usize % queues;
        let settings = self.link.world.lock().settings;
        match op {
            Op::Publish { queue, payload, .. } => {
                let message = self.message(payload);
                self.publish(at(queue), vec![message]).await;
            }
            Op::PublishKeyed { queue, key, .. } => {
                let mut message = self.message(0);
                message.deduplication_key = Some(format!("key{key}").into_bytes());
                self.publish(at(queue), vec![message]).await;
            }
            Op::PublishDelayed { queue, delay, .. } => {
                let mut message = self.message(0);
                message.delay_ms = if settings.leased() {
                    ms(&settings, delay)
                } else {
                    0
                };
                self.publish(at(queue), vec![message]).await;
            }
            Op::PublishDelayedKeyed {
                queue, key, delay, ..
            } if settings.leased() => {
                let mut message = self.message(0);
                message.delay_ms = ms(&settings, delay);
                message.deduplication_key = Some(format!("key{key}").into_bytes());
                self.publish(at(queue), vec![message]).await;
            }
            Op::PublishBatch { queue, more, .. } => {
                let messages = (0..more + 2).map(|flavour| self.message(flavour)).collect();
                self.publish(at(queue), messages).await;
            }
            Op::Claim {
                queue, more, wait, ..
            } => {
                let wait_ms = ms(&settings, wait).min(LONGEST_WAIT_MS);
                self.claim(at(queue), more + 1, wait_ms).await;
            }
            Op::Ack { queue, pick, .. } => {
                let lease = self.one_held(at(queue), pick);
                self.settle(at(queue), lease, Settlement::Ack).await;
            }
            Op::Fail { queue, pick, .. } => {
                let lease = self.one_held(at(queue), pick);
                self.settle(at(queue), lease, Settlement::Fail).await;
            }
            Op::AckAll { queue, .. } => {
                let held = self.held(at(queue));
                self.settle(at(queue), held, Settlement::Ack).await;
            }
            Op::AckOld { queue, pick, .. } => {
                let lease = self.one_old(at(queue), pick);
                self.settle(at(queue), lease, Settlement::Ack).await;
            }
            Op::AckCrossed { queue, .. } => {
                let held = self.held(at(queue));
                if let [first, .., last] = held.as_slice() {
                    let mut crossed = first.clone();
                    crossed.token.clone_from(&last.token);
                    // Without tokens it would be an acknowledgement like any other.
                    if crossed.token.is_some() {
                        self.settle(at(queue), vec![crossed], Settlement::Ack).await;
                    }
                }
            }
            Op::Release {
                queue, pick, delay, ..
            } if settings.leased() => {
                let leases = self.one_held(at(queue), pick);
                self.release(at(queue), leases, ms(&settings, delay)).await;
            }
            Op::Renew { queue, pick, .. } if settings.leased() => {
                let leases = self.one_held(at(queue), pick);
                self.renew(at(queue), leases).await;
            }
            Op::RenewOld { queue, pick, .. } if settings.leased() => {
                let leases = self.one_old(at(queue), pick);
                self.renew(at(queue), leases).await;
            }
            Op::Redrive { queue, .. } => {
                let moved = self.objects[at(queue)].redrive(10).await;
                self.note("redrive", &moved);
            }
            Op::Purge { queue, list, .. } => {
                let list = [
                    List::Completed,
                    List::Failed,
                    List::DeadLetters,
                    List::Pending,
                ][list as usize % 4];
                self.link.world.lock().black_box.purges(at(queue));
                let purged = self.objects[at(queue)].purge(list).await;
                self.note("purge", &purged);
            }
            Op::Peek { queue, list, .. } => {
                let list = [
                    List::Pending,
                    List::Processing,
                    List::Completed,
                    List::Failed,
                    List::DeadLetters,
                ][list as usize % 5];
                let peeked = self.objects[at(queue)]
                    .peek(list, 5)
                    .await
                    .map(|peeked| peeked.len());
                self.note("peek", &peeked);
            }
            Op::Stats { queue, .. } => {
                let stats = self.objects[at(queue)].stats().await;
                self.note("stats", &stats);
            }
            Op::Drain { queue, .. } => self.drain(at(queue)).await,
            Op::Sweep { queue, rounds, .. } => {
                for _ in 0..rounds {
                    self.claim(at(queue), 1, 0).await;
                }
                let held = self.held(at(queue));
                self.settle(at(queue), held, Settlement::Ack).await;
            }
            _ => {}
        }
    }

    /// A message that nobody published before.
    fn message(&self, flavour: u32) -> Outgoing {
        let mut world = self.link.world.lock();
        let mut payload = format!("m{}", world.names.payloads()).into_bytes();
        match flavour {
            1 => payload.extend("\"\\/\u{1f600}é\u{7f}".bytes()),
            2 => payload.extend([0, 0xff, 0xc3]),
            3 => payload.extend(b"[] {} 12345678901234567890 1e400"),
            4 => payload.extend([b'x'; 300]),
            5 => payload.extend(b"\0\r\n\x1eRMQ1:{\"id\":\"x\",\"payload\":1}"),
            _ => {}
        }
        world.names.publish(payload.clone());
        Outgoing {
            payload: payload.into(),
            ..Outgoing::default()
        }
    }

    async fn publish(&mut self, queue: usize, messages: Vec<Outgoing>) {
        let payloads: Vec<_> = {
            let mut world = self.link.world.lock();
            let world = &mut *world;
            let payload = |message: &Outgoing| world.names.payload(message.payload.as_bytes());
            let payloads: Vec<_> = messages.iter().map(payload).collect();
            for payload in &payloads {
                world.black_box.publishes(*payload, queue);
            }
            payloads
        };
        let Ok(replies) = self.objects[queue].publish(&messages).await else {
            return;
        };
        let outcomes: Vec<_> = replies.into_iter().map(|reply| reply.outcome).collect();
        self.note("publish", &outcomes);
        let mut world = self.link.world.lock();
        let now_us = world.now_us;
        for (payload, outcome) in payloads.into_iter().zip(&outcomes) {
            if matches!(outcome, Err(error) if error.kind == ErrorKind::OutcomeUnknown) {
                world.coverage.marks.count(Mark::OutcomeUnknown);
            }
            world.black_box.published(payload, now_us, outcome);
        }
    }

    async fn claim(&mut self, queue: usize, max: u32, wait_ms: u64) {
        let began = self.link.world.lock().steps;
        let claimed = self.objects[queue].claim(max, wait_ms).await;
        let Ok(EventBatch { events, .. }) = self.objects[queue].take_events().await else {
            return;
        };
        if claimed.is_err() || self.link.world.lock().story.is_some() {
            self.note("claim", &claimed);
        }
        let mut world = self.link.world.lock();
        world.coverage.outcomes += 1;
        for event in &events {
            (event.operation, event.outcome, event.replayed).hash(&mut world.trace);
            (&event.message_id, &event.claim_id, event.delivery_count).hash(&mut world.trace);
        }
        for Delivery {
            message_id,
            payload,
            lease,
            delivery_count,
            replayed,
        } in claimed.iter().flatten()
        {
            (message_id, payload.as_ref().ok(), delivery_count, replayed).hash(&mut world.trace);
            (&lease.stored, &lease.token, lease.deadline_ms).hash(&mut world.trace);
        }
        if world.settings.leased() && claimed.is_err() {
            world.coverage.marks.count(Mark::ClaimFailed);
        }
        for delivery in claimed.into_iter().flatten() {
            let Delivery { payload, lease, .. } = &delivery;
            let number = match payload {
                Ok(bytes) => world.names.payload(bytes),
                Err(error) => {
                    let message = format!("a claim gave a message that cannot be read: {error}");
                    world.fail("payload", message);
                    return;
                }
            };
            let lost = world.excuses[queue].evicted;
            let told =
                world
                    .black_box
                    .claimed(self.link.client, queue, number, &delivery, began, lost);
            if let Err(message) = told {
                world.fail("black_box", message);
            }
            world.clients[self.link.client].held[queue].push(lease.clone());
        }
    }

    async fn drain(&mut self, queue: usize) {
        let drained = self.objects[queue].drain(1000).await;
        self.note("drain", &drained);
        // What could not be resolved is handed on, as a client does.
        if let Ok(open_claims) = self.objects[queue].take_pending_claims().await
            && let Ok(mut fresh) = open(self.engine, self.link, queue).await
        {
            // On failure it broke, as is seen after the call.
            let _ = fresh.adopt_claims(open_claims).await;
            self.objects[queue] = fresh;
        }
    }

    /// Puts what a call gave into the trace and the story.
    fn note(&self, what: &str, outcome: &impl std::fmt::Debug) {
        let mut world = self.link.world.lock();
        let client = self.link.client;
        let text = format!("{what} {outcome:?}");
        world.trace.text(&text);
        world.coverage.outcomes += 1;
        world.tell(|| format!("    = client {client}: {}", crate::story::shorten(&text)));
    }
}
