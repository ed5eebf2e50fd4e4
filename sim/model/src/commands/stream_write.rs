//! Streams by entry: adding and deleting, and setting what the stream remembers.

use super::stream_trim::TrimOptions;
use super::{Entry, data, wrong_arity};
use crate::arguments::{integer, is, stream_id};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{NewId, NotAdded, Stream, StreamId, Trim};

pub(super) const COMMANDS: &[Entry] = &[
    data("xadd", add),
    data("xdel", delete),
    data("xsetid", set_id),
];

/// A call of `XADD`.
struct Addition {
    may_create: bool,
    trim: Option<Trim>,
    id: NewId,
    fields: Vec<Vec<u8>>,
}

impl Addition {
    fn parse(argv: &[&[u8]]) -> Result<Self, Refusal> {
        let (mut may_create, mut id) = (true, None);
        let mut options = TrimOptions::default();
        let mut at = 2;
        while id.is_none() && at < argv.len() {
            let taken = options.read(&argv[at..])?;
            if taken > 0 {
                at += taken;
                continue;
            }
            if is(argv[at], "nomkstream") {
                may_create = false;
            } else {
                id = Some(NewId::parse(argv[at]).ok_or(Refusal::StreamId)?);
            }
            at += 1;
        }
        let trim = options.finish(false)?;
        let fields = argv.get(at..).unwrap_or_default();
        let pairs = !fields.is_empty() && fields.len().is_multiple_of(2);
        let id = id.filter(|_| pairs).ok_or_else(|| wrong_arity("xadd"))?;
        if id == NewId::Exactly(StreamId::MIN) {
            return Err(Refusal::Text(
                "ERR The ID specified in XADD must be greater than 0-0",
            ));
        }
        Ok(Addition {
            may_create,
            trim,
            id,
            fields: fields.iter().map(|word| word.to_vec()).collect(),
        })
    }
}

fn add(state: &mut State, argv: &[&[u8]]) -> Answer {
    let addition = Addition::parse(argv)?;
    let now_ms = state.time.now_ms();
    if !addition.may_create && state.keys.find::<Stream>(argv[1])?.is_none() {
        return Ok(Reply::Nil);
    }
    let log = &mut state.keys.find_or_create::<Stream>(argv[1])?.log;
    let added = log.add(addition.id, addition.fields, now_ms);
    let id = added.map_err(|why| {
        Refusal::Text(match why {
            NotAdded::NotGreater => {
                "ERR The ID specified in XADD is equal or smaller than the target stream top item"
            }
            // A server that has refused an id before may show that text here.
            NotAdded::ExhaustedWithin => "ERR Elements are too large to be stored",
            NotAdded::Exhausted => {
                "ERR The stream has exhausted the last possible ID, unable to add more items"
            }
        })
    })?;
    if let Some(trim) = addition.trim {
        log.trim(trim);
    }
    state.keys.touch(argv[1]);
    Ok(Reply::bulk(id.to_string()))
}

fn delete(state: &mut State, argv: &[&[u8]]) -> Answer {
    // A missing key is 0 whatever follows.
    let Some(stream) = state.keys.find::<Stream>(argv[1])? else {
        return Ok(Reply::Integer(0));
    };
    let ids: Vec<_> = argv[2..]
        .iter()
        .map(|text| stream_id(text))
        .collect::<Result<_, _>>()?;
    let deleted = ids.into_iter().filter(|id| stream.log.delete(*id)).count();
    if deleted > 0 {
        state.keys.touch_quietly(argv[1]);
    }
    Ok(Reply::count(deleted))
}

fn set_id(state: &mut State, argv: &[&[u8]]) -> Answer {
    let id = stream_id(argv[2])?;
    let (mut added, mut max_deleted) = (None, None);
    let (options, rest) = argv[3..].as_chunks::<2>();
    for [option, value] in options {
        if is(option, "entriesadded") {
            let count = integer(value)?;
            if count < 0 {
                return Err(Refusal::Text("ERR entries_added must be positive"));
            }
            added = Some(count);
        } else if is(option, "maxdeletedid") {
            let deleted = stream_id(value)?;
            if id < deleted {
                return Err(Refusal::Text(
                    "ERR The ID specified in XSETID is smaller than the provided \
                     max_deleted_entry_id",
                ));
            }
            max_deleted = Some(deleted).filter(|deleted| *deleted != StreamId::MIN);
        } else {
            return Err(Refusal::Syntax);
        }
    }
    if !rest.is_empty() {
        return Err(Refusal::Syntax);
    }
    let stream = state.keys.find::<Stream>(argv[1])?;
    let log = &mut stream.ok_or(Refusal::NoSuchKey)?.log;
    if id < log.last_entry_id() {
        return Err(Refusal::Text(
            "ERR The ID specified in XSETID is smaller than the target stream top item",
        ));
    }
    if added.is_some_and(|added| log.len() > added.unsigned_abs()) {
        return Err(Refusal::Text(
            "ERR The entries_added specified in XSETID is smaller than the target stream length",
        ));
    }
    log.last_id = id;
    log.entries_added = added.unwrap_or(log.entries_added);
    log.max_deleted_id = max_deleted.unwrap_or(log.max_deleted_id);
    Ok(Reply::ok())
}
