//! Sorted sets: removing.

use super::{Entry, data};
use crate::arguments::{integer, score_range, slice};
use crate::lex_range::LexRange;
use crate::refusal::Answer;
use crate::reply::Reply;
use crate::sorted_set::SortedSet;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("zrem", |state, argv| {
        remove(state, argv[1], |_| {
            argv[2..].iter().map(|member| member.to_vec()).collect()
        })
    }),
    data("zremrangebyscore", |state, argv| {
        let range = score_range(argv[2], argv[3])?;
        remove(state, argv[1], |set| names(set.range(range)))
    }),
    data("zremrangebylex", |state, argv| {
        let range = LexRange::parse(argv[2], argv[3])?;
        remove(state, argv[1], |set| names(set.lex_range(range, false, 0)))
    }),
    data("zremrangebyrank", |state, argv| {
        let (start, stop) = (integer(argv[2])?, integer(argv[3])?);
        remove(state, argv[1], |set| {
            let ranks = slice(start, stop, set.len());
            names(set.iter().skip(ranks.start).take(ranks.len()))
        })
    }),
];

fn names<'a>(members: impl Iterator<Item = (&'a [u8], f64)>) -> Vec<Vec<u8>> {
    members.map(|(member, _)| member.to_vec()).collect()
}

/// Removes what `choose` finds and tells how much of it was there.
fn remove(
    state: &mut State,
    key: &[u8],
    choose: impl FnOnce(&SortedSet) -> Vec<Vec<u8>>,
) -> Answer {
    let Some(set) = state.keys.find::<SortedSet>(key)? else {
        return Ok(Reply::Integer(0));
    };
    let doomed = choose(set);
    let removed = doomed.iter().filter(|member| set.remove(member)).count();
    if removed > 0 {
        state.keys.drop_if_empty(key);
        state.keys.touch(key);
    }
    Ok(Reply::count(removed))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn removing() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("ZADD z 1 a 2 b 3 c 4 d 5 e", ":5"),
            ("ZREM z b nope b", ":1"),
            ("ZREM none b", ":0"),
            ("ZREMRANGEBYSCORE z (3 4", ":1"),
            (
                "ZREMRANGEBYSCORE none x 1",
                "-ERR min or max is not a float",
            ),
            ("ZREMRANGEBYRANK z 5 9", ":0"),
            ("ZREMRANGEBYRANK z -1 -1", ":1"),
            (
                "ZREMRANGEBYRANK none x 1",
                "-ERR value is not an integer or out of range",
            ),
            ("ZREMRANGEBYLEX z (a [b", ":0"),
            ("ZREMRANGEBYLEX z - [b", ":1"),
            (
                "ZREMRANGEBYLEX none a b",
                "-ERR min or max not valid string range item",
            ),
            ("ZRANGE z 0 -1", "*1 $1 c"),
            ("ZREM z c", ":1"),
            ("EXISTS z", ":0"),
            ("SET s v", "+OK"),
            (
                "ZREMRANGEBYRANK s 0 1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
