//! The world of a run: virtual time, a server, a network, clients. Nothing in it looks at the
//! machine's clock or draws a number that the case does not determine.

mod agenda;
mod chance;
mod client;
mod link;
mod network;
mod object;
mod ready;
mod scripts;
mod server;
mod simulation;
mod task;

use std::collections::BTreeSet;
use std::sync::Arc;

use leaseline_redis_model::{Clock, Condition, Profile, Server};

pub(crate) use agenda::{Agenda, Event};
pub(crate) use client::{Client, Job};
pub(crate) use network::{Answering, Plan};
pub use scripts::Scripts;
pub(crate) use simulation::Simulation;

use crate::case::{Case, Op, Settings};
use crate::check::{BlackBox, Checks, Excuse};
use crate::run::Coverage;
use crate::timeline::Timeline;
use crate::trace::Trace;
use crate::view::{Names, Part, View};
use crate::violation::Violation;
use chance::Chance;
use network::{Request, Ticket};
use ready::Ready;
use server::ServerSide;

/// When a run begins, by the server's clock: microseconds since 1970.
const BEGIN_US: i64 = 1_700_000_000_000_000;

/// Everything that happens in a run happens to this.
pub(crate) struct World {
    pub(crate) settings: Settings,
    /// Microseconds since the run began. Clients' clocks show it; the server's may differ.
    pub(crate) now_us: u64,
    pub(crate) agenda: Agenda,
    pub(crate) server: ServerSide,
    requests: Vec<Option<Request>>,
    tickets: Vec<Ticket>,
    pub(crate) ready: Arc<Ready>,
    pub(crate) clients: Vec<Client>,
    chance: Chance,
    /// What is in each queue, as of the last command.
    pub(crate) views: Vec<View>,
    pub(crate) names: Names,
    pub(crate) checks: Checks,
    pub(crate) black_box: BlackBox,
    /// What faults so far excuse, by queue.
    pub(crate) excuses: Vec<Excuse>,
    pub(crate) trace: Trace,
    pub(crate) coverage: Coverage,
    pub(crate) story: Option<Vec<String>>,
    pub(crate) timeline: Option<Timeline>,
    pub(crate) violation: Option<Violation>,
    /// Commands so far.
    pub(crate) steps: u64,
    /// Keys that are of another type now.
    pub(crate) covered: Vec<(usize, Part)>,
    /// Deduplication keys under which a message was accepted.
    accepted: BTreeSet<Vec<u8>>,
    /// How far the server's clock went back, all in all.
    pub(crate) back_us: u64,
    /// The conditions imposed so far.
    imposed: u32,
    /// Those that hold, each with its number.
    holding: Vec<(Condition, u32)>,
    /// Leases whose claim nobody may know of: workers were killed, requests were late.
    pub(crate) orphans: bool,
}

impl World {
    pub(crate) fn new(case: &Case, scripts: &Scripts, mut model: Server) -> Self {
        let settings = case.settings;
        model.reset_with_scripts(Clock::Virtual(BEGIN_US as u64));
        model.note_writes();
        let queues = settings.queues as usize;
        let client = || Client {
            held: vec![Vec::new(); queues],
            old: vec![Vec::new(); queues],
            ..Client::default()
        };
        let goes_back =
            |op: &Op| matches!(op, Op::Restart { lost } | Op::Failover { lost, .. } if *lost > 0);
        let kept = case.ops.iter().any(goes_back).then(Default::default);
        Self {
            settings,
            now_us: 0,
            agenda: Agenda::default(),
            server: ServerSide {
                model,
                scripts: scripts.clone(),
                ahead_us: BEGIN_US,
                ticks: false,
                fails_at: None,
                kept,
            },
            requests: Vec::new(),
            tickets: Vec::new(),
            ready: Arc::default(),
            clients: (0..settings.clients).map(|_| client()).collect(),
            chance: Chance(settings.seed.into()),
            views: vec![View::default(); queues],
            names: Names::default(),
            checks: Checks::default(),
            black_box: BlackBox::default(),
            excuses: vec![Excuse::default(); queues],
            trace: Trace::default(),
            coverage: Coverage::default(),
            story: None,
            timeline: None,
            violation: None,
            steps: 0,
            covered: Vec::new(),
            accepted: BTreeSet::new(),
            back_us: 0,
            imposed: 0,
            holding: Vec::new(),
            orphans: false,
        }
    }

