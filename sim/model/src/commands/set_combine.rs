//! What several sets have in common, together, or apart.

use super::{Entry, data};
use crate::arguments::{is, natural, positive};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::set::Set;
use crate::state::State;
use crate::value::Value;

pub(super) const COMMANDS: &[Entry] = &[
    data("sinter", |state, argv| {
        // Straight from the smallest set, and so in its order.
        let common = common(&mut sets(state, &argv[1..])?);
        Ok(state
            .shape()
            .set(common.into_iter().map(Reply::Bulk).collect()))
    }),
    data("sunion", |state, argv| {
        let together = together(&sets(state, &argv[1..])?);
        Ok(show(state, &together))
    }),
    data("sdiff", |state, argv| {
        let apart = apart(&sets(state, &argv[1..])?);
        Ok(show(state, &apart))
    }),
    data("sinterstore", |state, argv| {
        let common = collect(common(&mut sets(state, &argv[2..])?));
        Ok(store(state, argv[1], common))
    }),
    data("sunionstore", |state, argv| {
        let together = together(&sets(state, &argv[2..])?);
        Ok(store(state, argv[1], together))
    }),
    data("sdiffstore", |state, argv| {
        let apart = apart(&sets(state, &argv[2..])?);
        Ok(store(state, argv[1], apart))
    }),
    data("sintercard", count_common),
];

/// Copies of the sets: a missing key is an empty one.
fn sets(state: &mut State, keys: &[&[u8]]) -> Result<Vec<Set>, Refusal> {
    keys.iter()
        .map(|key| {
            let set = state.keys.find::<Set>(key)?;
            Ok(set.map(|set| set.clone()).unwrap_or_default())
        })
        .collect()
}

/// The members of the smallest set that all others have.
fn common(sets: &mut [Set]) -> Vec<Vec<u8>> {
    sets.sort_by_key(Set::len);
    let Some((smallest, others)) = sets.split_first() else {
        return Vec::new();
    };
    let members = smallest.iter();
    members
        .filter(|member| others.iter().all(|set| set.contains(member)))
        .collect()
}

fn together(sets: &[Set]) -> Set {
    collect(sets.iter().flat_map(Set::iter))
}

/// The members of the first set that no other has. Redis chooses between two ways, after which
/// the encoding can differ: to look each member up in all other sets, or to remove from a copy
/// what is in them.
fn apart(sets: &[Set]) -> Set {
    let Some((first, others)) = sets.split_first() else {
        return Set::default();
    };
    let there = sets.iter().filter(|set| set.len() > 0).count();
    let all: usize = sets.iter().map(Set::len).sum();
    if first.len() * there / 2 <= all {
        let members = first.iter();
        return collect(members.filter(|member| !others.iter().any(|set| set.contains(member))));
    }
    let mut left = collect(first.iter());
    for member in others.iter().flat_map(Set::iter) {
        left.remove(&member);
    }
    left
}

fn collect(members: impl IntoIterator<Item = Vec<u8>>) -> Set {
    let mut set = Set::default();
    for member in members {
        set.add(&member);
    }
    set
}

fn show(state: &State, set: &Set) -> Reply {
    state.shape().set(set.iter().map(Reply::Bulk).collect())
}

fn store(state: &mut State, key: &[u8], set: Set) -> Reply {
    let length = set.len();
    state.keys.store(key, Value::Set(set));
    Reply::count(length)
}

fn count_common(state: &mut State, argv: &[&[u8]]) -> Answer {
    let number = positive(argv[1], "ERR numkeys should be greater than 0")?;
    let too_many = Refusal::Text("ERR Number of keys can't be greater than number of args");
    let (keys, options) = argv[2..].split_at_checked(number).ok_or(too_many)?;
    let mut limit = 0;
    let (options, rest) = options.as_chunks::<2>();
    for [option, value] in options {
        if !is(option, "limit") {
            return Err(Refusal::Syntax);
        }
        limit = natural(value, "ERR LIMIT can't be negative")?;
    }
    if !rest.is_empty() {
        return Err(Refusal::Syntax);
    }
    let common = common(&mut sets(state, keys)?).len();
    Ok(Reply::count(match limit {
        0 => common,
        limit => common.min(limit),
    }))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

    fn server() -> TestServer {
        let mut server = TestServer::new();
        for command in ["SADD p z y 1", "SADD q 1 y", "SADD j 4 1 9", "SET str v"] {
            server.run(command);
        }
        server
    }

    #[test]
    fn combining() {
        let mut server = server();
        for (command, reply) in [
            ("SINTER none str", WRONG_TYPE),
            ("SINTER str none", WRONG_TYPE),
            ("SUNION p str", WRONG_TYPE),
            ("SDIFF none str", WRONG_TYPE),
            ("SINTER p none", "*0"),
            ("SINTER p j q", "*1 $1 1"),
            ("SUNION none", "*0"),
            ("SUNION p q", "*3 $1 z $1 y $1 1"),
            ("SUNION j j", "*3 $1 1 $1 4 $1 9"),
            ("SDIFF p none q", "*1 $1 z"),
            ("SDIFF none p", "*0"),
            ("SDIFF j q", "*2 $1 4 $1 9"),
            ("SDIFF p p", "*0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn storing() {
        let mut server = server();
        for (command, reply) in [
            ("SINTERSTORE d p q", ":2"),
            ("SUNIONSTORE d none", ":0"),
            ("EXISTS d", ":0"),
            ("SUNIONSTORE d p j", ":5"),
            ("SDIFFSTORE d d p", ":2"),
            ("SMEMBERS d", "*2 $1 4 $1 9"),
            ("SINTERSTORE d none str", WRONG_TYPE),
            ("SINTERSTORE d none p", ":0"),
            ("SDIFFSTORE d none", ":0"),
            ("SUNIONSTORE str p", ":3"),
            ("TYPE str", "+set"),
            ("SET str v", "+OK"),
            ("SINTERSTORE str none p", ":0"),
            ("EXISTS str", ":0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn counting() {
        let mut server = server();
        for number in ["0", "x", "-1"] {
            server.expect(
                &format!("SINTERCARD {number} p"),
                "-ERR numkeys should be greater than 0",
            );
        }
        for (command, reply) in [
            (
                "SINTERCARD 2 p",
                "-ERR Number of keys can't be greater than number of args",
            ),
            ("SINTERCARD 1 p q", "-ERR syntax error"),
            ("SINTERCARD 2 p q LIMIT", "-ERR syntax error"),
            ("SINTERCARD 2 p q LIMIT -1", "-ERR LIMIT can't be negative"),
            ("SINTERCARD 2 p q LIMIT x", "-ERR LIMIT can't be negative"),
            ("SINTERCARD 2 none str", WRONG_TYPE),
            ("SINTERCARD 2 p q", ":2"),
            ("SINTERCARD 2 p q LIMIT 1", ":1"),
            ("SINTERCARD 2 p q LIMIT 0", ":2"),
            ("SINTERCARD 2 p q LIMIT 1 LIMIT 2", ":2"),
            ("SINTERCARD 1 p LIMIT 2", ":2"),
        ] {
            server.expect(command, reply);
        }
    }
}
