//! Sorted sets: adding, and changing scores.

use super::{Entry, data};
use crate::arguments::score;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::sorted_set::SortedSet;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[data("zadd", add), data("zincrby", increment)];

/// The words that may stand before the first score of `ZADD`.
#[derive(Debug, Default, Clone, Copy)]
struct Options {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
    changed: bool,
    increment: bool,
}

impl Options {
    /// Reads the options and returns what follows them.
    fn parse<'a, 'b>(words: &'a [&'b [u8]]) -> (Self, &'a [&'b [u8]]) {
        let mut found = Options::default();
        let mut rest = words;
        while let [word, after @ ..] = rest {
            let flag = match word.to_ascii_lowercase().as_slice() {
                b"nx" => &mut found.nx,
                b"xx" => &mut found.xx,
                b"gt" => &mut found.gt,
                b"lt" => &mut found.lt,
                b"ch" => &mut found.changed,
                b"incr" => &mut found.increment,
                _ => break,
            };
            *flag = true;
            rest = after;
        }
        (found, rest)
    }
}

fn add(state: &mut State, argv: &[&[u8]]) -> Answer {
    let (options, rest) = Options::parse(&argv[2..]);
    let (pairs, odd) = rest.as_chunks::<2>();
    if pairs.is_empty() || !odd.is_empty() {
        return Err(Refusal::Syntax);
    }
    if options.nx && options.xx {
        return Err(Refusal::Text(
            "ERR XX and NX options at the same time are not compatible",
        ));
    }
    if [options.gt, options.lt, options.nx]
        .map(usize::from)
        .iter()
        .sum::<usize>()
        > 1
    {
        return Err(Refusal::Text(
            "ERR GT, LT, and/or NX options at the same time are not compatible",
        ));
    }
    if options.increment && pairs.len() > 1 {
        return Err(Refusal::Text(
            "ERR INCR option supports a single increment-element pair",
        ));
    }
    write(state, argv[1], options, pairs)
}

fn increment(state: &mut State, argv: &[&[u8]]) -> Answer {
    let options = Options {
        increment: true,
        ..Options::default()
    };
    write(state, argv[1], options, &[[argv[2], argv[3]]])
}

/// What became of one pair.
enum Outcome {
    Nothing,
    Same(f64),
    Added(f64),
    Updated(f64),
}

fn write(state: &mut State, key: &[u8], options: Options, pairs: &[[&[u8]; 2]]) -> Answer {
    #[cfg(feature = "planted-faults")]
    let options = Options {
        xx: options.xx || options.gt && state.makes(crate::Fault::GreaterNeverAdds),
        ..options
    };
    // All scores are read before anything is written: one bad score refuses the whole call.
    let scores = pairs
        .iter()
        .map(|[text, _]| score(text))
        .collect::<Result<Vec<_>, _>>()?;
    let missing = state.keys.find::<SortedSet>(key)?.is_none();
    let (mut added, mut updated, mut last) = (0, 0, None);
    if !(missing && options.xx) {
        let set = state.keys.find_or_create::<SortedSet>(key)?;
        for ([_, member], score) in pairs.iter().zip(scores) {
            match write_one(set, member, score, options)? {
                Outcome::Nothing => {}
                Outcome::Same(score) => last = Some(score),
                Outcome::Added(score) => {
                    added += 1;
                    last = Some(score);
                }
                Outcome::Updated(score) => {
                    updated += 1;
                    last = Some(score);
                }
            }
        }
    }
    if added + updated > 0 {
        state.keys.touch(key);
    }
    Ok(match (options.increment, last) {
        (true, Some(score)) => state.shape().double(score),
        (true, None) => Reply::Nil,
        (false, _) if options.changed => Reply::count(added + updated),
        (false, _) => Reply::count(added),
    })
}

fn write_one(
    set: &mut SortedSet,
    member: &[u8],
    score: f64,
    options: Options,
) -> Result<Outcome, Refusal> {
    let Some(current) = set.score(member) else {
        if options.xx {
            return Ok(Outcome::Nothing);
        }
        set.set(member, score);
        return Ok(Outcome::Added(score));
    };
    if options.nx {
        return Ok(Outcome::Nothing);
    }
    let score = if options.increment {
        score + current
    } else {
        score
    };
    if score.is_nan() {
        return Err(Refusal::NotANumber);
    }
    if (options.lt && score >= current) || (options.gt && score <= current) {
        return Ok(Outcome::Nothing);
    }
    if score == current {
        return Ok(Outcome::Same(score));
    }
    set.set(member, score);
    Ok(Outcome::Updated(score))
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use crate::test_server::TestServer;

    #[test]
    fn options_of_zadd() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("ZADD z 1 a 2 b 3 c", ":3"),
            ("ZADD z 1 a", ":0"),
            ("ZADD z CH 5 a 1 zz", ":2"),
            ("ZADD z NX 9 a", ":0"),
            ("ZADD z xx 1 a", ":0"),
            ("ZADD z XX CH 1 nope", ":0"),
            ("ZADD z GT CH 0 a", ":0"),
            ("ZADD z LT CH 0.5 a", ":1"),
            ("ZADD z INCR 1 a", "$3 1.5"),
            ("ZADD z NX INCR 1 a", "$-1"),
            ("ZADD z XX INCR 1 nope", "$-1"),
            ("ZADD z INCR 0 a", "$3 1.5"),
            (
                "ZADD z NX XX 1 a",
                "-ERR XX and NX options at the same time are not compatible",
            ),
            (
                "ZADD z GT LT 1 a",
                "-ERR GT, LT, and/or NX options at the same time are not compatible",
            ),
            (
                "ZADD z INCR 1 a 2 b",
                "-ERR INCR option supports a single increment-element pair",
            ),
            (
                "ZADD z 1",
                "-ERR wrong number of arguments for 'zadd' command",
            ),
            ("ZADD z 1 a 2", "-ERR syntax error"),
            ("ZADD z 1 new x b", "-ERR value is not a valid float"),
            ("ZSCORE z new", "$-1"),
            ("ZADD none XX 1 a", ":0"),
            ("EXISTS none", ":0"),
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
            ("ZMSCORE z c d nope", "*3 $3 inf $16 1700000000123.25 $-1"),
            (
                "ZINCRBY z -inf c",
                "-ERR resulting score is not a number (NaN)",
            ),
            ("ZINCRBY z x a", "-ERR value is not a valid float"),
            ("ZINCRBY z 1.5 new", "$3 1.5"),
            ("ZCARD z", ":5"),
            ("ZREMRANGEBYSCORE z (0 2", ":2"),
            (
                "ZREMRANGEBYSCORE none x 1",
                "-ERR min or max is not a float",
            ),
            ("ZREM z b nope c d", ":3"),
            ("EXISTS z", ":0"),
            ("ZMSCORE z a b", "*2 $-1 $-1"),
        ] {
            server.expect(command, reply);
        }
        let mut newer = TestServer::with_profile(Profile::Redis72);
        newer.run("ZADD z 0.1 a");
        newer.expect("ZSCORE z a", "$3 0.1");
    }
}
