//! What must hold, one file each. A checker sees the serial log: every executed command with what
//! was in its queue before and after. The black-box checker sees only what clients saw.
//!
//! What a checker remembers is the log's: when a failover takes scripts back, checkers go back
//! with the server.

mod ack_final;
mod answer;
mod bijection;
mod black_box;
mod bounded_work;
mod command;
mod conservation;
mod dead_letter;
mod declared_keys;
mod dedup_window;
mod delivery_count;
mod effect;
mod error_no_change;
mod fifo;
mod lease;
mod quiescence;
mod records;
mod renewal;
mod replay;
mod stale_holder;
mod statistics;
mod step;
mod stuck;
mod token_order;

pub(crate) use answer::Answer;
pub(crate) use black_box::{BlackBox, Settled};
pub(crate) use command::Command;
pub(crate) use quiescence::closed_form;
pub(crate) use step::{Excuse, Step};

use crate::violation::Violation;

/// What a checker says: nothing, or what does not hold.
pub(crate) type Verdict = Result<(), String>;

/// A checker of the log.
pub(crate) trait Check {
    /// The property that it checks.
    const PROPERTY: &'static str;

    fn step(&mut self, step: &Step<'_>) -> Verdict;
}

macro_rules! checks {
    ($($field:ident: $type:ty),* $(,)?) => {
        /// All checkers of the log.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Checks { $($field: $type),* }

        impl Checks {
            pub(crate) fn step(&mut self, step: &Step<'_>) -> Result<(), Violation> {
                $(self.$field.step(step).map_err(|message| {
                    Violation::new(<$type as Check>::PROPERTY, step.number, message)
                })?;)*
                Ok(())
            }
        }
    };
}

checks! {
    error_no_change: error_no_change::ErrorNoChange,
    conservation: conservation::Conservation,
    stuck: stuck::Stuck,
    lease: lease::OneLiveLease,
    token_order: token_order::TokenOrder,
    replay: replay::Replay,
    stale_holder: stale_holder::StaleHolder,
    ack_final: ack_final::AckFinal,
    dead_letter: dead_letter::DeadLetter,
    dedup_window: dedup_window::DedupWindow,
    fifo: fifo::Fifo,
    delivery_count: delivery_count::DeliveryCount,
    effect: effect::Effect,
    bijection: bijection::Bijection,
    records: records::Records,
    renewal: renewal::Renewal,
    statistics: statistics::Statistics,
    declared_keys: declared_keys::DeclaredKeys,
    bounded_work: bounded_work::BoundedWork,
}
