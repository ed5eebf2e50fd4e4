//! Sorted sets: ranks and ranges.

use super::{Entry, data};
use crate::arguments::{integer, is, score_range, slice};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::sorted_set::SortedSet;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("zrank", |state, argv| rank(state, argv, false)),
    data("zrevrank", |state, argv| rank(state, argv, true)),
    data("zcount", count),
    data("zrange", |state, argv| range(state, argv, None, None)),
    data("zrevrange", |state, argv| {
        range(state, argv, Some(By::Rank), Some(true))
    }),
    data("zrangebyscore", |state, argv| {
        range(state, argv, Some(By::Score), Some(false))
    }),
    data("zrevrangebyscore", |state, argv| {
        range(state, argv, Some(By::Score), Some(true))
    }),
];

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

fn count(state: &mut State, argv: &[&[u8]]) -> Answer {
    let range = score_range(argv[2], argv[3])?;
    let set = state.keys.find::<SortedSet>(argv[1])?;
    Ok(Reply::count(set.map_or(0, |set| set.range(range).count())))
}

/// What the two bounds of a range mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
}

/// What follows the bounds. `ZRANGE` takes kind and direction from there, the older commands
/// have them in their names.
struct Options {
    by: By,
    reversed: bool,
    with_scores: bool,
    offset: i64,
    limit: i64,
}

impl Options {
    fn parse(
        words: &[&[u8]],
        mut by: Option<By>,
        mut reversed: Option<bool>,
    ) -> Result<Self, Refusal> {
        let mut options = Options {
            by: By::Rank,
            reversed: false,
            with_scores: false,
            offset: 0,
            limit: -1,
        };
        let mut rest = words;
        while let [word, after @ ..] = rest {
            rest = after;
            match after {
                [offset, limit, after @ ..] if is(word, "limit") => {
                    options.offset = integer(offset)?;
                    options.limit = integer(limit)?;
                    rest = after;
                }
                _ if is(word, "withscores") => options.with_scores = true,
                // Each only once, and not where the command's name has said it.
                _ if is(word, "rev") && reversed.is_none() => reversed = Some(true),
                _ if is(word, "byscore") && by.is_none() => by = Some(By::Score),
                _ if is(word, "bylex") && by.is_none() => {
                    return Err(Refusal::unsupported("ZRANGE BYLEX"));
                }
                _ => return Err(Refusal::Syntax),
            }
        }
        options.by = by.unwrap_or(By::Rank);
        options.reversed = reversed.unwrap_or(false);
        if options.limit != -1 && options.by == By::Rank {
            return Err(Refusal::Text(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE \
                 or BYLEX",
            ));
        }
        Ok(options)
    }
}

fn range(state: &mut State, argv: &[&[u8]], by: Option<By>, reversed: Option<bool>) -> Answer {
    let options = Options::parse(&argv[4..], by, reversed)?;
    let shape = state.shape();
    let show = |members: &mut dyn Iterator<Item = (&[u8], f64)>| match options.with_scores {
        true => {
            shape.pairs(members.map(|(member, score)| (Reply::bulk(member), shape.double(score))))
        }
        false => Reply::bulks(members.map(|(member, _)| member)),
    };
    let empty = SortedSet::default();
    match options.by {
        By::Rank => {
            let (start, stop) = (integer(argv[2])?, integer(argv[3])?);
            let set = state.keys.find::<SortedSet>(argv[1])?;
            let set = set.as_deref().unwrap_or(&empty);
            let wanted = slice(start, stop, set.len());
            let pick = |members: &mut dyn Iterator<Item = (&[u8], f64)>| {
                show(&mut members.skip(wanted.start).take(wanted.len()))
            };
            Ok(match options.reversed {
                true => pick(&mut set.iter().rev()),
                false => pick(&mut set.iter()),
            })
        }
        By::Score => {
            // From high to low the bounds change places too.
            let wanted = match options.reversed {
                true => score_range(argv[3], argv[2])?,
                false => score_range(argv[2], argv[3])?,
            };
            let set = state.keys.find::<SortedSet>(argv[1])?;
            let set = set.as_deref().unwrap_or(&empty);
            // A negative offset skips everything, a negative limit takes everything.
            let skip = usize::try_from(options.offset).unwrap_or(usize::MAX);
            let take = usize::try_from(options.limit).unwrap_or(usize::MAX);
            Ok(match options.reversed {
                true => show(&mut set.range(wanted).rev().skip(skip).take(take)),
                false => show(&mut set.range(wanted).skip(skip).take(take)),
            })
        }
    }
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
            ("ZRANK z c", ":3"),
            ("ZREVRANK z c", ":2"),
            ("ZRANK z nope", "$-1"),
            ("ZRANK none a", "$-1"),
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
            ("ZCOUNT z 1 3", ":5"),
            ("ZCOUNT z (1 (3", ":2"),
            ("ZCOUNT z x 1", "-ERR min or max is not a float"),
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
}
