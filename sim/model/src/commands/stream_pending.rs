//! What consumers of streams have not acknowledged: `XACK`, `XPENDING`.

use super::{Entry, data};
use crate::arguments::{integer, is, range_end, range_start, shown, stream_id};
use crate::keyspace::Keyspace;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{Group, Log, Pending, Stream, StreamId};

pub(super) const COMMANDS: &[Entry] = &[data("xack", acknowledge), data("xpending", pending)];

/// A stream and one of its groups, which must be there.
pub(super) fn find_group<'a>(
    keys: &'a mut Keyspace,
    key: &[u8],
    group: &[u8],
) -> Result<(&'a Log, &'a mut Group), Refusal> {
    let found = keys.find::<Stream>(key)?.and_then(|stream| {
        let found = stream.groups.get_mut(group)?;
        Some((&stream.log, found))
    });
    found.ok_or_else(|| {
        Refusal::line(&[
            &"NOGROUP No such key '",
            &shown(key),
            &"' or consumer group '",
            &shown(group),
            &"'",
        ])
    })
}

fn acknowledge(state: &mut State, argv: &[&[u8]]) -> Answer {
    let stream = state.keys.find::<Stream>(argv[1])?;
    // A missing key or group is 0 whatever follows.
    let Some(group) = stream.and_then(|stream| stream.groups.get_mut(argv[2])) else {
        return Ok(Reply::Integer(0));
    };
    let ids: Vec<_> = argv[3..]
        .iter()
        .map(|text| stream_id(text))
        .collect::<Result<_, _>>()?;
    let known = ids.iter().filter(|id| group.pending.remove(id).is_some());
    Ok(Reply::count(known.count()))
}

/// The part of a call of `XPENDING` that asks for single entries.
struct Listing<'a> {
    from: StreamId,
    to: StreamId,
    count: usize,
    min_idle_ms: i64,
    consumer: Option<&'a [u8]>,
}

