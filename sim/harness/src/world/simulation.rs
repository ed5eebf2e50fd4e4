//! The executor: polls the futures of clients, and lets events happen in their order.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::client::Job;
use super::link::Shared;
use super::{World, ready, task};
use crate::Engine;

/// Polls without any time passing that a client may need at most.
const MOST_POLLS: u32 = 100_000;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A world with the futures of its clients.
pub(crate) struct Simulation {
    pub(crate) world: Shared,
    tasks: Vec<Task>,
    wakers: Vec<Waker>,
    engine: Engine,
}

impl Simulation {
    pub(crate) fn new(world: World, engine: &Engine) -> Self {
        let ready = world.ready.clone();
        let clients = world.clients.len();
        let world = Shared::new(world);
        Self {
            tasks: (0..clients)
                .map(|client| task::work(&world, client, engine))
                .collect(),
            wakers: (0..clients)
                .map(|client| ready::waker(&ready, client))
                .collect(),
            world,
            engine: engine.clone(),
        }
    }

    /// Takes the world back. Everything that still ran is dropped.
    pub(crate) fn finish<T>(self, take: impl FnOnce(&mut World) -> T) -> T {
        take(&mut self.world.lock())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.world.lock().violation.is_some()
    }

    /// Gives a client something to do, and lets everything happen that takes no time.
    pub(crate) fn start(&mut self, client: usize, job: Job) {
        {
            let mut world = self.world.lock();
            world.clients[client].inbox.push_back(job);
            world.ready.push(client);
        }
        self.run_until(0);
    }

    /// Polls whoever can go on, until nobody can.
    fn poll(&mut self) {
        let mut polls = 0;
        loop {
            let next = self.world.lock().ready.pop();
            let Some(client) = next else {
                return;
            };
            polls += 1;
            {
                let mut world = self.world.lock();
                if polls > MOST_POLLS {
                    world.fail("liveness", format!("client {client} is polled without end"));
                }
                if world.clients[client].paused || world.violation.is_some() {
                    continue;
                }
            }
            let mut context = Context::from_waker(&self.wakers[client]);
            let ended = matches!(
                self.tasks[client].as_mut().poll(&mut context),
                Poll::Ready(())
            );
            let killed = std::mem::take(&mut self.world.lock().clients[client].killed);
            if ended || killed {
                self.tasks[client] = task::work(&self.world, client, &self.engine);
                let mut world = self.world.lock();
                world.coverage.marks.count(crate::Mark::WorkerKilled);
                world.tell(|| format!("      worker {client} is killed"));
                world.orphans = true;
                world.clients[client].busy = false;
                world.ready.push(client);
            }
        }
    }

    /// Lets everything happen up to a time (0: now), then it is that time.
    pub(crate) fn run_until(&mut self, until_us: u64) {
        let until_us = until_us.max(self.world.lock().now_us);
        loop {
            self.poll();
            let mut world = self.world.lock();
            if world.violation.is_some() {
                return;
            }
            match world.agenda.next(until_us) {
                Some((at_us, event)) => {
                    world.now_us = at_us.max(world.now_us);
                    world.happen(event);
                }
                None => {
                    world.now_us = until_us;
                    return;
                }
            }
        }
    }

    /// Lets time pass until a client has nothing left to do, at most to a time. False: it has not.
    pub(crate) fn run_until_idle(&mut self, client: usize, until_us: u64) -> bool {
        loop {
            self.poll();
            let mut world = self.world.lock();
            if world.violation.is_some() {
                return false;
            }
            let side = &world.clients[client];
            if !side.busy && side.inbox.is_empty() {
                return true;
            }
            if side.paused {
                return false;
            }
            let Some((at_us, event)) = world.agenda.next(until_us) else {
                return false;
            };
            world.now_us = at_us.max(world.now_us);
            world.happen(event);
        }
    }
}
