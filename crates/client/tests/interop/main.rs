//! One queue, two libraries: this one and the original, redis-message-queue 8.3.0, live on one
//! real Redis. After each step the raw keys are checked.
//!
//! `LEASELINE_INTEROP_PYTHON` names a Python that has the original; `make test` provides one where
//! it can. Without it the cases say that they are skipped.

use leaseline::Engine;

mod delays;
mod deliveries;
mod duplicates;
mod envelopes;
mod leases;
mod leftovers;
mod peer;
mod samples;
mod stage;

use stage::Stage;

/// Runs each case with either engine.
macro_rules! cases {
    ($($module:ident: $($case:ident)+;)+) => {
        mod native {
            $($(
                #[tokio::test]
                async fn $case() {
                    if let Some(stage) = crate::Stage::open(crate::Engine::Native).await {
                        crate::$module::$case(stage).await;
                    }
                }
            )+)+
        }

        mod component {
            $($(
                #[tokio::test]
                async fn $case() {
                    if let Some(stage) = crate::Stage::open(crate::Engine::Component).await {
                        crate::$module::$case(stage).await;
                    }
                }
            )+)+
        }
    };
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
}
