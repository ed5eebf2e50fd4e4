//! Taking over what other consumers of a stream have not acknowledged.

use super::stream_pending::find_group;
use super::stream_range::entry;
use super::{Entry, data};
use crate::arguments::{is, range_start, shown, stream_id};
use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{Group, Pending, StreamEntry, StreamId};

pub(super) const COMMANDS: &[Entry] = &[data("xclaim", claim), data("xautoclaim", claim_all)];

/// How a claimed entry changes hands.
struct Transfer<'a> {
    consumer: &'a [u8],
    /// Entries that were delivered more recently stay where they are.
    min_idle_ms: i64,
    now_ms: i64,
    delivered_at_ms: i64,
    /// How often it has been delivered, if that is set.
    deliveries: Option<i64>,
    /// Whether only ids are answered. The delivery does not count then.
    ids_only: bool,
}

impl Transfer<'_> {
    /// Whether a pending entry has been left alone for long enough.
    fn may_take(&self, pending: &Pending) -> bool {
        self.min_idle_ms <= 0 || pending.idle_ms(self.now_ms) >= self.min_idle_ms
    }

    /// Gives an entry to the consumer, and answers it.
    fn take(&self, group: &mut Group, found: &StreamEntry) -> Reply {
        group.see(self.consumer, self.now_ms);
        let pending = group.pending.entry(found.id).or_insert(Pending {
            consumer: Vec::new(),
            delivered_at_ms: 0,
            deliveries: 1,
        });
        pending.consumer = self.consumer.to_vec();
        pending.delivered_at_ms = self.delivered_at_ms;
        pending.deliveries = match self.deliveries {
            Some(deliveries) => deliveries,
            None if self.ids_only => pending.deliveries,
            None => pending.deliveries.wrapping_add(1),
        };
        match self.ids_only {
            true => Reply::bulk(found.id.to_string()),
            false => entry(found),
        }
    }
}

/// The options of `XCLAIM`.
struct Claim<'a> {
    ids: Vec<StreamId>,
    transfer: Transfer<'a>,
    /// Whether entries that are not pending are claimed, too.
    force: bool,
    last_id: StreamId,
}

