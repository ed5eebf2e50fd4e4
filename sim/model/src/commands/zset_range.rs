//! Sorted sets: ranges by rank, by score and by the members' bytes.

use super::{Entry, data};
use crate::arguments::{integer, is, score_range, slice};
use crate::lex_range::LexRange;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::sorted_set::{ScoreRange, SortedSet};
use crate::state::State;
use crate::value::Value;

pub(super) const COMMANDS: &[Entry] = &[
    data("zrange", |state, argv| range(state, argv, Named::default())),
    data("zrevrange", |state, argv| {
        range(state, argv, Named::new(By::Rank, true))
    }),
    data("zrangebyscore", |state, argv| {
        range(state, argv, Named::new(By::Score, false))
    }),
    data("zrevrangebyscore", |state, argv| {
        range(state, argv, Named::new(By::Score, true))
    }),
    data("zrangebylex", |state, argv| {
        range(state, argv, Named::new(By::Lex, false))
    }),
    data("zrevrangebylex", |state, argv| {
        range(state, argv, Named::new(By::Lex, true))
    }),
    data("zrangestore", store),
];

/// What the two bounds of a range mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Lex,
}

/// What a command's name says of its range. That of `ZRANGE` says nothing: there the options do.
#[derive(Debug, Default, Clone, Copy)]
struct Named {
    by: Option<By>,
    reversed: Option<bool>,
}

impl Named {
    fn new(by: By, reversed: bool) -> Self {
        Named {
            by: Some(by),
            reversed: Some(reversed),
        }
    }
}

/// The bounds as they were read.
#[derive(Debug, Clone, Copy)]
enum Bounds<'a> {
    Ranks(i64, i64),
    Scores(ScoreRange),
    Lex(LexRange<'a>),
}

/// What is wanted of a set.
#[derive(Debug, Clone, Copy)]
struct Selection<'a> {
    bounds: Bounds<'a>,
    reversed: bool,
    with_scores: bool,
    offset: i64,
    limit: i64,
}

impl<'a> Selection<'a> {
    /// Reads two bounds and the options after them.
    fn parse(words: &[&'a [u8]], named: Named, stores: bool) -> Result<Self, Refusal> {
        let Named {
            mut by,
            mut reversed,
        } = named;
        let (mut with_scores, mut offset, mut limit) = (false, 0, -1);
        let mut rest = &words[2..];
        while let [word, after @ ..] = rest {
            rest = after;
            match after {
                _ if is(word, "withscores") && !stores => with_scores = true,
                [first, second, after @ ..] if is(word, "limit") => {
                    offset = integer(first)?;
                    limit = integer(second)?;
                    rest = after;
                }
                // Each only once, and not where the command's name has said it.
                _ if is(word, "rev") && reversed.is_none() => reversed = Some(true),
                _ if is(word, "byscore") && by.is_none() => by = Some(By::Score),
                _ if is(word, "bylex") && by.is_none() => by = Some(By::Lex),
                _ => return Err(Refusal::Syntax),
            }
        }
        let by = by.unwrap_or(By::Rank);
        let reversed = reversed.unwrap_or(false);
        if limit != -1 && by == By::Rank {
            return Err(Refusal::Text(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE \
                 or BYLEX",
            ));
        }
        if with_scores && by == By::Lex {
            return Err(Refusal::Text(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX",
            ));
        }
        let (min, max) = match reversed && by != By::Rank {
            // From high to low the bounds change places too.
            true => (words[1], words[0]),
            false => (words[0], words[1]),
        };
        let bounds = match by {
            By::Rank => Bounds::Ranks(integer(min)?, integer(max)?),
            By::Score => Bounds::Scores(score_range(min, max)?),
            By::Lex => Bounds::Lex(LexRange::parse(min, max)?),
        };
        Ok(Selection {
            bounds,
            reversed,
            with_scores,
            offset,
            limit,
        })
    }

    fn of(self, set: &'a SortedSet) -> Box<dyn Iterator<Item = (&'a [u8], f64)> + 'a> {
        // A negative offset skips everything, a negative limit takes everything.
        let skip = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let take = usize::try_from(self.limit).unwrap_or(usize::MAX);
        match self.bounds {
            Bounds::Ranks(start, stop) => {
                let ranks = slice(start, stop, set.len());
                let members = set.walk(self.reversed);
                Box::new(members.skip(ranks.start).take(ranks.len()))
            }
            Bounds::Scores(scores) if self.reversed => {
                Box::new(set.range(scores).rev().skip(skip).take(take))
            }
            Bounds::Scores(scores) => Box::new(set.range(scores).skip(skip).take(take)),
            Bounds::Lex(range) => Box::new(set.lex_range(range, self.reversed, skip).take(take)),
        }
    }
}

fn range(state: &mut State, argv: &[&[u8]], named: Named) -> Answer {
    let selection = Selection::parse(&argv[2..], named, false)?;
    let shape = state.shape();
    let Some(set) = state.keys.find::<SortedSet>(argv[1])? else {
        return Ok(Reply::Array(vec![]));
    };
    let members = selection.of(set);
    Ok(match selection.with_scores {
        true => {
            shape.pairs(members.map(|(member, score)| (Reply::bulk(member), shape.double(score))))
        }
        false => Reply::bulks(members.map(|(member, _)| member)),
    })
}

