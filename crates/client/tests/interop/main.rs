//! One queue, two libraries: this one and the original, redis-message-queue 8.3.0 and 11.0.1, live
//! on one real Redis. After each step the raw keys are checked. Every case runs with both versions;
//! where one lacks something the case says so.
//!
//! `LEASELINE_INTEROP_PYTHON` names Pythons that have them; `make test` provides them where it can.
//! Without it the cases say that they are skipped; with it none is.

use leaseline::Engine;

mod crew;
mod delays;
mod deliveries;
mod duplicates;
mod envelopes;
mod fleet;
mod leases;
mod leftovers;
mod letters;
mod peer;
mod process;
mod rest;
mod samples;
mod stage;
mod work;

use peer::Library;
use stage::Stage;

/// Runs each case with each version of the original and with either engine.
macro_rules! cases {
    ($($cases:tt)+) => {
        mod with_8_3_0 {
            engines!(V8_3_0 $($cases)+);
        }

        mod with_11_0_1 {
            engines!(V11_0_1 $($cases)+);
        }
    };
}

macro_rules! engines {
    ($library:ident $($cases:tt)+) => {
        mod native {
            tests!($library Native $($cases)+);
        }

        mod component {
            tests!($library Component $($cases)+);
        }
    };
}

macro_rules! tests {
    ($library:ident $engine:ident $($module:ident: $($case:ident)+;)+) => {$($(
        #[tokio::test]
        async fn $case() {
            use crate::{Engine, Library, Stage};
            if let Some(stage) = Stage::open(Library::$library, Engine::$engine).await {
                crate::$module::$case(stage).await;
            }
        }
    )+)+};
}

cases! {
    envelopes:
        envelopes_are_the_same_bytes
        json_is_the_same_text
        json_has_the_same_limits;
    duplicates:
        deduplication_keys_are_the_same
        duplicates_are_refused_across;
    deliveries:
        they_take_ours
        we_take_theirs
        logs_hold_the_same_bytes
        they_take_ours_without_leases
        we_take_theirs_without_leases;
    leases:
        a_killed_original_is_replaced
        their_late_ack_is_refused
        our_late_ack_is_refused
        either_settles_a_claim_of_the_other
        either_renews_a_lease_of_the_other
        they_dead_letter_what_both_took
        we_dead_letter_what_both_took;
    delays:
        they_get_what_we_released_when_it_is_due
        they_get_what_we_published_for_later
        we_release_what_they_hold
        their_drain_keeps_a_delay;
    leftovers:
        only_the_counter_is_left
        they_drop_the_counter_after_us
        we_drop_the_counter_after_them;
    letters:
        they_take_our_bytes
        letters_get_another_chance_from_either;
    fleet:
        a_fleet_with_leases
        a_fleet_without_leases;
}

mod with_both {
    engines!(V8_3_0 fleet: a_fleet_of_all_with_leases a_fleet_of_all_without_leases;);
}