impl<'a> Claim<'a> {
    fn parse(argv: &[&'a [u8]], now_ms: i64) -> Result<Self, Refusal> {
        let min_idle_ms = named(argv[4], "ERR Invalid min-idle-time argument for XCLAIM")?;
        let words = &argv[5..];
        let ids: Vec<_> = words
            .iter()
            .map_while(|text| StreamId::parse(text, 0))
            .collect();
        let mut rest = &words[ids.len()..];
        let mut delivered_at_ms = now_ms;
        let (mut deliveries, mut ids_only) = (None, false);
        let (mut force, mut last_id) = (false, StreamId::MIN);
        while let [option, after @ ..] = rest {
            rest = match after {
                _ if is(option, "force") => {
                    force = true;
                    after
                }
                _ if is(option, "justid") => {
                    ids_only = true;
                    after
                }
                [value, after @ ..] if is(option, "idle") => {
                    let idle = named(value, "ERR Invalid IDLE option argument for XCLAIM")?;
                    delivered_at_ms = now_ms.wrapping_sub(idle);
                    after
                }
                [value, after @ ..] if is(option, "time") => {
                    delivered_at_ms = named(value, "ERR Invalid TIME option argument for XCLAIM")?;
                    after
                }
                [value, after @ ..] if is(option, "retrycount") => {
                    let count = named(value, "ERR Invalid RETRYCOUNT option argument for XCLAIM")?;
                    deliveries = Some(count).filter(|count| *count >= 0);
                    after
                }
                [value, after @ ..] if is(option, "lastid") => {
                    last_id = stream_id(value)?;
                    after
                }
                _ => {
                    return Err(Refusal::line(&[
                        &"ERR Unrecognized XCLAIM option '",
                        &shown(option),
                        &"'",
                    ]));
                }
            };
        }
        // What lies in the future, or before all time, is taken for now.
        if !(0..=now_ms).contains(&delivered_at_ms) {
            delivered_at_ms = now_ms;
        }
        Ok(Claim {
            ids,
            transfer: Transfer {
                consumer: argv[3],
                min_idle_ms,
                now_ms,
                delivered_at_ms,
                deliveries,
                ids_only,
            },
            force,
            last_id,
        })
    }
}

fn named(text: &[u8], error: &'static str) -> Result<i64, Refusal> {
    number::parse_integer(text).ok_or(Refusal::Text(error))
}

fn claim(state: &mut State, argv: &[&[u8]]) -> Answer {
    let now_ms = state.time.now_ms();
    let (log, group) = find_group(&mut state.keys, argv[1], argv[2])?;
    let claim = Claim::parse(argv, now_ms)?;
    group.last_delivered_id = group.last_delivered_id.max(claim.last_id);
    let mut claimed = Vec::new();
    for id in claim.ids {
        let Some(found) = log.get(id) else {
            group.pending.remove(&id);
            continue;
        };
        let take = match group.pending.get(&id) {
            Some(pending) => claim.transfer.may_take(pending),
            None => claim.force,
        };
        if take {
            claimed.push(claim.transfer.take(group, found));
        }
    }
    Ok(Reply::Array(claimed))
}

/// The options of `XAUTOCLAIM`.
struct Sweep {
    from: StreamId,
    count: usize,
    ids_only: bool,
}

/// `XAUTOCLAIM` looks at so many entries for each that it may claim.
const LOOKS_PER_CLAIM: usize = 10;

impl Sweep {
    fn parse(argv: &[&[u8]]) -> Result<Self, Refusal> {
        let mut sweep = Sweep {
            from: range_start(argv[5])?,
            count: 100,
            ids_only: false,
        };
        let mut rest = &argv[6..];
        while let [option, after @ ..] = rest {
            rest = match after {
                [value, after @ ..] if is(option, "count") => {
                    const MOST: i64 = i64::MAX / 16;
                    let count = number::parse_integer(value);
                    let count = count.filter(|count| (1..=MOST).contains(count));
                    let count = count.ok_or(Refusal::Text("ERR COUNT must be > 0"))?;
                    sweep.count = count as usize;
                    after
                }
                _ if is(option, "justid") => {
                    sweep.ids_only = true;
                    after
                }
                _ => return Err(Refusal::Syntax),
            };
        }
        Ok(sweep)
    }
}

fn claim_all(state: &mut State, argv: &[&[u8]]) -> Answer {
    let min_idle_ms = named(argv[4], "ERR Invalid min-idle-time argument for XAUTOCLAIM")?;
    let sweep = Sweep::parse(argv)?;
    let now_ms = state.time.now_ms();
    let (log, group) = find_group(&mut state.keys, argv[1], argv[2])?;
    // It makes room for as many ids as it may find deleted: 16 bytes each, of 47 bits.
    if sweep.count >= 1 << 43 {
        return Err(Refusal::Text(
            "ERR Insufficient memory, failed allocating transient memory, COUNT too high.",
        ));
    }
    let transfer = Transfer {
        consumer: argv[3],
        min_idle_ms,
        now_ms,
        delivered_at_ms: now_ms,
        deliveries: None,
        ids_only: sweep.ids_only,
    };
    let (mut claimed, mut deleted) = (Vec::new(), Vec::new());
    let ids = group.pending.range(sweep.from..).map(|(id, _)| *id);
    let mut ids = ids.collect::<Vec<_>>().into_iter();
    let (mut room, mut looks) = (sweep.count, sweep.count.saturating_mul(LOOKS_PER_CLAIM));
    while room > 0
        && looks > 0
        && let Some(id) = ids.next()
    {
        looks -= 1;
        match (log.get(id), group.pending.get(&id)) {
            (None, _) => {
                group.pending.remove(&id);
                deleted.push(id.to_string());
            }
            (Some(found), Some(pending)) if transfer.may_take(pending) => {
                claimed.push(transfer.take(group, found));
            }
            _ => continue,
        }
        room -= 1;
    }
    Ok(Reply::Array(vec![
        Reply::bulk(ids.next().unwrap_or_default().to_string()),
        Reply::Array(claimed),
        Reply::bulks(deleted),
    ]))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn bad_claims() {
        let mut server = TestServer::new();
        for (command, reply) in [
            (
                "XCLAIM s g c 0 1-1",
                "-NOGROUP No such key 's' or consumer group 'g'",
            ),
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XGROUP CREATE s g 0", "+OK"),
            (
                "XCLAIM s g c x 1-1",
                "-ERR Invalid min-idle-time argument for XCLAIM",
            ),
            (
                "XCLAIM s g c 0 1-1 NOSUCH",
                "-ERR Unrecognized XCLAIM option 'NOSUCH'",
            ),
            (
                "XCLAIM s g c 0 1-1 IDLE",
                "-ERR Unrecognized XCLAIM option 'IDLE'",
            ),
            (
                "XCLAIM s g c 0 1-1 IDLE x",
                "-ERR Invalid IDLE option argument for XCLAIM",
            ),
            (
                "XCLAIM s g c 0 1-1 TIME x",
                "-ERR Invalid TIME option argument for XCLAIM",
            ),
            (
                "XCLAIM s g c 0 1-1 RETRYCOUNT x",
                "-ERR Invalid RETRYCOUNT option argument for XCLAIM",
            ),
            (
                "XCLAIM s g c 0 1-1 LASTID x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            ("XCLAIM s g c 0 1-1", "*0"),
            (
                "XAUTOCLAIM s g c x 0",
                "-ERR Invalid min-idle-time argument for XAUTOCLAIM",
            ),
            (
                "XAUTOCLAIM s g c 0 x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            ("XAUTOCLAIM s g c 0 0 COUNT 0", "-ERR COUNT must be > 0"),
            ("XAUTOCLAIM s g c 0 0 NOSUCH", "-ERR syntax error"),
            (
                "XAUTOCLAIM s h c 0 0",
                "-NOGROUP No such key 's' or consumer group 'h'",
            ),
            ("XINFO CONSUMERS s g", "*0"),
            ("SET str v", "+OK"),
            (
                "XCLAIM str g c 0 1-1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            (
                "XAUTOCLAIM str g c 0 0",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn entries_change_hands() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 2", "$3 2-1"),
            ("XADD s 3-1 a 3", "$3 3-1"),
            ("XGROUP CREATE s g 0", "+OK"),
            (
                "XREADGROUP GROUP g c COUNT 2 STREAMS s >",
                "*1 *2 $1 s *2 *2 $3 1-1 *2 $1 a $1 1 *2 $3 2-1 *2 $1 a $1 2",
            ),
            ("XCLAIM s g d 50000 1-1", "*0"),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :1 $7 pending :2 $17 last-delivered-id $3 2-1 $12 entries-read :2 $3 lag :1",
            ),
            ("XCLAIM s g d -1 1-1 3-1", "*1 *2 $3 1-1 *2 $1 a $1 1"),
            ("XCLAIM s g d 0 2-1 JUSTID IDLE 60000", "*1 $3 2-1"),
            (
                "XCLAIM s g d 0 3-1 FORCE RETRYCOUNT 7",
                "*1 *2 $3 3-1 *2 $1 a $1 3",
            ),
            ("XPENDING s g", "*4 :3 $3 1-1 $3 3-1 *1 *2 $1 d $1 3"),
            (
                "XCLAIM s g e 50000 1-1 2-1 3-1 TIME 99999999999999",
                "*1 *2 $3 2-1 *2 $1 a $1 2",
            ),
            ("XCLAIM s g e 0 1-1 JUSTID LASTID 9-9", "*1 $3 1-1"),
            (
                "XINFO GROUPS s",
                "*1 *12 $4 name $1 g $9 consumers :3 $7 pending :3 $17 last-delivered-id $3 9-9 $12 entries-read :2 $3 lag :1",
            ),
            (
                "XAUTOCLAIM s g f 0 0 COUNT 1",
                "*3 $3 2-1 *1 *2 $3 1-1 *2 $1 a $1 1 *0",
            ),
            ("XAUTOCLAIM s g f 0 (2-1 JUSTID", "*3 $3 0-0 *1 $3 3-1 *0"),
            ("XAUTOCLAIM s g f 50000 -", "*3 $3 0-0 *0 *0"),
            (
                "XPENDING s g - + 9",
                "*3 *4 $3 1-1 $1 f :0 :3 *4 $3 2-1 $1 e :0 :2 *4 $3 3-1 $1 f :0 :7",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn deleted_entries_are_forgotten() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 2", "$3 2-1"),
            ("XADD s 3-1 a 3", "$3 3-1"),
            ("XADD s 4-1 a 3", "$3 4-1"),
            ("XGROUP CREATE s g 0", "+OK"),
            (
                "XREADGROUP GROUP g c STREAMS s >",
                "*1 *2 $1 s *4 *2 $3 1-1 *2 $1 a $1 1 *2 $3 2-1 *2 $1 a $1 2 *2 $3 3-1 *2 $1 a $1 3 *2 $3 4-1 *2 $1 a $1 3",
            ),
            ("XDEL s 1-1 3-1 4-1", ":3"),
            ("XCLAIM s g d 0 1-1 9-9", "*0"),
            (
                "XAUTOCLAIM s g d 0 0 COUNT 2 JUSTID",
                "*3 $3 4-1 *1 $3 2-1 *1 $3 3-1",
            ),
            (
                "XAUTOCLAIM s g d 0 0",
                "*3 $3 0-0 *1 *2 $3 2-1 *2 $1 a $1 2 *1 $3 4-1",
            ),
            ("XPENDING s g", "*4 :1 $3 2-1 $3 2-1 *1 *2 $1 d $1 1"),
        ] {
            server.expect(command, reply);
        }
    }
}
