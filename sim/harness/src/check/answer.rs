//! What a command answered, read for checkers.

use leaseline_redis_model::Reply;

use super::command::{Command, number};
use crate::view::{Id, Message, Names};

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
    /// What `stats` and `renew` answer.
    Numbers(Vec<i64>),
    Other,
}

impl Answer {
    pub(crate) fn read(command: &Command<'_>, reply: &Reply, names: &mut Names) -> Self {
        match reply {
            Reply::Error(line) => Self::Error(String::from_utf8_lossy(line).into_owned()),
            Reply::Integer(number) => Self::Int(*number),
            Reply::Array(items) if command.is_claim() => Self::Claim(claim(command, items, names)),
            Reply::Array(items) if matches!(command.script, "stats" | "renew") => {
                Self::Numbers(items.iter().map(|item| int(Some(item)) as i64).collect())
            }
            _ => Self::Other,
        }
    }
}

fn int(reply: Option<&Reply>) -> u64 {
    match reply {
        Some(Reply::Integer(number)) => *number as u64,
        Some(Reply::Bulk(text)) => number(text),
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
