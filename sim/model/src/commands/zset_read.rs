//! Sorted sets: scores, ranks and counts.

use super::{Entry, data};
use crate::arguments::score_range;
use crate::lex_range::LexRange;
use crate::refusal::Answer;
use crate::reply::Reply;
use crate::sorted_set::SortedSet;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("zcard", |state, argv| count(state, argv[1], SortedSet::len)),
    data("zcount", |state, argv| {
        let range = score_range(argv[2], argv[3])?;
        count(state, argv[1], |set| set.range(range).count())
    }),
    data("zlexcount", |state, argv| {
        let range = LexRange::parse(argv[2], argv[3])?;
        count(state, argv[1], |set| set.lex_range(range, false, 0).count())
    }),
    data("zscore", score),
    data("zmscore", scores),
    data("zrank", |state, argv| rank(state, argv, false)),
    data("zrevrank", |state, argv| rank(state, argv, true)),
];

fn count(state: &mut State, key: &[u8], count: impl FnOnce(&SortedSet) -> usize) -> Answer {
    let set = state.keys.find::<SortedSet>(key)?;
    Ok(Reply::count(set.map_or(0, |set| count(set))))
}

fn score(state: &mut State, argv: &[&[u8]]) -> Answer {
    let set = state.keys.find::<SortedSet>(argv[1])?;
    let score = set.and_then(|set| set.score(argv[2]));
    Ok(show(state, score))
}

fn scores(state: &mut State, argv: &[&[u8]]) -> Answer {
    let set = state.keys.find::<SortedSet>(argv[1])?;
    let score = |member: &&[u8]| set.as_ref().and_then(|set| set.score(member));
    let scores: Vec<_> = argv[2..].iter().map(score).collect();
    let shown = scores.into_iter().map(|score| show(state, score));
    Ok(Reply::Array(shown.collect()))
}

fn show(state: &State, score: Option<f64>) -> Reply {
    score.map_or(Reply::Nil, |score| state.shape().double(score))
}

fn rank(state: &mut State, argv: &[&[u8]], reversed: bool) -> Answer {
    let Some(set) = state.keys.find::<SortedSet>(argv[1])? else {
        return Ok(Reply::Nil);
    };
    Ok(match set.rank(argv[2]) {
        None => Reply::Nil,
        Some(rank) if reversed => Reply::count(set.len() - 1 - rank),
        Some(rank) => Reply::count(rank),
    })
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use crate::test_server::TestServer;

    #[test]
    fn counts_and_ranks() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("ZADD z 1 zz 1.5 a 2 b 3 c 3 d 10 e", ":6"),
            ("ZCARD z", ":6"),
            ("ZCARD none", ":0"),
            ("ZCOUNT z 1 3", ":5"),
            ("ZCOUNT z (1 (3", ":2"),
            ("ZCOUNT none x 1", "-ERR min or max is not a float"),
            ("ZRANK z c", ":3"),
            ("ZREVRANK z c", ":2"),
            ("ZRANK z nope", "$-1"),
            ("ZRANK none a", "$-1"),
            ("ZADD l 0 a 0 b 0 c 0 ca", ":4"),
            ("ZLEXCOUNT l - +", ":4"),
            ("ZLEXCOUNT l (a [c", ":2"),
            ("ZLEXCOUNT l + -", ":0"),
            (
                "ZLEXCOUNT none - x",
                "-ERR min or max not valid string range item",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn scores() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("ZADD z 0.1 a -0 b inf c 1700000000123.25 d", ":4"),
            ("ZSCORE z a", "$19 0.10000000000000001"),
            ("ZSCORE z b", "$1 0"),
            ("ZSCORE none b", "$-1"),
            ("ZMSCORE z c d nope", "*3 $3 inf $16 1700000000123.25 $-1"),
            ("ZMSCORE none a b", "*2 $-1 $-1"),
        ] {
            server.expect(command, reply);
        }
        server.run("HELLO 3");
        server.expect("ZMSCORE z b nope", "*2 ,0 _");
        let mut newer = TestServer::with_profile(Profile::Redis72);
        newer.run("ZADD z 0.1 a");
        newer.expect("ZSCORE z a", "$3 0.1");
    }
}
