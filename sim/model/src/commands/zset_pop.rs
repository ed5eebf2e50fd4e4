//! Sorted sets used as priority queues.

use super::{Entry, data};
use crate::arguments::count;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::sorted_set::SortedSet;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("zpopmin", |state, argv| pop(state, argv, false)),
    data("zpopmax", |state, argv| pop(state, argv, true)),
];

fn pop(state: &mut State, argv: &[&[u8]], highest: bool) -> Answer {
    let wanted = match argv {
        [_, _] => 1,
        [_, _, wanted] => count(wanted)?,
        _ => return Err(Refusal::Syntax),
    };
    let shape = state.shape();
    let Some(set) = state.keys.find::<SortedSet>(argv[1])? else {
        return Ok(Reply::Array(vec![]));
    };
    let mut popped = Vec::new();
    for _ in 0..wanted {
        let Some((member, score)) = set.pop(highest) else {
            break;
        };
        popped.push((Reply::Bulk(member), shape.double(score)));
    }
    state.keys.drop_if_empty(argv[1]);
    // Without a count the one pair is flat in RESP3, too.
    Ok(match (argv, popped.pop()) {
        ([_, _], Some((member, score))) => Reply::Array(vec![member, score]),
        (_, last) => shape.pairs(popped.into_iter().chain(last)),
    })
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn popping() {
        let mut server = TestServer::new();
        server.run("ZADD z 1 zz 3 c 3 d 10 e");
        for (command, reply) in [
            ("ZPOPMIN z", "*2 $2 zz $1 1"),
            ("ZPOPMIN z 0", "*0"),
            (
                "ZPOPMIN z -1",
                "-ERR value is out of range, must be positive",
            ),
            (
                "ZPOPMIN z x",
                "-ERR value is out of range, must be positive",
            ),
            ("ZPOPMIN z 1 2", "-ERR syntax error"),
            ("ZPOPMIN none", "*0"),
            ("ZPOPMAX z 2", "*4 $1 e $2 10 $1 d $1 3"),
            ("ZPOPMAX z 10", "*2 $1 c $1 3"),
            ("EXISTS z", ":0"),
            ("SET s v", "+OK"),
            (
                "ZPOPMIN s 0",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
