//! The queue's behaviour, once for each engine and each server: one source, every combination.

mod claiming;
mod consuming;
mod dead_letters;
mod delaying;
mod draining;
mod envelopes;
mod events;
mod json;
mod lifecycle;
mod lost_replies;
mod operating;
mod publishing;
mod racing;
mod settling;
mod waking;
mod world;