    /// The profile that a case asks for.
    pub(crate) fn profile(settings: &Settings) -> Profile {
        match settings.redis {
            72 => Profile::Redis72,
            _ => Profile::Redis70,
        }
    }

    pub(crate) fn client(&mut self, number: u32) -> &mut Client {
        let count = self.clients.len();
        &mut self.clients[number as usize % count]
    }

    /// Puts the server into a trouble for a while.
    pub(crate) fn impose(&mut self, condition: Condition, ms: u64) {
        self.imposed += 1;
        let imposed = self.imposed;
        self.holding.retain(|(of, _)| *of != condition);
        self.holding.push((condition, imposed));
        self.server.model.impose(condition);
        let when = self.now_us + ms * 1000;
        self.agenda.add(when, Event::Lift { condition, imposed });
    }

    fn lift(&mut self, condition: Condition, imposed: u32) {
        if self.holding.contains(&(condition, imposed)) {
            self.holding.retain(|(of, _)| *of != condition);
            self.server.model.lift(condition);
        }
    }

    /// Runs a command of the world's own, which no trouble refuses and no checker sees.
    pub(crate) fn administer(&mut self, argv: &[&[u8]]) {
        for (condition, _) in &self.holding {
            self.server.model.lift(*condition);
        }
        self.server.model.execute(argv);
        for (condition, _) in &self.holding {
            self.server.model.impose(*condition);
        }
    }

    /// A message is in a queue that no client of this run published.
    pub(crate) fn accept(&mut self, queue: usize, payload: Vec<u8>) {
        let payload = self.names.publish(payload);
        self.black_box.publishes(payload, queue);
        let published = Ok(leaseline_core::message::PublishOutcome::Published);
        self.black_box.published(payload, self.now_us, &published);
    }

    /// The server's clock, in milliseconds.
    pub(crate) fn server_ms(&self) -> u64 {
        self.now_us.saturating_add_signed(self.server.ahead_us) / 1000
    }

    /// Ends everything that disturbs: what comes after shows whether the queue recovers.
    pub(crate) fn heal(&mut self) {
        for (condition, _) in std::mem::take(&mut self.holding) {
            self.server.model.lift(condition);
        }
        while let Some((queue, part)) = self.covered.first().copied() {
            crate::fault::uncover(self, queue, part);
        }
        for client in 0..self.clients.len() {
            let side = &mut self.clients[client];
            side.armed.clear();
            side.beat_us = 0;
            side.paused = false;
            self.ready.push(client);
        }
        if self.server.fails_at.take().is_some() {
            // The order is used up by a script that makes no call.
            self.administer(&[b"EVAL", b"return 0", b"0"]);
        }
        crate::fault::inject(&Op::TickInScripts { ms: 0 }, self);
    }

    /// Handles one event.
    pub(crate) fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { request } => self.arrive(request),
            Event::Answer { ticket } => self.answer(ticket),
            Event::Deadline { ticket } | Event::Wake { ticket } => self.time_is_up(ticket),
            Event::Lift { condition, imposed } => self.lift(condition, imposed),
            Event::Uncover { queue, part } => crate::fault::uncover(self, queue, part),
            Event::Beat { client, beats } => {
                let side = &mut self.clients[client];
                if side.beats == beats && side.beat_us > 0 {
                    let when = self.now_us + side.beat_us;
                    // A paused worker's timer does not fire.
                    if !side.paused && !side.inbox.contains(&Job::RenewAll) {
                        side.inbox.push_back(Job::RenewAll);
                        self.ready.push(client);
                    }
                    self.agenda.add(when, Event::Beat { client, beats });
                }
            }
        }
    }

    /// Adds a line to the story, if one is told.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(line());
        }
    }

    /// Notes that something does not hold.
    pub(crate) fn fail(&mut self, property: &'static str, message: String) {
        if self.violation.is_none() {
            self.violation = Some(Violation::new(property, self.steps, message));
        }
    }
}
