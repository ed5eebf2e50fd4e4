//! Members of a set that Redis chooses at random.

use super::random_choice::{self, choose, different};
use super::{Entry, data};
use crate::arguments::count;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::set::Set;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[data("spop", pop), data("srandmember", show)];

fn pop(state: &mut State, argv: &[&[u8]]) -> Answer {
    let wanted = match argv {
        [_, _] => None,
        [_, _, wanted] => Some(count(wanted)?),
        _ => return Err(Refusal::Syntax),
    };
    let shape = state.shape();
    let Some(set) = state.keys.find::<Set>(argv[1])? else {
        return Ok(wanted.map_or(Reply::Nil, |_| shape.set(vec![])));
    };
    let popped = different(
        &mut state.random,
        set.iter(),
        set.len(),
        wanted.unwrap_or(1),
    );
    for member in &popped {
        set.remove(member);
    }
    if !popped.is_empty() {
        state.keys.drop_if_empty(argv[1]);
        state.keys.touch(argv[1]);
    }
    let mut popped = popped.into_iter().map(Reply::Bulk);
    Ok(match wanted {
        None => popped.next().unwrap_or(Reply::Nil),
        Some(_) => shape.set(popped.collect()),
    })
}

fn show(state: &mut State, argv: &[&[u8]]) -> Answer {
    let wanted = match argv {
        [_, _] => None,
        [_, _, wanted] => Some(random_choice::count(wanted)?),
        _ => return Err(Refusal::Syntax),
    };
    let Some(set) = state.keys.find::<Set>(argv[1])? else {
        return Ok(wanted.map_or(Reply::Nil, |_| Reply::Array(vec![])));
    };
    let random = &mut state.random;
    Ok(match wanted {
        Some(wanted) => Reply::bulks(choose(random, set.iter(), set.len(), wanted)?),
        None => Reply::bulk_or_nil(different(random, set.iter(), set.len(), 1).pop()),
    })
}

#[cfg(test)]
mod tests {
    use crate::Reply;
    use crate::test_server::TestServer;

    #[test]
    fn edges() {
        let mut server = TestServer::new();
        server.run("SET str v");
        server.run("SADD s 1 2 3");
        const WRONG_TYPE: &str =
            "-WRONGTYPE Operation against a key holding the wrong kind of value";
        const NOT_POSITIVE: &str = "-ERR value is out of range, must be positive";
        for (command, reply) in [
            ("SPOP str", WRONG_TYPE),
            ("SPOP str 0", WRONG_TYPE),
            ("SPOP str 1 2", "-ERR syntax error"),
            ("SPOP s -1", NOT_POSITIVE),
            ("SPOP s x", NOT_POSITIVE),
            ("SPOP s 0", "*0"),
            ("SPOP none 0", "*0"),
            ("SPOP none", "$-1"),
            ("SRANDMEMBER str", WRONG_TYPE),
            ("SRANDMEMBER str 0", WRONG_TYPE),
            (
                "SRANDMEMBER str x",
                "-ERR value is not an integer or out of range",
            ),
            (
                "SRANDMEMBER s -9223372036854775808",
                "-ERR value is out of range, value must between -9223372036854775807 and \
                 9223372036854775807",
            ),
            (
                "SRANDMEMBER s -9223372036854775807",
                "-ERR leaseline-redis-model does not support a random choice with \
                 9223372036854775807 repetitions",
            ),
            ("SRANDMEMBER s 1 2", "-ERR syntax error"),
            ("SRANDMEMBER s 0", "*0"),
            ("SRANDMEMBER s 9223372036854775807", "*3 $1 1 $1 2 $1 3"),
            ("SRANDMEMBER none", "$-1"),
            ("SRANDMEMBER none -3", "*0"),
            ("SADD one x", ":1"),
            ("SRANDMEMBER one -3", "*3 $1 x $1 x $1 x"),
            ("SRANDMEMBER one 2", "*1 $1 x"),
            ("SRANDMEMBER one", "$1 x"),
            ("SPOP one 5", "*1 $1 x"),
            ("EXISTS one", ":0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn what_is_popped_is_gone() {
        let mut server = TestServer::new();
        server.run("SADD s a b c d e");
        for left in [3, 1] {
            let Reply::Array(popped) = server.run("SPOP s 2") else {
                panic!("no members");
            };
            assert_eq!(popped.len(), 2);
            assert_ne!(popped[0], popped[1]);
            server.expect("SCARD s", &format!(":{left}"));
        }
        server.run("SPOP s");
        server.expect("EXISTS s", ":0");
    }
}
