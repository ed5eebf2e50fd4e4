//! The built command, as scripts use it.

mod bad_arguments;
mod bad_input;
mod bad_leases;
mod bad_settings;
mod claiming;
mod clients;
mod closed_ends;
mod configuring;
mod demo;
mod doctoring;
mod giving_back;
mod lost_replies;
mod operating;
mod publishing;
mod recovering;
mod refusal;
mod secrets;
mod serving;
mod settings;
mod settling;
mod several;
mod simulating;
mod stage;
mod stopping;
mod working;
