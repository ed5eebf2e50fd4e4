//! Reading streams: `XREAD` and, for consumer groups, `XREADGROUP`. Both may wait.

use super::stream_range::entry;
use super::{Entry, data};
use crate::arguments::{integer, is, shown, stream_id};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{Stream, StreamId};

pub(super) const COMMANDS: &[Entry] = &[
    data("xread", |state, argv| read(state, argv, false)),
    data("xreadgroup", |state, argv| read(state, argv, true)),
];

/// `>`: what the group has not delivered yet. Redis takes the greatest id for it.
const NEW: StreamId = StreamId::MAX;

/// A group and who reads for it.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) group: &'a [u8],
    consumer: &'a [u8],
    /// Whether what is read stays pending until it is acknowledged.
    acknowledges: bool,
}

/// A call of `XREAD` or `XREADGROUP`.
pub(super) struct Reading<'a> {
    pub(super) reader: Option<Reader<'a>>,
    pub(super) count: Option<usize>,
    /// When to give up waiting, if waiting is wanted.
    deadline_ms: Option<Option<i64>>,
    pub(super) keys: &'a [&'a [u8]],
    /// Where to read on in the stream of each key, as it was written.
    pub(super) ids: &'a [&'a [u8]],
}

impl<'a> Reading<'a> {
    pub(super) fn parse(
        state: &State,
        argv: &'a [&'a [u8]],
        grouped: bool,
    ) -> Result<Self, Refusal> {
        let mut reading = Reading {
            reader: None,
            count: None,
            deadline_ms: None,
            keys: &[],
            ids: &[],
        };
        let mut acknowledges = true;
        let mut rest = &argv[1..];
        while let [option, after @ ..] = rest {
            rest = match after {
                [value, after @ ..] if is(option, "block") => {
                    refuse_to_block_script(state, argv[0])?;
                    reading.deadline_ms = Some(state.deadline_of_milliseconds(value)?);
                    after
                }
                [value, after @ ..] if is(option, "count") => {
                    let count = usize::try_from(integer(value)?).unwrap_or(0);
                    reading.count = Some(count).filter(|count| *count > 0);
                    after
                }
                [_, ..] if is(option, "streams") => {
                    (reading.keys, reading.ids) = after.split_at(after.len() / 2);
                    break;
                }
                [group, consumer, after @ ..] if is(option, "group") => {
                    refuse_to_readers(grouped, "GROUP")?;
                    reading.reader = Some(Reader {
                        group,
                        consumer,
                        acknowledges: true,
                    });
                    after
                }
                _ if is(option, "noack") => {
                    refuse_to_readers(grouped, "NOACK")?;
                    acknowledges = false;
                    after
                }
                _ => return Err(Refusal::Syntax),
            };
        }
        if reading.keys.len() != reading.ids.len() {
            return Err(Refusal::Text(
                "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be \
                 specified.",
            ));
        }
        if reading.keys.is_empty() {
            return Err(Refusal::Syntax);
        }
        match &mut reading.reader {
            None if grouped => {
                return Err(Refusal::Text("ERR Missing GROUP option for XREADGROUP"));
            }
            None => {}
            Some(reader) => reader.acknowledges = acknowledges,
        }
        Ok(reading)
    }
    /// The id to read after in one of the streams, which must be there for a group.
    fn position(&self, state: &mut State, key: &[u8], id: &[u8]) -> Result<StreamId, Refusal> {
        let stream = state.keys.find::<Stream>(key)?;
        if let Some(reader) = self.reader
            && stream
                .as_ref()
                .is_none_or(|stream| !stream.groups.contains_key(reader.group))
        {
            return Err(Refusal::line(&[
                &"NOGROUP No such key '",
                &shown(key),
                &"' or consumer group '",
                &shown(reader.group),
                &"' in XREADGROUP with GROUP option",
            ]));
        }
        match (id, self.reader) {
            (b"$", Some(_)) => Err(Refusal::Text(
                "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the \
                 history of this consumer by specifying a proper ID, or use the > ID to get new \
                 messages. The $ ID would just return an empty result set.",
            )),
            (b"$", None) => Ok(stream.map(|stream| stream.log.last_id).unwrap_or_default()),
            (b">", Some(_)) => Ok(NEW),
            (b">", None) => Err(Refusal::Text(
                "ERR The > ID can be specified only when calling XREADGROUP using the GROUP \
                 <group> <consumer> option.",
            )),
            _ => stream_id(id),
        }
    }

    /// What there is to read in a stream, if anything.
    fn read(&self, stream: &mut Stream, after: StreamId, now_ms: i64) -> Option<Reply> {
        let after = match self.reader {
            Some(reader) if after != NEW => return self.history(stream, reader, after, now_ms),
            Some(reader) => stream.groups.get(reader.group)?.last_delivered_id,
            None => after,
        };
        let log = &stream.log;
        let has_more = log.len() > 0 && log.last_entry_id() > after;
        has_more.then(|| self.read_on(stream, after, now_ms))
    }

    /// The entries after an id, which are delivered if a group reads.
    pub(super) fn read_on(&self, stream: &mut Stream, after: StreamId, now_ms: i64) -> Reply {
        let Stream { log, groups } = stream;
        let reader = self.reader;
        let mut group = reader.and_then(|reader| groups.get_mut(reader.group));
        if let (Some(group), Some(reader)) = (&mut group, reader) {
            group.see(reader.consumer, now_ms);
        }
        let mut found = Vec::new();
        for read in log.after(after).take(self.count.unwrap_or(usize::MAX)) {
            if let (Some(group), Some(reader)) = (&mut group, reader) {
                group.pass(log, read.id);
                if reader.acknowledges {
                    group.deliver(read.id, reader.consumer, now_ms);
                }
            }
            found.push(entry(read));
        }
        Reply::Array(found)
    }

    /// What a consumer has read already and not acknowledged.
    fn history(
        &self,
        stream: &mut Stream,
        reader: Reader,
        after: StreamId,
        now_ms: i64,
    ) -> Option<Reply> {
        let group = stream.groups.get_mut(reader.group)?;
        group.see(reader.consumer, now_ms);
        let count = self.count.unwrap_or(usize::MAX);
        let again = group.deliver_again(&stream.log, after, reader.consumer, count, now_ms);
        let again = again.into_iter().map(|(id, found)| match found {
            Some(found) => entry(found),
            None => Reply::Array(vec![Reply::bulk(id.to_string()), Reply::NilArray]),
        });
        Some(Reply::Array(again.collect()))
    }
}

