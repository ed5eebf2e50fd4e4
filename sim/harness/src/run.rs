//! One run of one case: set-up, chaos, healing, emptying, and what must hold at the end.

use leaseline_redis_model::{Clock, Options, Reply, Server};

use crate::Engine;
use crate::case::{Case, Op, Settings, ms};
use crate::ending::heal_and_empty;
use crate::fault;
use crate::marks::Marks;
use crate::timeline::Timeline;
use crate::violation::Violation;
use crate::world::{Job, Scripts, Simulation, World};

/// How long a line of the case waits for its client to be idle, in microseconds.
pub(crate) const PATIENCE_US: u64 = 20_000_000;

/// How much a script may run: far more than any of ours, and less than one that never ends needs to
/// be a nuisance.
const INSTRUCTIONS: u64 = 5_000_000;

/// What a run went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// States that were reached.
    pub marks: Marks,
    /// Those of them that the case's own lines reached, and not what comes after them.
    pub in_lines: Marks,
    /// Lines of the case that were carried out.
    pub lines: u64,
    /// Commands that the server ran.
    pub commands: u64,
    /// Outcomes that clients got.
    pub outcomes: u64,
    /// Requests that met a fault of the network.
    pub faults: u64,
    /// Which scripts ran: a bit for each, in the order of [`Scripts::names`].
    pub scripts: u32,
    /// A hash over every command, reply and outcome with its time.
    pub trace: u64,
}

impl Coverage {
    /// Adds another run. The hash is that of both in order.
    pub fn add(&mut self, other: &Coverage) {
        self.marks.add(&other.marks);
        self.in_lines.add(&other.in_lines);
        self.lines += other.lines;
        self.commands += other.commands;
        self.outcomes += other.outcomes;
        self.faults += other.faults;
        self.scripts |= other.scripts;
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
    engine: Engine,
}

impl Runner {
    /// A runner with other scripts.
    pub fn new(scripts: Scripts) -> Self {
        Self {
            scripts,
            engine: Engine::default(),
        }
    }

    /// The same on another engine.
    #[must_use]
    pub fn on(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Runs a case.
    ///
    /// # Errors
    ///
    /// What does not hold.
    pub fn run(&self, case: &Case) -> Result<Coverage, Violation> {
        self.play(case, false).outcome
    }

    /// Runs a case and tells what happened, line by line.
    pub fn tell(&self, case: &Case) -> (Result<Coverage, Violation>, Vec<String>) {
        let played = self.play(case, true);
        (played.outcome, played.story)
    }

    /// Runs a case and draws who held which message when, and where faults met requests.
    pub fn timeline(&self, case: &Case) -> (Result<Coverage, Violation>, String) {
        let played = self.play(case, true);
        (played.outcome, played.timeline)
    }

    /// Whether the scripts compile.
    ///
    /// # Errors
    ///
    /// Which does not, with the line.
    pub fn check(&self) -> Result<(), Violation> {
        let options = Options {
            profile: World::profile(&Settings::default()),
            clock: Clock::Virtual(0),
        };
        prepare(&mut Server::new(options), &self.scripts)
    }

    fn play(&self, case: &Case, tells: bool) -> Played {
        // A server that was dropped left its Lua state for this one.
        let mut model = Server::new(Options {
            profile: World::profile(&case.settings),
            clock: Clock::Virtual(0),
        });
        model.set_instruction_limit(INSTRUCTIONS);
        if let Err(violation) = prepare(&mut model, &self.scripts) {
            return Played {
                outcome: Err(violation),
                story: Vec::new(),
                timeline: String::new(),
            };
        }
        let mut world = World::new(case, &self.scripts, model);
        world.story = tells.then(Vec::new);
        world.timeline = tells.then(Timeline::default);
        let mut simulation = Simulation::new(world, &self.engine);
        chaos(&mut simulation, &case.ops);
        {
            let mut world = simulation.world.lock();
            world.coverage.in_lines = world.coverage.marks.clone();
        }
        if !simulation.is_over() {
            heal_and_empty(&mut simulation, &case.settings);
        }
        simulation.finish(|world| {
            world.coverage.trace = world.trace.value();
            Played {
                outcome: match world.violation.take() {
                    Some(violation) => Err(violation),
                    None => Ok(world.coverage.clone()),
                },
                story: world.story.take().unwrap_or_default(),
                timeline: world
                    .timeline
                    .take()
                    .map_or_else(String::new, |drawn| drawn.draw()),
            }
        })
    }
}

/// What came of a run. What is told is empty where nobody listens.
struct Played {
    outcome: Result<Coverage, Violation>,
    story: Vec<String>,
    timeline: String,
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
                if let Some(timeline) = &mut world.timeline {
                    timeline.fault(world.now_us, op.to_string());
                }
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
