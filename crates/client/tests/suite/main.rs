//! The queue's behaviour, once for each engine and each server: one source, every combination.

mod claiming;
mod consuming;
mod dead_letters;
mod delaying;
mod draining;
mod envelopes;
mod json;
mod lost_replies;
mod operating;
mod publishing;
mod settling;
mod waking;
mod world;