fn refuse_to_block_script(state: &State, name: &[u8]) -> Result<(), Refusal> {
    match state.in_script {
        false => Ok(()),
        true => Err(Refusal::line(&[
            &"ERR ",
            &shown(name),
            &" command is not allowed with BLOCK option from scripts",
        ])),
    }
}

fn refuse_to_readers(grouped: bool, option: &str) -> Result<(), Refusal> {
    match grouped {
        true => Ok(()),
        false => Err(Refusal::line(&[
            &"ERR The ",
            &option,
            &" option is only supported by XREADGROUP. You called XREAD instead.",
        ])),
    }
}

fn read(state: &mut State, argv: &[&[u8]], grouped: bool) -> Answer {
    let reading = Reading::parse(state, argv, grouped)?;
    let streams = reading.keys.iter().zip(reading.ids);
    let positions: Vec<_> = streams
        .map(|(key, id)| reading.position(state, key, id))
        .collect::<Result<_, _>>()?;
    let now_ms = state.time.now_ms();
    let mut found = Vec::new();
    for (key, after) in reading.keys.iter().zip(&positions) {
        let stream = state.keys.find::<Stream>(key)?;
        let read = stream.and_then(|stream| reading.read(stream, *after, now_ms));
        found.extend(read.map(|entries| (Reply::bulk(*key), entries)));
    }
    if !found.is_empty() {
        return Ok(state.shape().map_or_pairs(found));
    }
    let Some(deadline_ms) = reading.deadline_ms else {
        return Ok(Reply::NilArray);
    };
    // `$` stays what it is now.
    let positions: Vec<_> = positions.iter().map(StreamId::to_string).collect();
    let mut call = argv[..argv.len() - positions.len()].to_vec();
    call.extend(positions.iter().map(String::as_bytes));
    state.wait_or(Reply::NilArray, reading.keys, deadline_ms, &call)
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn bad_readings() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XREAD COUNT 1 STREAMS", "-ERR syntax error"),
            (
                "XREAD STREAMS s t 0",
                "-ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.",
            ),
            (
                "XREAD STREAMS s x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            (
                "XREAD STREAMS s >",
                "-ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.",
            ),
            (
                "XREAD NOACK STREAMS s 0",
                "-ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.",
            ),
            (
                "XREAD GROUP g c STREAMS s 0",
                "-ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.",
            ),
            (
                "XREAD BLOCK x STREAMS s 0",
                "-ERR timeout is not an integer or out of range",
            ),
            ("XREAD BLOCK -1 STREAMS s 0", "-ERR timeout is negative"),
            (
                "XREAD COUNT x STREAMS s 0",
                "-ERR value is not an integer or out of range",
            ),
            (
                "XREADGROUP STREAMS a b c d e f",
                "-ERR Missing GROUP option for XREADGROUP",
            ),
            (
                "XREADGROUP GROUP g c STREAMS s >",
                "-NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option",
            ),
            ("XGROUP CREATE s g 0 MKSTREAM", "+OK"),
            (
                "XREADGROUP GROUP g c STREAMS s $",
                "-ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.",
            ),
            (
                "XREADGROUP GROUP h c STREAMS s >",
                "-NOGROUP No such key 's' or consumer group 'h' in XREADGROUP with GROUP option",
            ),
            ("SET str v", "+OK"),
            (
                "XREAD STREAMS str 0",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            (
                "XREADGROUP GROUP g c STREAMS str >",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn reading_without_a_group() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 2", "$3 2-1"),
            ("XADD t 1-1 b 1", "$3 1-1"),
            (
                "XREAD STREAMS s 0",
                "*1 *2 $1 s *2 *2 $3 1-1 *2 $1 a $1 1 *2 $3 2-1 *2 $1 a $1 2",
            ),
            (
                "XREAD COUNT 1 STREAMS s t none 0 0 0",
                "*2 *2 $1 s *1 *2 $3 1-1 *2 $1 a $1 1 *2 $1 t *1 *2 $3 1-1 *2 $1 b $1 1",
            ),
            (
                "XREAD STREAMS s t 2-1 1",
                "*1 *2 $1 t *1 *2 $3 1-1 *2 $1 b $1 1",
            ),
            ("XREAD STREAMS s $", "*-1"),
            ("XREAD STREAMS s 2-1", "*-1"),
            (
                "XREAD COUNT -1 STREAMS s 1-1",
                "*1 *2 $1 s *1 *2 $3 2-1 *2 $1 a $1 2",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn reading_for_a_group() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 2", "$3 2-1"),
            ("XADD s 3-1 a 3", "$3 3-1"),
            ("XGROUP CREATE s g 0", "+OK"),
            (
                "XREADGROUP GROUP g c COUNT 1 STREAMS s >",
                "*1 *2 $1 s *1 *2 $3 1-1 *2 $1 a $1 1",
            ),
            ("XREADGROUP GROUP g d STREAMS s 0", "*1 *2 $1 s *0"),
            (
                "XREADGROUP GROUP g c NOACK COUNT 1 STREAMS s >",
                "*1 *2 $1 s *1 *2 $3 2-1 *2 $1 a $1 2",
            ),
            (
                "XREADGROUP GROUP g c STREAMS s 0",
                "*1 *2 $1 s *1 *2 $3 1-1 *2 $1 a $1 1",
            ),
            ("XDEL s 1-1", ":1"),
            (
                "XREADGROUP GROUP g c STREAMS s 0",
                "*1 *2 $1 s *1 *2 $3 1-1 *-1",
            ),
            ("XREADGROUP GROUP g c STREAMS s 1-1", "*1 *2 $1 s *0"),
            (
                "XREADGROUP GROUP g d STREAMS s >",
                "*1 *2 $1 s *1 *2 $3 3-1 *2 $1 a $1 3",
            ),
            ("XREADGROUP GROUP g d STREAMS s >", "*-1"),
            ("XGROUP SETID s g 0", "+OK"),
            (
                "XREADGROUP GROUP g c STREAMS s >",
                "*1 *2 $1 s *2 *2 $3 2-1 *2 $1 a $1 2 *2 $3 3-1 *2 $1 a $1 3",
            ),
            ("XPENDING s g", "*4 :3 $3 1-1 $3 3-1 *1 *2 $1 c $1 3"),
        ] {
            server.expect(command, reply);
        }
    }
}
