//! The worker's task.

use std::future::pending;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::attempts::Attempts;
use crate::guard::Guard;
use crate::shared::Shared;

/// Works until it is closed. All that must survive it is in the shared state.
pub(crate) async fn run(mut guard: Guard) {
    guard.began = true;
    let shared = &guard.shared;
    tokio::time::sleep(guard.rest).await;
    let limit = Duration::from_millis(shared.settings.attempt_timeout_ms);
    let mut attempts = Attempts::default();
    let recovered = {
        let now_ms = shared.now_ms();
        shared.state().recover(now_ms)
    };
    drop(recovered);
    while !shared.closed.load(Ordering::Relaxed) {
        let turn = {
            let now_ms = shared.now_ms();
            shared.state().turn(now_ms)
        };
        for token in turn.cancel {
            attempts.cancel(token);
        }
        if !turn.due.is_empty() {
            let batches = attempts.begin(turn.due, limit);
            shared.state().batches += batches;
        }
        drop(turn.ended);
        let none = attempts.is_empty();
        let ended = tokio::select! {
            () = shared.wake.notified() => continue,
            () = until(shared, turn.next_due_ms) => continue,
            ended = attempts.ended(), if !none => ended,
        };
        let turn = {
            let now_ms = shared.now_ms();
            shared.state().finished(now_ms, ended)
        };
        drop(turn);
    }
}

async fn until(shared: &Shared, due_ms: Option<u64>) {
    match due_ms.and_then(|due_ms| shared.at(due_ms)) {
        Some(due) => tokio::time::sleep_until(due).await,
        None => pending().await,
    }
}
