//! The built command, as scripts use it.

mod bad_input;
mod claiming;
mod closed_ends;
mod demo;
mod lost_replies;
mod operating;
mod publishing;
mod recovering;
mod settling;
mod stage;
mod stopping;
mod working;
