//! One history for the eye: who held which message when, and where faults met requests.

use std::fmt::Write as _;

use crate::check::Step;
use crate::view::Message;

/// How many columns the time has.
const COLUMNS: u64 = 64;

/// What happens in a run, as far as it is drawn.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    holds: Vec<Hold>,
    faults: Vec<(u64, String)>,
}

/// A message in somebody's hands.
#[derive(Debug)]
struct Hold {
    queue: usize,
    message: Message,
    name: String,
    client: usize,
    /// 0 without leases.
    token: u64,
    from_us: u64,
    /// When and how it ended.
    end: Option<(u64, String)>,
}

impl Timeline {
    pub(crate) fn fault(&mut self, now_us: u64, what: String) {
        self.faults.push((now_us, what));
    }

    pub(crate) fn see(&mut self, now_us: u64, step: &Step<'_>) {
        let (queue, after) = (step.queue, step.after);
        let open = |hold: &&mut Hold| hold.queue == queue && hold.end.is_none();
        for hold in self.holds.iter_mut().filter(open) {
            let goes_on = match step.settings.leased() {
                true => after.tokens.get(&hold.message) == Some(&hold.token),
                false => after.processing.contains(&hold.message),
            };
            if !goes_on {
                let how = match step.script() {
                    "remove" | "remove_lease" | "move" | "move_lease" => "settled",
                    "release" => "released",
                    "return" => "returned",
                    "claim_lease" => "reclaimed",
                    _ => "gone",
                };
                let by = match step.client == hold.client {
                    true => String::new(),
                    false => format!(" by client {}", step.client),
                };
                hold.end = Some((now_us, format!("{how}{by}")));
            }
        }
        let grants = step.claim().map_or(&[][..], |claim| &claim.grants);
        for grant in grants {
            let known = |hold: &Hold| {
                hold.queue == queue
                    && hold.message == grant.message
                    && hold.token == grant.token
                    && hold.end.is_none()
            };
            if !self.holds.iter().any(known) {
                self.holds.push(Hold {
                    queue,
                    message: grant.message,
                    name: step.show(grant.message),
                    client: step.client,
                    token: grant.token,
                    from_us: now_us,
                    end: None,
                });
            }
        }
    }

    /// The drawing: a line for each fault and each hold, in the order of their times.
    pub(crate) fn draw(&self) -> String {
        let ends = self.holds.iter().map(|hold| match &hold.end {
            Some((at_us, _)) => *at_us,
            None => hold.from_us,
        });
        let last_us = ends
            .chain(self.faults.iter().map(|(at_us, _)| *at_us))
            .max();
        let last_us = last_us.unwrap_or(0).max(1);
        let column = |at_us: u64| (at_us * (COLUMNS - 1) / last_us) as usize;
        let mut lines: Vec<(u64, String)> = Vec::new();
        for (at_us, what) in &self.faults {
            let row = format!("{:>1$}", '!', column(*at_us) + 1);
            lines.push((*at_us, format!("{row:<64}  {what} at {} ms", at_us / 1000)));
        }
        for hold in &self.holds {
            let (until_us, how) = match &hold.end {
                Some((at_us, how)) => (*at_us, how.as_str()),
                None => (last_us, "still held"),
            };
            let (from, until) = (column(hold.from_us), column(until_us));
            let row = format!("{}{}", " ".repeat(from), "=".repeat(until - from + 1));
            let token = match hold.token {
                0 => String::new(),
                token => format!(" token {token}"),
            };
            lines.push((
                hold.from_us,
                format!(
                    "{row:<64}  client {} holds {} of q{}{token}, {} to {} ms: {how}",
                    hold.client,
                    hold.name,
                    hold.queue,
                    hold.from_us / 1000,
                    until_us / 1000
                ),
            ));
        }
        lines.sort_by_key(|(at_us, _)| *at_us);
        let mut text = format!(
            "0 to {} ms; = a message is held, ! a fault meets a request or the server\n",
            last_us / 1000
        );
        for (_, line) in lines {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}
