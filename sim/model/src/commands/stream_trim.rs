//! `XTRIM`, and the options that `XADD` shares with it.

use super::{Entry, data};
use crate::arguments::{integer, is, stream_id};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::stream::{Keep, MOST_ENTRIES, Stream, Trim};

pub(super) const COMMANDS: &[Entry] = &[data("xtrim", trim)];

/// What a call has said so far of trimming.
#[derive(Default)]
pub(super) struct TrimOptions {
    keep: Option<Keep>,
    approximate: bool,
    limit: Option<u64>,
}

impl TrimOptions {
    /// Reads the option that these words begin with and says how many of them it took: none, if
    /// it is not one of trimming.
    pub(super) fn read(&mut self, words: &[&[u8]]) -> Result<usize, Refusal> {
        let [option, rest @ ..] = words else {
            return Ok(0);
        };
        let by_length = is(option, "maxlen");
        if !by_length && !is(option, "minid") {
            return self.read_limit(words);
        }
        let (taken, value) = match rest {
            [] => return Ok(0),
            [b"~" | b"=", value, ..] => (3, value),
            [value, ..] => (2, value),
        };
        if self.keep.is_some() {
            return Err(Refusal::Text(
                "ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
            ));
        }
        self.approximate = taken == 3 && rest[0] == b"~";
        self.keep = Some(match by_length {
            true => Keep::Newest(natural(value, "ERR The MAXLEN argument must be >= 0.")?),
            false => Keep::From(stream_id(value)?),
        });
        Ok(taken)
    }

    fn read_limit(&mut self, words: &[&[u8]]) -> Result<usize, Refusal> {
        match words {
            [option, value, ..] if is(option, "limit") => {
                let limit = natural(value, "ERR The LIMIT argument must be >= 0.")?;
                self.limit = Some(limit);
                Ok(2)
            }
            _ => Ok(0),
        }
    }

    /// What all options together ask for; `XTRIM` must be asked for something.
    pub(super) fn finish(self, required: bool) -> Result<Option<Trim>, Refusal> {
        if self.keep.is_none() && self.limit.is_some_and(|limit| limit > 0) {
            return Err(Refusal::Text(
                "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
            ));
        }
        if self.keep.is_none() && required {
            return Err(Refusal::Text(
                "ERR syntax error, XTRIM must be called with a trimming strategy",
            ));
        }
        if self.limit.is_some() && !self.approximate {
            return Err(Refusal::Text(
                "ERR syntax error, LIMIT cannot be used without the special ~ option",
            ));
        }
        let usual = match self.approximate {
            true => 100 * MOST_ENTRIES as u64,
            false => 0,
        };
        Ok(self.keep.map(|keep| Trim {
            keep,
            approximate: self.approximate,
            limit: self.limit.unwrap_or(usual),
        }))
    }
}

fn natural(text: &[u8], negative: &'static str) -> Result<u64, Refusal> {
    u64::try_from(integer(text)?).map_err(|_| Refusal::Text(negative))
}

fn trim(state: &mut State, argv: &[&[u8]]) -> Answer {
    let mut options = TrimOptions::default();
    let mut at = 2;
    while at < argv.len() {
        match options.read(&argv[at..])? {
            0 => return Err(Refusal::Syntax),
            taken => at += taken,
        }
    }
    let trim = options.finish(true)?;
    let (Some(stream), Some(trim)) = (state.keys.find::<Stream>(argv[1])?, trim) else {
        return Ok(Reply::Integer(0));
    };
    let removed = stream.log.trim(trim);
    if removed > 0 {
        state.keys.touch_quietly(argv[1]);
    }
    Ok(Reply::Integer(removed as i64))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn trimming_has_options() {
        let mut server = TestServer::new();
        for (command, reply) in [
            (
                "XTRIM s MAXLEN x",
                "-ERR value is not an integer or out of range",
            ),
            (
                "XTRIM s MAXLEN -1",
                "-ERR The MAXLEN argument must be >= 0.",
            ),
            (
                "XTRIM s MINID x",
                "-ERR Invalid stream ID specified as stream command argument",
            ),
            ("XTRIM s NOSUCH 1", "-ERR syntax error"),
            (
                "XTRIM s MAXLEN 1 MINID 1",
                "-ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
            ),
            (
                "XTRIM s LIMIT 0",
                "-ERR syntax error, XTRIM must be called with a trimming strategy",
            ),
            (
                "XTRIM s LIMIT 1",
                "-ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
            ),
            (
                "XTRIM s MAXLEN 1 LIMIT 1",
                "-ERR syntax error, LIMIT cannot be used without the special ~ option",
            ),
            (
                "XTRIM s MAXLEN ~ 1 LIMIT -1",
                "-ERR The LIMIT argument must be >= 0.",
            ),
            ("XTRIM s MAXLEN ~ 1 LIMIT 5", ":0"),
            ("EXISTS s", ":0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn old_entries_go() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("XADD s 1-1 a 1", "$3 1-1"),
            ("XADD s 2-1 a 1", "$3 2-1"),
            ("XADD s 3-1 a 1", "$3 3-1"),
            ("XADD s 4-1 a 1", "$3 4-1"),
            ("XTRIM s MAXLEN 9", ":0"),
            ("XTRIM s MAXLEN ~ 1", ":0"),
            ("XTRIM s MAXLEN = 3", ":1"),
            ("XTRIM s MINID 3", ":1"),
            (
                "XRANGE s - +",
                "*2 *2 $3 3-1 *2 $1 a $1 1 *2 $3 4-1 *2 $1 a $1 1",
            ),
            ("XTRIM s MAXLEN ~ 0", ":2"),
            ("XLEN s", ":0"),
            (
                "XINFO STREAM s",
                "*20 $6 length :0 $15 radix-tree-keys :0 $16 radix-tree-nodes :1 $17 last-generated-id $3 4-1 $20 max-deleted-entry-id $3 0-0 $13 entries-added :4 $23 recorded-first-entry-id $3 0-0 $6 groups :0 $11 first-entry $-1 $10 last-entry $-1",
            ),
            ("SET str v", "+OK"),
            (
                "XTRIM str MAXLEN 1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
