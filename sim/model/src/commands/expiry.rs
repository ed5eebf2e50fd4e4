//! When keys end.

use super::{Entry, data};
use crate::arguments::{integer, shown};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("expire", |state, argv| {
        let now = state.time.now_ms();
        expire(state, argv, "expire", Unit::Seconds, now)
    }),
    data("pexpire", |state, argv| {
        let now = state.time.now_ms();
        expire(state, argv, "pexpire", Unit::Milliseconds, now)
    }),
    data("expireat", |state, argv| {
        expire(state, argv, "expireat", Unit::Seconds, 0)
    }),
    data("pexpireat", |state, argv| {
        expire(state, argv, "pexpireat", Unit::Milliseconds, 0)
    }),
    data("ttl", |state, argv| {
        // Rounded, so that the last half second of a living key shows as 0.
        remaining(state, argv[1], |left| left.saturating_add(500) / 1000)
    }),
    data("pttl", |state, argv| remaining(state, argv[1], |left| left)),
    data("expiretime", |state, argv| {
        end(state, argv[1], |when| when.saturating_add(500) / 1000)
    }),
    data("pexpiretime", |state, argv| {
        end(state, argv[1], |when| when)
    }),
    data("persist", persist),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
}

/// The conditions that may follow `EXPIRE key n`.
#[derive(Debug, Default)]
struct Conditions {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
}

impl Conditions {
    fn parse(options: &[&[u8]]) -> Result<Self, Refusal> {
        let mut found = Conditions::default();
        for option in options {
            let flag = match option.to_ascii_lowercase().as_slice() {
                b"nx" => &mut found.nx,
                b"xx" => &mut found.xx,
                b"gt" => &mut found.gt,
                b"lt" => &mut found.lt,
                _ => {
                    return Err(Refusal::line(&[&"ERR Unsupported option ", &shown(option)]));
                }
            };
            *flag = true;
        }
        if found.nx && (found.xx || found.gt || found.lt) {
            return Err(Refusal::Text(
                "ERR NX and XX, GT or LT options at the same time are not compatible",
            ));
        }
        if found.gt && found.lt {
            return Err(Refusal::Text(
                "ERR GT and LT options at the same time are not compatible",
            ));
        }
        Ok(found)
    }

    /// Whether `when` may replace the end that the key has now. No end counts as infinity.
    fn allow(&self, when: i64, current: Option<i64>) -> bool {
        let blocked = match current {
            Some(current) => {
                self.nx || (self.gt && when <= current) || (self.lt && when >= current)
            }
            None => self.xx || self.gt,
        };
        !blocked
    }
}

/// All four `EXPIRE` commands: `base_ms` is now, or 0 where the time is absolute.
fn expire(
    state: &mut State,
    argv: &[&[u8]],
    name: &'static str,
    unit: Unit,
    base_ms: i64,
) -> Answer {
    let conditions = Conditions::parse(&argv[3..])?;
    let when = integer(argv[2])?;
    let when = match unit {
        Unit::Seconds => when.checked_mul(1000),
        Unit::Milliseconds => Some(when),
    };
    let when = when
        .and_then(|when| when.checked_add(base_ms))
        .ok_or(Refusal::ExpireTime(name))?;
    #[cfg(feature = "planted-faults")]
    let conditions = Conditions {
        gt: conditions.gt
            && !(state.makes(crate::Fault::GreaterThanEndless)
                && (state.keys.slot(argv[1])).is_some_and(|slot| slot.expires_at_ms.is_none())),
        ..conditions
    };
    let now = state.time.now_ms();
    let Some(slot) = state.keys.slot(argv[1]) else {
        return Ok(Reply::from(false));
    };
    if !conditions.allow(when, slot.expires_at_ms) {
        return Ok(Reply::from(false));
    }
    slot.expires_at_ms = Some(when);
    if when <= now {
        state.keys.take(argv[1]);
    } else {
        state.keys.touch(argv[1]);
    }
    Ok(Reply::from(true))
}

const NO_KEY: i64 = -2;
const NO_EXPIRY: i64 = -1;

fn end(state: &mut State, key: &[u8], show: impl FnOnce(i64) -> i64) -> Answer {
    Ok(Reply::Integer(match state.keys.slot(key) {
        None => NO_KEY,
        Some(slot) => slot.expires_at_ms.map_or(NO_EXPIRY, show),
    }))
}

fn remaining(state: &mut State, key: &[u8], show: impl FnOnce(i64) -> i64) -> Answer {
    let now = state.time.now_ms();
    end(state, key, |when| show(when.saturating_sub(now).max(0)))
}

fn persist(state: &mut State, argv: &[&[u8]]) -> Answer {
    let slot = state.keys.slot(argv[1]);
    let had_one = slot.is_some_and(|slot| slot.expires_at_ms.take().is_some());
    if had_one {
        state.keys.touch(argv[1]);
    }
    Ok(Reply::from(had_one))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::test_server::{START_MS, TestServer};

    #[test]
    fn a_key_ends_after_its_last_millisecond() {
        let mut server = TestServer::new();
        server.run("SET k v");
        server.expect("PEXPIRE k 1000", ":1");
        server.expect("PEXPIRETIME k", &format!(":{}", START_MS + 1000));
        server.advance(Duration::from_millis(1000));
        server.expect("GET k", "$1 v");
        server.expect("PTTL k", ":0");
        server.advance(Duration::from_millis(1));
        server.expect("GET k", "$-1");
        server.expect("TTL k", ":-2");
    }

    #[test]
    fn seconds_are_rounded() {
        let mut server = TestServer::new();
        for (left, shown) in [(1, 0), (499, 0), (500, 1), (1499, 1), (1500, 2)] {
            server.run(&format!("SET k v PX {left}"));
            server.expect("TTL k", &format!(":{shown}"));
        }
    }

    #[test]
    fn times_in_the_past_delete() {
        let mut server = TestServer::new();
        for command in [
            "EXPIRE k 0",
            "PEXPIRE k -5",
            "EXPIREAT k 1",
            "PEXPIREAT k -1",
        ] {
            server.run("SET k v");
            server.expect(command, ":1");
            server.expect("EXISTS k", ":0");
            server.expect(command, ":0");
        }
    }

    #[test]
    fn conditions() {
        let mut server = TestServer::new();
        server.run("SET p v");
        for (command, reply) in [
            ("EXPIRE p 10 XX", ":0"),
            ("EXPIRE p 10 GT", ":0"),
            ("EXPIRE p 10 NX", ":1"),
            ("EXPIRE p 10 NX", ":0"),
            ("EXPIRE p 5 GT", ":0"),
            ("EXPIRE p 20 GT", ":1"),
            ("EXPIRE p 30 LT", ":0"),
            ("EXPIRE p 20 LT", ":0"),
            ("PERSIST p", ":1"),
            ("PERSIST p", ":0"),
            ("EXPIRE p 10 LT", ":1"),
            (
                "EXPIRE p 10 NX XX",
                "-ERR NX and XX, GT or LT options at the same time are not compatible",
            ),
            (
                "EXPIRE p 10 GT LT",
                "-ERR GT and LT options at the same time are not compatible",
            ),
            ("EXPIRE p 10 ZZ", "-ERR Unsupported option ZZ"),
            (
                "EXPIRE p abc",
                "-ERR value is not an integer or out of range",
            ),
            (
                "EXPIRE p 9223372036854775",
                "-ERR invalid expire time in 'expire' command",
            ),
            (
                "PEXPIRE p 9223372036854775807",
                "-ERR invalid expire time in 'pexpire' command",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
