//! Times in replies and in data: the clocks of the two servers differ a little.

use std::time::{SystemTime, UNIX_EPOCH};

use leaseline_redis_model::{Protocol, Reply};

use crate::wire;

/// How far the two clocks may be apart.
pub(crate) const TOLERANCE_MS: i64 = 2000;

/// Whether two replies to the same call are the same bytes, but for times near each other.
pub(crate) fn same_reply(argv: &[&[u8]], protocol: Protocol, real: &[u8], model: &[u8]) -> bool {
    if same_text(real, model) {
        return true;
    }
    let name = argv.first().map(|name| name.to_ascii_uppercase());
    let tolerance = match name.as_deref() {
        Some(b"TTL" | b"EXPIRETIME") => 2,
        Some(b"PTTL" | b"PEXPIRETIME") => TOLERANCE_MS,
        Some(b"XPENDING" | b"XINFO") => TOLERANCE_MS,
        _ => return false,
    };
    let (Some(real), Some(model)) = (wire::reply(real, protocol), wire::reply(model, protocol))
    else {
        return false;
    };
    match (&real, &model) {
        (Reply::Integer(real), Reply::Integer(model)) => {
            near(*real, *model, tolerance) && (*real < 0) == (*model < 0)
        }
        _ => {
            let (mut real_times, mut model_times) = (Vec::new(), Vec::new());
            without_times(&real, &mut real_times) == without_times(&model, &mut model_times)
                && all_near(&real_times, &model_times)
        }
    }
}

/// Whether two texts are the same but for times near each other: milliseconds since 1970 that are
/// less than a day away.
pub(crate) fn same_text(real: &[u8], model: &[u8]) -> bool {
    real == model || {
        let (real, real_times) = without_dates(real);
        let (model, model_times) = without_dates(model);
        real == model && all_near(&real_times, &model_times)
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as i64)
}

fn near(real: i64, model: i64, tolerance: i64) -> bool {
    real.abs_diff(model) <= tolerance.unsigned_abs()
}

fn all_near(real: &[i64], model: &[i64]) -> bool {
    let mut pairs = real.iter().zip(model);
    real.len() == model.len() && pairs.all(|(real, model)| near(*real, *model, TOLERANCE_MS))
}

fn without_dates(text: &[u8]) -> (Vec<u8>, Vec<i64>) {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let now = now_ms();
    let (mut rest, mut times) = (Vec::new(), Vec::new());
    for run in text.chunk_by(|one, two| one.is_ascii_digit() == two.is_ascii_digit()) {
        let number = str::from_utf8(run).ok().and_then(|run| run.parse().ok());
        match number {
            Some(time) if near(time, now, DAY_MS) => times.push(time),
            _ => rest.extend_from_slice(run),
        }
    }
    (rest, times)
}

/// A reply of a command on pending entries without its times, which go into the list.
fn without_times(reply: &Reply, times: &mut Vec<i64>) -> Reply {
    match reply {
        // A pending entry of a group: id, consumer, time, deliveries. Of a consumer: without it.
        Reply::Array(items) => match items.as_slice() {
            [
                id @ Reply::Bulk(_),
                name @ Reply::Bulk(_),
                Reply::Integer(time),
                count,
            ] => {
                times.push(*time);
                Reply::Array(vec![
                    id.clone(),
                    name.clone(),
                    Reply::Integer(0),
                    count.clone(),
                ])
            }
            [id @ Reply::Bulk(_), Reply::Integer(time), count] => {
                times.push(*time);
                Reply::Array(vec![id.clone(), Reply::Integer(0), count.clone()])
            }
            _ => {
                let mut taken = Vec::new();
                for item in items {
                    taken.push(match (taken.last(), item) {
                        (Some(name), Reply::Integer(time)) if names_time(name) => {
                            times.push(*time);
                            Reply::Integer(0)
                        }
                        _ => without_times(item, times),
                    });
                }
                Reply::Array(taken)
            }
        },
        Reply::Map(pairs) => Reply::Map(
            pairs
                .iter()
                .map(|(name, value)| match value {
                    Reply::Integer(time) if names_time(name) => {
                        times.push(*time);
                        (name.clone(), Reply::Integer(0))
                    }
                    _ => (name.clone(), without_times(value, times)),
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

fn names_time(name: &Reply) -> bool {
    matches!(name, Reply::Bulk(name) if name == b"idle" || name == b"seen-time")
}
