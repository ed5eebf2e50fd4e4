//! Reading a string and changing its lifetime.

use super::text_set::End;
use super::{Entry, data};
use crate::arguments::is;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::text::Text;

pub(super) const COMMANDS: &[Entry] = &[data("getex", get)];

/// What becomes of the lifetime.
#[derive(Debug, Clone, Copy)]
enum Change<'a> {
    Nothing,
    Persist,
    End(End<'a>),
}

impl<'a> Change<'a> {
    fn parse(words: &[&'a [u8]]) -> Result<Self, Refusal> {
        let mut change = Change::Nothing;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            change = match change {
                Change::Nothing | Change::Persist if is(word, "persist") => Change::Persist,
                Change::Nothing => Change::End(End::parse(word, &mut words, None)?),
                Change::End(end) => Change::End(End::parse(word, &mut words, Some(end))?),
                Change::Persist => return Err(Refusal::Syntax),
            };
        }
        Ok(change)
    }
}

/// The time is looked at only where there is a value.
fn get(state: &mut State, argv: &[&[u8]]) -> Answer {
    let change = Change::parse(&argv[2..])?;
    let Some(value) = state.keys.find::<Text>(argv[1])? else {
        return Ok(Reply::Nil);
    };
    let value = value.to_bytes();
    let now = state.time.now_ms();
    let end = match change {
        Change::Nothing => return Ok(Reply::Bulk(value)),
        Change::Persist => None,
        Change::End(end) => Some(end.ms(now, "getex")?),
    };
    let before = match state.keys.slot(argv[1]) {
        Some(slot) => std::mem::replace(&mut slot.expires_at_ms, end),
        None => None,
    };
    if end.is_some_and(|end| end <= now) {
        state.keys.take(argv[1]);
    } else if end.is_some() || before.is_some() {
        state.keys.touch(argv[1]);
    }
    Ok(Reply::Bulk(value))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn lifetimes() {
        const WRONG_TYPE: &str =
            "-WRONGTYPE Operation against a key holding the wrong kind of value";
        const SYNTAX: &str = "-ERR syntax error";
        const INVALID: &str = "-ERR invalid expire time in 'getex' command";
        let mut server = TestServer::new();
        server.run("RPUSH l a");
        server.run("SET k v");
        for (command, reply) in [
            ("GETEX l EX 0", WRONG_TYPE),
            ("GETEX l BOGUS", SYNTAX),
            ("GETEX k EX", SYNTAX),
            ("GETEX k KEEPTTL", SYNTAX),
            ("GETEX k PERSIST EX 1", SYNTAX),
            ("GETEX k EX 1 PERSIST", SYNTAX),
            ("GETEX k EX 1 PX 1", SYNTAX),
            ("GETEX k EX 0", INVALID),
            ("GETEX k EX 9223372036854775807", INVALID),
            ("GETEX k PXAT -1", INVALID),
            (
                "GETEX k EX x",
                "-ERR value is not an integer or out of range",
            ),
            ("GETEX none EX x", "$-1"),
            ("GETEX k", "$1 v"),
            ("GETEX k EX 1 EX 100", "$1 v"),
            ("TTL k", ":100"),
            ("GETEX k PERSIST PERSIST", "$1 v"),
            ("TTL k", ":-1"),
            ("GETEX k EXAT 1", "$1 v"),
            ("EXISTS k", ":0"),
        ] {
            server.expect(command, reply);
        }
    }
}
