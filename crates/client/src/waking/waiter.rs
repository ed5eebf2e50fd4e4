//! The task that waits for all sleepers of a bell.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::capability::RedisError;
use leaseline_core::waiting::{Pace, Step};
use leaseline_wasmtime::Connection;

use super::bell::Bell;

/// How long the connection is kept when nobody sleeps: a consumer that is busy for a moment is
/// soon back.
const LINGER: Duration = Duration::from_secs(1);

/// Serves the sleepers until there are none.
pub(super) async fn attend(bell: Arc<Bell>) {
    // Whoever came in the last moment starts the next waiter.
    let _attended = Attended(&bell);
    tokio::select! {
        () = bell.sleepers.none_for(LINGER) => {}
        never = serve(&bell) => match never {},
    }
}

struct Attended<'a>(&'a Bell);

impl Drop for Attended<'_> {
    fn drop(&mut self) {
        self.0.sleepers.leave_unattended();
    }
}

async fn serve(bell: &Bell) -> Infallible {
    let connection = bell.waking.open();
    let mut pace = bell.pace.lock().await;
    loop {
        bell.sleepers.any().await;
        let waited = match (pace.poll(), &connection) {
            (Some(ms), _) => pause(ms).await,
            (None, Some(connection)) => wait(bell, connection, &mut pace).await,
            (None, None) => pause(leaseline_core::waiting::POLL_INTERVAL_MS).await,
        };
        match waited {
            Ok(()) => {
                if let Some(found) = bell.sleepers.wake_one().await {
                    pace.claimed(found);
                }
            }
            Err(error) if pace.failed(&error) => {
                tracing::warn!(
                    %error,
                    "Redis does not let this process wait for messages; idle consumers poll twice a second"
                );
            }
            Err(error) => tracing::debug!(%error, "waiting for messages was broken off"),
        }
    }
}

/// Waits until a claim may find something, or is due.
async fn wait(bell: &Bell, connection: &Connection, pace: &mut Pace) -> Result<(), RedisError> {
    let outlook = bell.watch.outlook(connection).await?;
    match pace.step(&outlook) {
        Step::Pause(ms) => pause(ms).await,
        Step::Block(ms) => {
            let rung = bell.watch.block(connection, ms).await?;
            pace.blocked(rung);
            Ok(())
        }
    }
}

async fn pause(ms: u64) -> Result<(), RedisError> {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(())
}
