//! When all messages are settled and everything with a time to live has died, nothing is left but
//! the logs, the dead letters and the token counter.

use leaseline_redis_model::Server;

use super::{Excuse, Verdict};
use crate::case::Settings;
use crate::view::{Part, queue_of};

/// Looks at every key that is left.
pub(crate) fn closed_form(
    server: &Server,
    settings: &Settings,
    excuses: &[Excuse],
    orphans: bool,
) -> Verdict {
    let allowed = [Part::Completed, Part::Failed, Part::Dead, Part::Counter];
    // Without leases nothing brings back what a worker took that is gone.
    let kept = [Part::Processing, Part::Ids, Part::Backrefs];
    for key in server.dump().keys() {
        let text = String::from_utf8_lossy(key);
        let Some(queue) = queue_of(key) else {
            return Err(format!("the key '{text}' belongs to no queue"));
        };
        let excuse = excuses.get(queue).copied().unwrap_or_default();
        if excuse.evicted || excuse.torn {
            continue;
        }
        match Part::of(key) {
            Some((_, part)) if allowed.contains(&part) => {}
            Some((_, part)) if kept.contains(&part) && !settings.leased() && orphans => {}
            _ => return Err(format!("the key '{text}' is left over")),
        }
    }
    Ok(())
}
