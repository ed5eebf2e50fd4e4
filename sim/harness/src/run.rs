//! One run of one case: set-up, chaos, healing, emptying, and what must hold at the end.

use leaseline_redis_model::{Clock, Options, Reply, Server};

use crate::case::{Case, Op, Settings, ms};
use crate::check::closed_form;
use crate::fault;
use crate::marks::Marks;
use crate::violation::Violation;
use crate::world::{Job, Scripts, Simulation, World};

/// How long a line of the case waits for its client to be idle, in microseconds.
const PATIENCE_US: u64 = 20_000_000;

/// How long everything with a time to live may live after a run: markers of publishes have an hour.
const REST_US: u64 = 3 * 3_600_000_000;

/// What a run went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// States that were reached.
    pub marks: Marks,
    /// Lines of the case that were carried out.
    pub lines: u64,
    /// Commands that the server ran.
    pub commands: u64,
    /// Outcomes that clients got.
    pub outcomes: u64,
    /// Requests that met a fault of the network.
    pub faults: u64,
    /// A hash over every command, reply and outcome with its time.
    pub trace: u64,
}

impl Coverage {
    /// Adds another run. The hash is that of both in order.
    pub fn add(&mut self, other: &Coverage) {
        self.marks.add(&other.marks);
        self.lines += other.lines;
        self.commands += other.commands;
        self.outcomes += other.outcomes;
        self.faults += other.faults;
        self.trace = self.trace.rotate_left(5) ^ other.trace;
    }
}

/// Runs a case with the shipped scripts. The same case gives the same answer, always.
///
/// # Errors
///
/// What does not hold.
pub fn run(case: &Case) -> Result<Coverage, Violation> {
    Runner::default().run(case)
}

/// Runs cases one after another and keeps what is dear to make: the model's Lua state.
#[derive(Debug, Default)]
pub struct Runner {
    scripts: Scripts,
}

impl Runner {
    /// A runner with other scripts.
    pub fn new(scripts: Scripts) -> Self {
        Self { scripts }
    }

    /// Runs a case.
    ///
    /// # Errors
    ///
    /// What does not hold.
    pub fn run(&self, case: &Case) -> Result<Coverage, Violation> {
        self.play(case, false).0
    }

    /// Runs a case and tells what happened, line by line.
    pub fn tell(&self, case: &Case) -> (Result<Coverage, Violation>, Vec<String>) {
        self.play(case, true)
    }

    fn play(&self, case: &Case, tells: bool) -> (Result<Coverage, Violation>, Vec<String>) {
        // A server that was dropped left its Lua state for this one.
        let mut model = Server::new(Options {
            profile: World::profile(&case.settings),
            clock: Clock::Virtual(0),
        });
        if let Err(violation) = prepare(&mut model, &self.scripts) {
            return (Err(violation), Vec::new());
        }
        let mut world = World::new(case, &self.scripts, model);
        world.story = tells.then(Vec::new);
        let mut simulation = Simulation::new(world);
        chaos(&mut simulation, &case.ops);
        if !simulation.is_over() {
            heal_and_empty(&mut simulation, &case.settings);
        }
        simulation.finish(|world| {
            world.coverage.trace = world.trace.value();
            let story = world.story.take().unwrap_or_default();
            match world.violation.take() {
                Some(violation) => (Err(violation), story),
                None => (Ok(world.coverage.clone()), story),
            }
        })
    }
}

/// Scripts that do not compile are found before anything else.
fn prepare(model: &mut Server, scripts: &Scripts) -> Result<(), Violation> {
    for name in scripts.names() {
        let source = scripts.source(name).unwrap_or_default();
        if let Reply::Error(line) = model.execute(&[b"SCRIPT", b"LOAD", source.as_bytes()]) {
            let message = format!(
                "{name}.lua does not compile: {}",
                String::from_utf8_lossy(&line)
            );
            return Err(Violation::new("scripts", 0, message));
        }
    }
    Ok(())
}

fn chaos(simulation: &mut Simulation, ops: &[Op]) {
    for (at, op) in ops.iter().enumerate() {
        let client = {
            let mut guard = simulation.world.lock();
            let world = &mut *guard;
            world.coverage.lines += 1;
            let now_ms = world.now_us / 1000;
            world.tell(|| format!("{at:>3} at {now_ms} ms: {op}"));
            if let Op::Advance { by } = op {
                let until_us = world.now_us + ms(&world.settings, *by) * 1000;
                drop(guard);
                simulation.run_until(until_us);
                None
            } else if let Some((client, after)) = fault::armed(op) {
                world.client(client).armed.push((after, *op));
                None
            } else if fault::inject(op, world) {
                drop(guard);
                simulation.run_until(0);
                None
            } else {
                // The first field of all other operations is the client.
                Some(op.numbers()[0] as usize % world.clients.len())
            }
        };
        if simulation.is_over() {
            return;
        }
        if let Some(client) = client {
            let until_us = simulation.world.lock().now_us + PATIENCE_US;
            let paused = simulation.world.lock().clients[client].paused;
            // A client does one thing after another. One that stands still is left alone.
            if !paused && simulation.run_until_idle(client, until_us) {
                simulation.start(client, Job::Op(*op));
            }
        }
        if simulation.is_over() {
            return;
        }
    }
}

