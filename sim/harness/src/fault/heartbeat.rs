//! A worker renews what it holds again and again. At zero it stops, and its leases starve.

use crate::world::{Event, World};

pub(super) fn inject(world: &mut World, client: u32, every_ms: u64) {
    let at = client as usize % world.clients.len();
    let side = &mut world.clients[at];
    // Each millisecond would drown everything else.
    side.beat_us = if every_ms < 10 { 0 } else { every_ms * 1000 };
    side.beats += 1;
    if side.beat_us > 0 {
        let (when, beats) = (world.now_us + side.beat_us, side.beats);
        world.agenda.add(when, Event::Beat { client: at, beats });
    }
}