impl<'a> Listing<'a> {
    /// Reads what follows the group.
    fn parse(words: &[&'a [u8]]) -> Result<Option<Self>, Refusal> {
        if words.is_empty() {
            return Ok(None);
        }
        if !(3..=6).contains(&words.len()) {
            return Err(Refusal::Syntax);
        }
        let (min_idle_ms, words) = match words {
            [option, idle, rest @ ..] if is(option, "idle") => (integer(idle)?, rest),
            _ => (0, words),
        };
        // What follows the consumer is ignored.
        let [from, to, count, consumer @ ..] = words else {
            return Err(Refusal::Syntax);
        };
        let count = usize::try_from(integer(count)?).unwrap_or(0);
        Ok(Some(Listing {
            from: range_start(from)?,
            to: range_end(to)?,
            count,
            min_idle_ms,
            consumer: consumer.first().copied(),
        }))
    }

    fn wants(&self, pending: &Pending, now_ms: i64) -> bool {
        let idle = self.min_idle_ms <= 0 || pending.idle_ms(now_ms) >= self.min_idle_ms;
        let consumer = self.consumer;
        idle && consumer.is_none_or(|consumer| consumer == pending.consumer)
    }
}

fn pending(state: &mut State, argv: &[&[u8]]) -> Answer {
    let listing = Listing::parse(&argv[3..])?;
    let now_ms = state.time.now_ms();
    let (_, group) = find_group(&mut state.keys, argv[1], argv[2])?;
    let Some(listing) = listing else {
        return Ok(summary(group));
    };
    if listing.from > listing.to {
        return Ok(Reply::Array(vec![]));
    }
    let all = group.pending.range(listing.from..=listing.to);
    let wanted = all.filter(|(_, pending)| listing.wants(pending, now_ms));
    let items = wanted.take(listing.count).map(|(id, pending)| {
        Reply::Array(vec![
            Reply::bulk(id.to_string()),
            Reply::bulk(pending.consumer.clone()),
            Reply::Integer(pending.idle_ms(now_ms).max(0)),
            Reply::Integer(pending.deliveries),
        ])
    });
    Ok(Reply::Array(items.collect()))
}

/// How much is pending, between which ids, and for whom.
fn summary(group: &Group) -> Reply {
    let end = |entry: Option<(&StreamId, &Pending)>| {
        Reply::bulk_or_nil(entry.map(|(id, _)| id.to_string().into_bytes()))
    };
    let pending = &group.pending;
    let consumers = match pending.is_empty() {
        true => Reply::NilArray,
        false => Reply::Array(
            group
                .consumers()
                .map(|(name, _)| (name, group.pending_of(name).count()))
                .filter(|(_, count)| *count > 0)
                .map(|(name, count)| {
                    Reply::Array(vec![Reply::bulk(name), Reply::bulk(count.to_string())])
                })
                .collect(),
        ),
    };
    Reply::Array(vec![
        Reply::count(pending.len()),
        end(pending.first_key_value()),
        end(pending.last_key_value()),
        consumers,
    ])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::test_server::TestServer;

    #[test]
    fn acknowledging() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XACK none g x", ":0"),
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 2", "$3 2-1"),
            ("XACK s g x", ":0"),
            ("XGROUP CREATE s g 0", "+OK"),
            (
                "XREADGROUP GROUP g c STREAMS s >",
                "*1 *2 $1 s *2 *2 $3 1-1 *2 $1 a $1 1 *2 $3 2-1 *2 $1 a $1 2",
            ),
            (
                "XACK s g 1-1 x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            ("XACK s g 1-1 1-1 9-9", ":1"),
            ("XPENDING s g", "*4 :1 $3 2-1 $3 2-1 *1 *2 $1 c $1 1"),
            ("XACK s g 2-1", ":1"),
            ("XPENDING s g", "*4 :0 $-1 $-1 *-1"),
            ("SET str v", "+OK"),
            (
                "XACK str g 1-1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn pending_entries_are_listed() {
        let mut server = TestServer::new();
        for command in [
            "XADD s 1-1 a 1",
            "XADD s 2-1 a 2",
            "XGROUP CREATE s g 0",
            "XREADGROUP GROUP g c COUNT 1 STREAMS s >",
        ] {
            server.run(command);
        }
        server.advance(Duration::from_millis(70));
        server.run("XREADGROUP GROUP g d STREAMS s >");
        server.advance(Duration::from_millis(30));
        for (command, reply) in [
            ("XPENDING s g - +", "-ERR syntax error"),
            ("XPENDING s g IDLE 1 - +", "-ERR syntax error"),
            (
                "XPENDING s g - + x",
                "-ERR value is not an integer or out of range",
            ),
            (
                "XPENDING s g x + 9",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            (
                "XPENDING s h",
                "-NOGROUP No such key 's' or consumer group 'h'",
            ),
            (
                "XPENDING s g",
                "*4 :2 $3 1-1 $3 2-1 *2 *2 $1 c $1 1 *2 $1 d $1 1",
            ),
            (
                "XPENDING s g - + 9",
                "*2 *4 $3 1-1 $1 c :100 :1 *4 $3 2-1 $1 d :30 :1",
            ),
            ("XPENDING s g - + 1", "*1 *4 $3 1-1 $1 c :100 :1"),
            ("XPENDING s g (1-1 + 9", "*1 *4 $3 2-1 $1 d :30 :1"),
            ("XPENDING s g - + 9 d", "*1 *4 $3 2-1 $1 d :30 :1"),
            ("XPENDING s g IDLE 100 - + 9", "*1 *4 $3 1-1 $1 c :100 :1"),
            ("XPENDING s g IDLE 101 - + 9", "*0"),
            ("XPENDING s g + - 9", "*0"),
            ("XPENDING s g - + -1", "*0"),
            ("XPENDING s g - + 9 nobody", "*0"),
        ] {
            server.expect(command, reply);
        }
    }
}