fn heal_and_empty(simulation: &mut Simulation, settings: &Settings) {
    let clients = {
        let mut world = simulation.world.lock();
        world.tell(|| "    the faults end".into());
        world.heal();
        world.clients.len()
    };
    let until_us = simulation.world.lock().now_us + PATIENCE_US + longest_us(settings);
    for client in 0..clients {
        if !simulation.run_until_idle(client, until_us) {
            stop(
                simulation,
                "a call does not end although nothing fails any more",
            );
            return;
        }
    }
    // What is late arrives.
    let until_us = simulation.world.lock().now_us + longest_us(settings);
    simulation.run_until(until_us);
    if !settings.leased() {
        // Nothing else brings back what workers have, and what they do not know that they have.
        for queue in 0..settings.queues as usize {
            for client in 0..clients {
                simulation.start(client, Job::TakeOut { queue });
                simulation.start(client, Job::Drain { queue });
            }
        }
    }
    empty(simulation, settings);
    if simulation.is_over() {
        return;
    }
    for queue in 0..settings.queues as usize {
        for client in 0..clients {
            simulation.start(client, Job::Drain { queue });
        }
        simulation.start(0, Job::LookAtDead { queue });
    }
    simulation.run_until(0);
    let until_us = simulation.world.lock().now_us + REST_US;
    simulation.run_until(until_us);
    if simulation.is_over() {
        return;
    }
    let mut guard = simulation.world.lock();
    let world = &mut *guard;
    // The views were read key by key; they must be what is there. (Delays end by themselves.)
    let mut followed = world.views.clone();
    world.look_again();
    for (followed, view) in followed.iter_mut().zip(&world.views) {
        followed.delays = view.delays.clone();
    }
    if followed != world.views {
        world.fail(
            "view",
            "the views do not agree with the keys; this is a mistake of the simulator".into(),
        );
    }
    let orphans = world.orphans || world.coverage.faults > 0;
    let ended = closed_form(&world.server.model, settings, &world.excuses, orphans);
    if let Err(message) = ended {
        world.fail("quiescence", message);
    }
    let excused: Vec<bool> = world
        .excuses
        .iter()
        .map(|excuse| excuse.evicted || settings.drops_oldest() || !settings.leased() && orphans)
        .collect();
    if let Err(message) = world.black_box.finish(&excused) {
        world.fail("black_box", message);
    }
}

/// The longest that a lease or a delay of a case may last.
fn longest_us(settings: &Settings) -> u64 {
    let moments = (0..crate::case::MOMENTS.len() as u32).map(|moment| ms(settings, moment));
    (moments.max().unwrap_or(0) + settings.lease_or_default_ms() + 1000) * 1000
}

/// Takes everything out: all that is alive is claimed and acknowledged, in bounded time.
fn empty(simulation: &mut Simulation, settings: &Settings) {
    let began_us = simulation.world.lock().now_us;
    let bound_us = {
        let world = simulation.world.lock();
        // A clock that went back makes leases and delays that much longer.
        began_us + 20 * longest_us(settings) + 2 * world.back_us
    };
    for round in 0.. {
        for queue in 0..settings.queues as usize {
            simulation.start(0, Job::TakeOut { queue });
            let until_us = simulation.world.lock().now_us + PATIENCE_US;
            if !simulation.run_until_idle(0, until_us) {
                stop(
                    simulation,
                    "a claim of everything does not end although nothing fails any more",
                );
                return;
            }
        }
        let next_us = {
            let world = simulation.world.lock();
            let alive = world
                .views
                .iter()
                .zip(&world.excuses)
                .filter(|(_, excuse)| !excuse.evicted);
            let waits = |view: &crate::view::View| match settings.leased() {
                true => {
                    !view.pending.is_empty()
                        || !view.processing.is_empty()
                        || !view.deadlines.is_empty()
                }
                false => !view.pending.is_empty(),
            };
            let mut alive = alive
                .map(|(view, _)| view)
                .filter(|view| waits(view))
                .peekable();
            if alive.peek().is_none() {
                return;
            }
            let server_ms = (world.now_us as i64 + world.server.ahead_us) as u64 / 1000;
            let due = alive
                .filter_map(|view| view.deadlines.first())
                .map(|(_, due)| *due)
                .min();
            let wait_ms = due
                .unwrap_or(0)
                .saturating_sub(server_ms)
                .max(1 << (round / 20).min(12));
            world.now_us + wait_ms * 1000
        };
        if next_us > bound_us {
            let text = simulation
                .world
                .lock()
                .views
                .iter()
                .map(|view| {
                    format!(
                        "{} pending, {} in processing",
                        view.pending.len(),
                        view.processing.len()
                    )
                })
                .collect::<Vec<_>>()
                .join("; ");
            stop(
                simulation,
                &format!("the queues do not become empty: {text}"),
            );
            return;
        }
        simulation.run_until(next_us);
    }
}

fn stop(simulation: &mut Simulation, message: &str) {
    simulation.world.lock().fail("liveness", message.into());
}