/// `ZRANGESTORE`: a range becomes a set of its own.
fn store(state: &mut State, argv: &[&[u8]]) -> Answer {
    let selection = Selection::parse(&argv[3..], Named::default(), true)?;
    let mut found = SortedSet::default();
    if let Some(set) = state.keys.find::<SortedSet>(argv[2])? {
        for (member, score) in selection.of(set) {
            found.set(member, score);
        }
    }
    let reply = Reply::count(found.len());
    state.keys.store(argv[1], Value::SortedSet(found));
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    fn filled() -> TestServer {
        let mut server = TestServer::new();
        server.run("ZADD z 1 zz 1.5 a 2 b 3 c 3 d 10 e");
        server
    }

    #[test]
    fn ranks() {
        let mut server = filled();
        for (command, reply) in [
            ("ZRANGE z 0 1", "*2 $2 zz $1 a"),
            ("ZRANGE z -2 -1 WITHSCORES", "*4 $1 d $1 3 $1 e $2 10"),
            ("ZRANGE z 0 1 REV", "*2 $1 e $1 d"),
            ("ZREVRANGE z 0 0 WITHSCORES", "*2 $1 e $2 10"),
            ("ZRANGE z 5 1", "*0"),
            ("ZRANGE none 0 -1", "*0"),
            (
                "ZRANGE z a b",
                "-ERR value is not an integer or out of range",
            ),
            (
                "ZRANGE z 0 -1 LIMIT 0 1",
                "-ERR syntax error, LIMIT is only supported in combination with either BYSCORE \
                 or BYLEX",
            ),
            ("ZREVRANGE z 0 0 REV", "-ERR syntax error"),
            ("ZRANGE z 0 0 LIMIT 0", "-ERR syntax error"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn scores() {
        let mut server = filled();
        for (command, reply) in [
            ("ZRANGEBYSCORE z (3 +inf WITHSCORES", "*2 $1 e $2 10"),
            ("ZRANGEBYSCORE z -inf (3", "*3 $2 zz $1 a $1 b"),
            ("ZRANGEBYSCORE z 0 100 LIMIT 1 2", "*2 $1 a $1 b"),
            ("ZRANGEBYSCORE z 2 100 LIMIT 0 -1", "*4 $1 b $1 c $1 d $1 e"),
            ("ZRANGEBYSCORE z 0 100 LIMIT 0 0", "*0"),
            ("ZRANGEBYSCORE z 0 100 LIMIT -1 2", "*0"),
            ("ZRANGEBYSCORE z 0 100 LIMIT 99 2", "*0"),
            (
                "ZRANGEBYSCORE z 0 100 LIMIT x 2",
                "-ERR value is not an integer or out of range",
            ),
            ("ZRANGEBYSCORE none x 1", "-ERR min or max is not a float"),
            ("ZREVRANGEBYSCORE z +inf -inf LIMIT 0 2", "*2 $1 e $1 d"),
            ("ZRANGE z (1 +inf BYSCORE LIMIT 0 1", "*1 $1 a"),
            (
                "ZRANGE z +inf -inf BYSCORE REV LIMIT 0 1 WITHSCORES",
                "*2 $1 e $2 10",
            ),
            ("ZRANGEBYSCORE z 3 1", "*0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn members() {
        let mut server = TestServer::new();
        server.run("ZADD z 0 a 0 b 0 c 0 d");
        for (command, reply) in [
            ("ZRANGEBYLEX z [b (d", "*2 $1 b $1 c"),
            ("ZRANGEBYLEX z - + LIMIT 1 2", "*2 $1 b $1 c"),
            ("ZRANGEBYLEX z + -", "*0"),
            ("ZREVRANGEBYLEX z + (b", "*2 $1 d $1 c"),
            ("ZRANGE z (c - BYLEX REV LIMIT 0 1", "*1 $1 b"),
            (
                "ZRANGEBYLEX none b c",
                "-ERR min or max not valid string range item",
            ),
            (
                "ZRANGEBYLEX z - + WITHSCORES",
                "-ERR syntax error, WITHSCORES not supported in combination with BYLEX",
            ),
            ("ZRANGEBYLEX z - + REV", "-ERR syntax error"),
            ("ZRANGE z - + BYLEX BYSCORE", "-ERR syntax error"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn storing() {
        let mut server = filled();
        for (command, reply) in [
            ("ZRANGESTORE t z 0 1", ":2"),
            ("ZRANGE t 0 -1 WITHSCORES", "*4 $2 zz $1 1 $1 a $3 1.5"),
            ("ZRANGESTORE t z +inf (3 BYSCORE REV LIMIT 0 1", ":1"),
            ("ZRANGE t 0 -1", "*1 $1 e"),
            ("ZRANGESTORE t z 0 1 WITHSCORES", "-ERR syntax error"),
            ("ZRANGESTORE t none 0 -1", ":0"),
            ("EXISTS t", ":0"),
            ("SET s v", "+OK"),
            (
                "ZRANGESTORE t s 0 1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            ("ZRANGESTORE s z 0 0", ":1"),
            ("TYPE s", "+zset"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn pairs_are_nested_in_resp3() {
        let mut server = filled();
        server.run("HELLO 3");
        server.expect(
            "ZREVRANGEBYSCORE z 2 1.5 WITHSCORES",
            "*2 *2 $1 b ,2 *2 $1 a ,1.5",
        );
    }
}
