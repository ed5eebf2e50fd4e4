//! Serving those who wait in `XREAD` and `XREADGROUP`.

use super::stream_read::Reading;
use crate::arguments::{is, stream_id};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::Stream;
use crate::wait::Wait;

/// How many entries one who waited without `COUNT` gets at most.
const COUNT_AFTER_WAIT: usize = 1000;

/// The answer for one who waits, now that something has happened to one of the keys; none if the
/// wait goes on. This is not the call over again: errors differ, and there may be an answer
/// without entries.
pub(crate) fn read_on(state: &mut State, wait: &Wait, key: &[u8]) -> Option<Answer> {
    let call: Vec<&[u8]> = wait.call.iter().map(Vec::as_slice).collect();
    let grouped = is(call.first()?, "xreadgroup");
    let mut reading = Reading::parse(state, &call, grouped).ok()?;
    reading.count = reading.count.or(Some(COUNT_AFTER_WAIT));
    let now_ms = state.time.now_ms();
    let Ok(Some(stream)) = state.keys.find::<Stream>(key) else {
        return grouped.then_some(Err(Refusal::Text(
            "UNBLOCKED the stream key no longer exists",
        )));
    };
    let after = match reading.reader {
        Some(reader) => match stream.groups.get(reader.group) {
            Some(group) => group.last_delivered_id,
            None => {
                return Some(Err(Refusal::Text(
                    "NOGROUP the consumer group this client was blocked on no longer exists",
                )));
            }
        },
        None => {
            let place = reading.keys.iter().position(|wanted| *wanted == key)?;
            stream_id(reading.ids.get(place)?).ok()?
        }
    };
    // The entry may be gone again: then there is nothing in the answer.
    if stream.log.last_id <= after {
        return None;
    }
    let entries = reading.read_on(stream, after, now_ms);
    Some(Ok(state
        .shape()
        .map_or_pairs([(Reply::bulk(key), entries)])))
}
