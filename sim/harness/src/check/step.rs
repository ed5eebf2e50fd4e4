//! One executed command, as a checker sees it: the serial log, one entry at a time.

use super::answer::{Answer, ClaimAnswer};
use super::command::Command;
use crate::case::Settings;
use crate::view::{Id, Message, Names, View};

/// What faults so far excuse in one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Excuse {
    /// A call inside a script failed, which no server does to a lone call: what describes claims
    /// may be left over. Messages and leases are not excused.
    pub(crate) torn: bool,
    /// A key was evicted: messages may be gone, or stuck.
    pub(crate) evicted: bool,
    /// The server's clock jumped: deadlines may lie in the past or far ahead.
    pub(crate) clock: bool,
    /// The server forgot scripts: a token that it gave may be drawn again for something else.
    pub(crate) lost: bool,
}

/// One entry of the log.
pub(crate) struct Step<'a> {
    pub(crate) number: u64,
    /// Server time when it began, in milliseconds.
    pub(crate) server_ms: u64,
    /// Server time when it ended: later only where time passes inside scripts.
    pub(crate) ended_ms: u64,
    pub(crate) client: usize,
    pub(crate) queue: usize,
    pub(crate) command: &'a Command<'a>,
    pub(crate) answer: Answer,
    /// The message that the command is about, where it names one.
    pub(crate) message: Option<Message>,
    /// The leases that a renewal names, in the order of its answers.
    pub(crate) renewals: Vec<(Message, u64)>,
    pub(crate) ids: Vec<Id>,
    /// Whether its operation had been answered before.
    pub(crate) marker_before: bool,
    /// What its marker says now, and for how many milliseconds from its end, if that ends.
    pub(crate) marker_after: Option<(i64, Option<u64>)>,
    /// Whether a script ran.
    pub(crate) ran: bool,
    pub(crate) calls: u64,
    /// The call that was made to fail.
    pub(crate) failed_call: Option<u64>,
    pub(crate) undeclared: &'a [Vec<u8>],
    /// A claim that this one answered and whose record has no key with a time to live.
    pub(crate) missing_record: Option<Id>,
    /// A claim that this one ended and whose record still has its key.
    pub(crate) left_record: Option<Id>,
    pub(crate) before: &'a View,
    pub(crate) after: &'a View,
    pub(crate) names: &'a Names,
    pub(crate) excuse: &'a Excuse,
    pub(crate) settings: &'a Settings,
}

impl Step<'_> {
    pub(crate) fn script(&self) -> &'static str {
        self.command.script
    }

    /// Whether it ran to its end as it was meant to.
    pub(crate) fn is_clean(&self) -> bool {
        self.ran
            && self.failed_call.is_none()
            && !matches!(self.answer, Answer::Error(_))
            && !matches!(&self.answer, Answer::Claim(claim) if claim.failed)
    }

    /// Whether it applied an operation for the first time: it answered a positive number.
    pub(crate) fn applied(&self) -> bool {
        self.ran && !self.marker_before && matches!(self.answer, Answer::Int(1..))
    }

    pub(crate) fn claim(&self) -> Option<&ClaimAnswer> {
        match &self.answer {
            Answer::Claim(claim) => Some(claim),
            _ => None,
        }
    }

    pub(crate) fn changed(&self) -> bool {
        self.before != self.after
    }

    /// A message for people.
    pub(crate) fn show(&self, message: Message) -> String {
        match self.names.payload_of(message) {
            crate::view::Payload::UNKNOWN => format!("foreign message {}", message.0),
            payload => format!("m{}", payload.0),
        }
    }

    /// The entry for people.
    pub(crate) fn line(&self) -> String {
        let what = match self.script() {
            "" => self
                .command
                .argv
                .iter()
                .take(2)
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect::<Vec<_>>()
                .join(" "),
            script => script.to_owned(),
        };
        let about = self
            .message
            .map(|message| format!(" {}", self.show(message)))
            .unwrap_or_default();
        let token = match self.command.token {
            0 => String::new(),
            token => format!(" token {token}"),
        };
        let ids: Vec<String> = self.ids.iter().map(|id| format!("c{}", id.0)).collect();
        let answer = match &self.answer {
            Answer::Error(line) => line.clone(),
            Answer::Int(number) => number.to_string(),
            Answer::Numbers(numbers) => format!("{numbers:?}"),
            Answer::Other => "ok".into(),
            Answer::Claim(claim) => {
                let grants = claim.grants.iter().map(|grant| {
                    let again = if grant.replayed { " again" } else { "" };
                    format!(
                        "{} token {}{again} for c{}",
                        self.show(grant.message),
                        grant.token,
                        grant.id.0
                    )
                });
                let mut parts: Vec<String> = grants.collect();
                if claim.reclaimed > 0 {
                    parts.push(format!("{} reclaimed", claim.reclaimed));
                }
                if claim.dead > 0 {
                    parts.push(format!("{} dead-lettered", claim.dead));
                }
                if claim.failed {
                    parts.push("stopped early".into());
                }
                if parts.is_empty() {
                    "nothing".into()
                } else {
                    parts.join(", ")
                }
            }
        };
        let again = if self.marker_before {
            " (answered before)"
        } else {
            ""
        };
        let failed = self
            .failed_call
            .map(|call| format!(" [call {call} failed]"))
            .unwrap_or_default();
        format!(
            "      server {:>8} ms  client {} q{} {what}{about}{token} {}{again}{failed} -> {answer}",
            self.server_ms % 100_000_000,
            self.client,
            self.queue,
            ids.join(" "),
        )
    }
}
