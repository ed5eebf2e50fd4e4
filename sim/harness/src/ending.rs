//! How a run ends: faults stop, what is late arrives, everything is taken out in bounded virtual time,
//! and what is left is looked at.

use crate::case::{Settings, ms};
use crate::check::closed_form;
use crate::run::PATIENCE_US;
use crate::world::{Job, Simulation};

/// How long everything with a time to live may live after a run: markers of publishes have an hour.
const REST_US: u64 = 3 * 3_600_000_000;

/// Ends the faults, takes everything out and looks at what is left.
pub(crate) fn heal_and_empty(simulation: &mut Simulation, settings: &Settings) {
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
