//! Replies with times in them: the clocks of the two servers differ a little.

use leaseline_redis_model::Reply;

/// A reply to a call with 0 in place of each time, and the times.
pub(crate) fn taken_out(argv: &[&[u8]], reply: &Reply) -> (Reply, Vec<i64>) {
    let mut times = Vec::new();
    let has_times = [&b"XPENDING"[..], b"XINFO"];
    let reply = match argv {
        [name, ..] if has_times.iter().any(|word| name.eq_ignore_ascii_case(word)) => {
            without_times(reply, &mut times)
        }
        _ => reply.clone(),
    };
    (reply, times)
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
