//! Full queues and dead letters: settings that need or exclude others.

use leaseline_core::config::OverloadPolicy;

use crate::{accepted, config, refused};

#[test]
fn block_and_drop_oldest_need_a_limit() {
    for (policy, name) in [
        (OverloadPolicy::Block, "block"),
        (OverloadPolicy::DropOldest, "drop_oldest"),
    ] {
        refused(
            config(|config| {
                config.overload_policy = policy;
                config.max_delivery_count = None;
            }),
            &[name, "needs max_pending_length", "set it, or use raise"],
        );
        accepted(config(|config| {
            config.overload_policy = policy;
            config.max_delivery_count = None;
            config.max_pending_length = Some(1);
        }));
    }
    accepted(config(|config| config.max_pending_length = Some(1)));
}

#[test]
fn drop_oldest_and_a_delivery_limit_exclude_each_other() {
    let dropping = |limit| {
        config(|config| {
            config.overload_policy = OverloadPolicy::DropOldest;
            config.max_pending_length = Some(1);
            config.max_delivery_count = limit;
        })
    };
    refused(
        dropping(Some(10)),
        &["drop_oldest", "remove max_delivery_count"],
    );
    accepted(dropping(None));
    accepted(config(|config| {
        config.overload_policy = OverloadPolicy::Block;
        config.max_pending_length = Some(1);
    }));
}

#[test]
fn a_delivery_limit_needs_a_visibility_timeout() {
    refused(
        config(|config| config.visibility_timeout_ms = None),
        &["max_delivery_count needs a visibility timeout"],
    );
    accepted(config(|config| {
        config.visibility_timeout_ms = None;
        config.max_delivery_count = None;
    }));
}

#[test]
fn a_dead_letter_queue_has_a_name_and_needs_a_delivery_limit() {
    for name in ["", " ", "\x1e"] {
        refused(
            config(|config| config.dead_letter_queue = Some(name.into())),
            &["dead_letter_queue is blank", "name a list, or leave it out"],
        );
    }
    // The original lets an empty name without a limit through.
    refused(
        config(|config| {
            config.dead_letter_queue = Some(String::new());
            config.max_delivery_count = None;
        }),
        &["dead_letter_queue is blank"],
    );
    refused(
        config(|config| {
            config.dead_letter_queue = Some("graveyard".into());
            config.max_delivery_count = None;
        }),
        &["dead_letter_queue needs max_delivery_count", "set it"],
    );
    let own = config(|config| config.dead_letter_queue = Some("graveyard".into()));
    assert_eq!(own.keys().dead_letters, "graveyard");
    accepted(own);
}

#[test]
fn a_dead_letter_queue_is_no_other_key_of_the_queue() {
    for key in [
        "q::pending",
        "q::processing",
        "q::completed",
        "q::failed",
        "q::deduplication::order-1",
        "q::processing:lease_deadlines",
        "q::processing:lease_token_counter",
        "q::processing:claim_result:0",
        "q::processing:dead_letter_placeholder",
        "q::pending:publish_operation_result:0",
    ] {
        refused(
            config(|config| config.dead_letter_queue = Some(key.into())),
            &[&format!("'{key}'"), "own keys", "name another list"],
        );
    }
    for key in ["q::dlq", "q::dead_letter", "q::pending2", "other::pending"] {
        accepted(config(|config| config.dead_letter_queue = Some(key.into())));
    }
}
