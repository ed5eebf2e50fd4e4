//! The capabilities of a client: a Redis behind the simulated network, a clock, and ids.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use leaseline_core::capability::{Clock, Entropy, PipelineReply, Redis, RedisError, Reply};

use super::World;
use super::agenda::Event;
use super::network::{Heard, Sent, TicketState};

/// The world, as everything in a run shares it.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(crate) fn new(world: World) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one client has of the world.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) world: Shared,
    pub(crate) client: usize,
}

impl Link {
    /// Waits for the answer of what was sent.
    fn hear(&self, sent: Sent) -> impl Future<Output = Heard> + Send + use<> {
        let world = self.world.clone();
        let mut sent = Some(sent);
        poll_fn(move |_| {
            let ticket = match sent.take() {
                Some(Sent::Heard(heard)) => return Poll::Ready(heard),
                Some(Sent::Wait(ticket)) => ticket,
                None => return Poll::Pending,
            };
            let mut world = world.lock();
            let state = &mut world.tickets[ticket].state;
            match std::mem::replace(state, TicketState::Closed) {
                TicketState::Here(heard) => Poll::Ready(heard),
                other => {
                    *state = other;
                    sent = Some(Sent::Wait(ticket));
                    Poll::Pending
                }
            }
        })
    }
}

impl Link {
    /// Waits for the end of a pause, which ends as a request does whose time is up.
    fn pause(&self, ticket: usize) -> impl Future<Output = ()> + Send + use<> {
        let heard = self.hear(Sent::Wait(ticket));
        async move {
            let _ = heard.await;
        }
    }
}

impl Redis for Link {
    fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> impl Future<Output = Reply> + Send {
        let sent = self.world.lock().send(self.client, &[argv], timeout_ms);
        let heard = self.hear(sent);
        async move {
            match heard.await?.pop() {
                Some(reply) => reply.map_err(RedisError::Server),
                None => Err(RedisError::Unknown("the connection was reset".into())),
            }
        }
    }

    fn pipeline(
        &self,
        commands: &[&[&[u8]]],
        timeout_ms: u32,
    ) -> impl Future<Output = PipelineReply> + Send {
        let sent = self.world.lock().send(self.client, commands, timeout_ms);
        self.hear(sent)
    }
}

impl Clock for Link {
    fn now_ms(&self) -> u64 {
        self.world.lock().now_us / 1000
    }

    fn sleep_ms(&self, ms: u64) -> impl Future<Output = ()> + Send {
        let ticket = {
            let mut world = self.world.lock();
            let ticket = world.open_ticket(self.client);
            if world.dies_in_a_pause(self.client) {
                return self.pause(ticket);
            }
            let when = world.now_us + ms * 1000;
            world.agenda.add(when, Event::Wake { ticket });
            ticket
        };
        self.pause(ticket)
    }
}

impl Entropy for Link {
    fn fill(&self, bytes: &mut [u8]) {
        let mut world = self.world.lock();
        for chunk in bytes.chunks_mut(8) {
            let drawn = world.chance.next().to_le_bytes();
            chunk.copy_from_slice(&drawn[..chunk.len()]);
        }
    }
}
