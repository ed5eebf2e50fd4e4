//! One executed command, as a checker sees it: the serial log, one entry at a time.

use leaseline_redis_model::Reply;

use crate::case::Settings;
use crate::view::{Id, Message, Names, View, queue_of};

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
}

/// A command by its parts.
#[derive(Debug)]
pub(crate) struct Command<'a> {
    pub(crate) argv: &'a [&'a [u8]],
    /// The script's name, or nothing.
    pub(crate) script: &'static str,
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) args: &'a [&'a [u8]],
    pub(crate) queue: Option<usize>,
    pub(crate) marker: Option<&'a [u8]>,
    pub(crate) stored: Option<&'a [u8]>,
    pub(crate) token: u64,
    /// The claim ids of a claim.
    pub(crate) ids: &'a [&'a [u8]],
    /// The deduplication key, where there is one.
    pub(crate) deduplication: Option<&'a [u8]>,
}

/// Where scripts have their marker, their message and their token: `lua/README.md`.
fn roles(script: &str) -> (Option<usize>, Option<usize>, Option<usize>) {
    match script {
        "add" => (Some(1), Some(0), None),
        "publish" => (Some(2), Some(1), None),
        "delay" => (Some(5), Some(0), None),
        "move" => (Some(4), Some(0), None),
        "remove" => (Some(3), Some(0), None),
        "move_lease" => (Some(8), Some(0), Some(2)),
        "remove_lease" => (Some(7), Some(0), Some(1)),
        "release" => (Some(8), Some(0), Some(1)),
        "renew" => (None, Some(0), Some(1)),
        "redrive" | "purge" => (Some(2), None, None),
        "return" => (Some(4), Some(0), None),
        _ => (None, None, None),
    }
}

impl<'a> Command<'a> {
    pub(crate) fn new(script: &'static str, argv: &'a [&'a [u8]]) -> Self {
        let count = match argv {
            [_, _, count, ..] if !script.is_empty() => number(count) as usize,
            _ => 0,
        };
        let (keys, args): (&[&[u8]], &[&[u8]]) = match script {
            "" => (&[], &[]),
            _ => argv[3.min(argv.len())..].split_at(count.min(argv.len().saturating_sub(3))),
        };
        let (marker, stored, token) = roles(script);
        let first_key = keys.first().or_else(|| argv.get(1));
        Self {
            argv,
            script,
            keys,
            args,
            queue: first_key.and_then(|key| queue_of(key)),
            marker: marker.and_then(|at| keys.get(at).copied()),
            stored: stored.and_then(|at| args.get(at).copied()),
            token: token
                .and_then(|at| args.get(at))
                .map_or(0, |text| number(text)),
            ids: match script {
                "claim" => args.get(2..).unwrap_or_default(),
                "claim_lease" => args.get(4..).unwrap_or_default(),
                _ => &[],
            },
            deduplication: match script {
                "publish" => keys.first().copied(),
                "delay" => keys.get(6).copied(),
                _ => None,
            },
        }
    }

    pub(crate) fn is_claim(&self) -> bool {
        matches!(self.script, "claim" | "claim_lease")
    }
}

fn number(text: &[u8]) -> u64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// One message that a claim gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub(crate) id: Id,
    pub(crate) message: Message,
    /// 0 without leases.
    pub(crate) token: u64,
    pub(crate) deadline: u64,
    pub(crate) count: u64,
    pub(crate) replayed: bool,
}

/// What a claim answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClaimAnswer {
    pub(crate) grants: Vec<Grant>,
    /// Leases that this call found over, and gave back.
    pub(crate) reclaimed: u64,
    /// Messages that this call dead-lettered.
    pub(crate) dead: u64,
    /// Events of an earlier call, told again.
    pub(crate) told_again: u64,
    /// The call stopped early.
    pub(crate) failed: bool,
}

/// What a command answered.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Error(String),
    Int(i64),
    Claim(ClaimAnswer),
    /// What `stats` answers.
    Numbers(Vec<i64>),
    Other,
}

impl Answer {
    pub(crate) fn read(command: &Command<'_>, reply: &Reply, names: &mut Names) -> Self {
        match reply {
            Reply::Error(line) => Self::Error(String::from_utf8_lossy(line).into_owned()),
            Reply::Integer(number) => Self::Int(*number),
            Reply::Array(items) if command.is_claim() => Self::Claim(claim(command, items, names)),
            Reply::Array(items) if command.script == "stats" => {
                Self::Numbers(items.iter().map(|item| int(Some(item)) as i64).collect())
            }
            _ => Self::Other,
        }
    }
}

fn int(reply: Option<&Reply>) -> u64 {
    match reply {
        Some(Reply::Integer(number)) => *number as u64,
        Some(Reply::Bulk(text)) => self::number(text),
        _ => 0,
    }
}

fn bytes(reply: Option<&Reply>) -> &[u8] {
    match reply {
        Some(Reply::Bulk(bytes)) => bytes,
        _ => &[],
    }
}

fn claim(command: &Command<'_>, items: &[Reply], names: &mut Names) -> ClaimAnswer {
    let mut items = items.iter();
    let leased = command.script == "claim_lease";
    let mut answer = ClaimAnswer::default();
    for _ in 0..int(items.next()) {
        let position = int(items.next()) as usize;
        let message = names.message(bytes(items.next()));
        let (token, deadline, count) = match leased {
            true => (int(items.next()), int(items.next()), int(items.next())),
            false => (0, 0, 0),
        };
        let id = command
            .ids
            .get(position.wrapping_sub(1))
            .copied()
            .unwrap_or_default();
        answer.grants.push(Grant {
            id: names.id(id),
            message,
            token,
            deadline,
            count,
            replayed: int(items.next()) == 1,
        });
    }
    if leased {
        for _ in 0..int(items.next()) {
            let kind = bytes(items.next());
            let (_id, _count) = (items.next(), items.next());
            match (kind, int(items.next())) {
                (_, 1) => answer.told_again += 1,
                (b"reclaimed", _) => answer.reclaimed += 1,
                _ => answer.dead += 1,
            }
        }
        answer.failed = !bytes(items.next()).is_empty();
    }
    answer
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
    pub(crate) ids: Vec<Id>,
    /// Whether its operation had been answered before.
    pub(crate) marker_before: bool,
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
