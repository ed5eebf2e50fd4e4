//! What has happened to a table, and what can be asked of that.

use std::collections::BTreeSet;

use leaseline_core::renewal::{Action, Counts, Outcome, Started, Stopping, Token};
use proptest::prelude::*;

use crate::play::{Play, TOKENS, steps};

/// What a host and its table have told each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Start(Token, u64, Started),
    Stop(Token, bool, Stopping),
    Extend(Token, u64),
    /// An extension has ended, one that runs or not, and what the table wants then.
    Ended(Token, Outcome, Option<Action>),
    /// A waited stop is complete.
    Stopped(Token),
    StopTimedOut(Token),
    /// The table was asked what is due, and has said it all.
    Polled,
    /// The task that ran the extensions has died.
    Died,
}

/// One thing that happened, and how it left the table.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) now_ms: u64,
    pub(crate) event: Event,
    pub(crate) active: BTreeSet<Token>,
    pub(crate) next_due_ms: Option<u64>,
    pub(crate) counts: Counts,
}

/// What comes of random commands, ends of requests and time.
pub(crate) fn history() -> impl Strategy<Value = Vec<Moment>> {
    steps().prop_map(|steps| {
        let mut play = Play::new();
        for step in steps {
            play.step(step);
        }
        play.moments
    })
}

/// A request of one renewal: where in the history it begins and where it ends, or is cancelled. None:
/// it runs at the end, or another one began before it ended.
pub(crate) fn requests(history: &[Moment], token: Token) -> Vec<(usize, Option<usize>)> {
    let mut requests: Vec<(usize, Option<usize>)> = Vec::new();
    for (at, moment) in history.iter().enumerate() {
        match moment.event {
            Event::Extend(of, _) if of == token => requests.push((at, None)),
            Event::Ended(of, ..)
            | Event::Stop(of, _, Stopping::Cancel)
            | Event::StopTimedOut(of)
                if of != token => {}
            Event::Ended(..)
            | Event::Stop(_, _, Stopping::Cancel)
            | Event::StopTimedOut(_)
            | Event::Died => {
                if let Some((_, end @ None)) = requests.last_mut() {
                    *end = Some(at);
                }
            }
            _ => {}
        }
    }
    requests
}

/// Whether a request of the renewal runs before this moment.
pub(crate) fn runs_before(history: &[Moment], token: Token, at: usize) -> bool {
    let requests = requests(history, token);
    let mut requests = requests.iter();
    requests.any(|(begin, end)| *begin < at && end.is_none_or(|end| end >= at))
}

/// What happens to the renewal from a moment on, until its token is started anew.
pub(crate) fn rest_of_life(history: &[Moment], token: Token, from: usize) -> &[Moment] {
    let rest = &history[from..];
    let anew = |moment: &Moment| matches!(moment.event, Event::Start(of, _, Started::Scheduled) if of == token);
    let end = rest.iter().position(anew).unwrap_or(rest.len());
    &rest[..end]
}

/// The requests that begin in a part of a history.
pub(crate) fn begun(part: &[Moment], token: Token) -> usize {
    let extends = |moment: &&Moment| matches!(moment.event, Event::Extend(of, _) if of == token);
    part.iter().filter(extends).count()
}

/// Where a waited stop is told to be complete, or over; it may be the stop itself.
pub(crate) fn stop_ends(history: &[Moment], token: Token, stop: usize) -> Option<usize> {
    let is_end = |moment: &Moment| match moment.event {
        Event::Stop(of, true, Stopping::Done) | Event::Stopped(of) | Event::StopTimedOut(of) => {
            of == token
        }
        Event::Ended(of, _, Some(Action::Stopped { .. })) => of == token,
        _ => false,
    };
    history[stop..]
        .iter()
        .position(is_end)
        .map(|ends| stop + ends)
}

/// All stops: where, of which renewal, and whether they wait.
pub(crate) fn stops(history: &[Moment]) -> impl Iterator<Item = (usize, Token, bool)> {
    history
        .iter()
        .enumerate()
        .filter_map(|(at, moment)| match moment.event {
            Event::Stop(token, wait, _) => Some((at, token, wait)),
            _ => None,
        })
}

pub(crate) fn tokens() -> impl Iterator<Item = Token> {
    (0..TOKENS).map(Token)
}
