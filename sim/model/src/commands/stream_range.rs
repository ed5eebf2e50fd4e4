//! Streams by range of ids.

use super::{Entry, data};
use crate::arguments::{integer, is, range_end, range_start};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{Stream, StreamEntry};

pub(super) const COMMANDS: &[Entry] = &[
    data("xlen", length),
    data("xrange", |state, argv| {
        range(state, argv, [argv[2], argv[3]], false)
    }),
    data("xrevrange", |state, argv| {
        range(state, argv, [argv[3], argv[2]], true)
    }),
];

/// An entry as commands answer it, in both protocols.
pub(super) fn entry(entry: &StreamEntry) -> Reply {
    let fields = entry.fields.iter().map(Vec::as_slice);
    Reply::Array(vec![
        Reply::bulk(entry.id.to_string()),
        Reply::bulks(fields),
    ])
}

fn length(state: &mut State, argv: &[&[u8]]) -> Answer {
    let stream = state.keys.find::<Stream>(argv[1])?;
    let length = stream.map_or(0, |stream| stream.log.len());
    Ok(Reply::Integer(length as i64))
}

fn range(state: &mut State, argv: &[&[u8]], [from, to]: [&[u8]; 2], newest_first: bool) -> Answer {
    let (from, to) = (range_start(from)?, range_end(to)?);
    let mut count = None;
    let (options, rest) = argv[4..].as_chunks::<2>();
    for [option, value] in options {
        if !is(option, "count") {
            return Err(Refusal::Syntax);
        }
        count = Some(usize::try_from(integer(value)?).unwrap_or(0));
    }
    if !rest.is_empty() {
        return Err(Refusal::Syntax);
    }
    let Some(stream) = state.keys.find::<Stream>(argv[1])? else {
        return Ok(Reply::Array(vec![]));
    };
    if count == Some(0) {
        return Ok(Reply::NilArray);
    }
    let count = count.unwrap_or(usize::MAX);
    let entries = stream.log.range(from, to);
    Ok(Reply::Array(match newest_first {
        true => entries.rev().take(count).map(entry).collect(),
        false => entries.take(count).map(entry).collect(),
    }))
}
