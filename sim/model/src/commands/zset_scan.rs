//! Sorted sets: all members in some order, or some at random.

use super::random_choice::{check_pairs, choose, count, different};
use super::scan_request::{ScanRequest, cursor, scanned};
use super::{Entry, data};
use crate::arguments::is;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::sorted_set::SortedSet;
use crate::state::{Profile, State};

pub(super) const COMMANDS: &[Entry] = &[data("zrandmember", random), data("zscan", scan)];

/// Answers everything at once. A small set of Redis does so too, whatever the cursor is.
fn scan(state: &mut State, argv: &[&[u8]]) -> Answer {
    let at_start = cursor(argv[2])? == 0;
    let profile = state.profile;
    let Some(set) = state.keys.find::<SortedSet>(argv[1])? else {
        return Ok(scanned(std::iter::empty()));
    };
    let request = ScanRequest::parse(&argv[3..], false)?;
    let compact = set.is_compact();
    let found = set
        .iter()
        .filter(|(member, _)| (compact || at_start) && request.matches(member))
        .flat_map(|(member, score)| {
            let score = score_text(profile, score, compact);
            [Reply::bulk(member), Reply::bulk(score)]
        });
    Ok(scanned(found))
}

/// The compact encoding of 7.0 keeps integers as such, and these are shown with all their digits.
fn score_text(profile: Profile, score: f64, compact: bool) -> String {
    const LARGEST: f64 = (i64::MAX / 2) as f64;
    if compact && score == score.trunc() && score.abs() <= LARGEST {
        return (score as i64).to_string();
    }
    profile.format_double(score)
}

fn random(state: &mut State, argv: &[&[u8]]) -> Answer {
    let Some(text) = argv.get(2) else {
        let Some(set) = state.keys.find::<SortedSet>(argv[1])? else {
            return Ok(Reply::Nil);
        };
        let member = different(&mut state.random, set.iter(), set.len(), 1).pop();
        return Ok(member.map_or(Reply::Nil, |(member, _)| Reply::bulk(member)));
    };
    let count = count(text)?;
    let with_scores = match &argv[3..] {
        [] => false,
        [word] if is(word, "withscores") => true,
        _ => return Err(Refusal::Syntax),
    };
    if with_scores {
        check_pairs(count)?;
    }
    let shape = state.shape();
    let Some(set) = state.keys.find::<SortedSet>(argv[1])? else {
        return Ok(Reply::Array(vec![]));
    };
    let members = choose(&mut state.random, set.iter(), set.len(), count)?.into_iter();
    Ok(match with_scores {
        true => {
            shape.pairs(members.map(|(member, score)| (Reply::bulk(member), shape.double(score))))
        }
        false => Reply::bulks(members.map(|(member, _)| member)),
    })
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn scanning() {
        let mut server = TestServer::new();
        server.run("ZADD z 1e17 a 0.1 b inf c 1e300 d");
        for (command, reply) in [
            (
                "ZSCAN z 0",
                "*2 $1 0 *8 $1 b $19 0.10000000000000001 $1 a $18 100000000000000000 $1 d $23 \
                 1.0000000000000001e+300 $1 c $3 inf",
            ),
            (
                "ZSCAN z 17 MATCH [bc] COUNT 1",
                "*2 $1 0 *4 $1 b $19 0.10000000000000001 $1 c $3 inf",
            ),
            ("ZSCAN none 0 BOGUS", "*2 $1 0 *0"),
            ("ZSCAN none x", "-ERR invalid cursor"),
            ("ZSCAN z 0 COUNT 0", "-ERR syntax error"),
            ("ZSCAN z 0 TYPE zset", "-ERR syntax error"),
            ("ZSCAN z 0 MATCH", "-ERR syntax error"),
        ] {
            server.expect(command, reply);
        }
        server.run(&format!("ZADD z 1 {}", "l".repeat(65)));
        server.expect("ZSCAN z 0 MATCH a", "*2 $1 0 *2 $1 a $5 1e+17");
        server.expect("ZSCAN z 17 MATCH a", "*2 $1 0 *0");
    }

    #[test]
    fn choosing() {
        let mut server = TestServer::new();
        server.run("ZADD z 1 a 2 b 3 c");
        server.run("SET s v");
        for (command, reply) in [
            ("ZRANDMEMBER none", "$-1"),
            ("ZRANDMEMBER none 3", "*0"),
            ("ZRANDMEMBER z 0", "*0"),
            ("ZRANDMEMBER z 3", "*3 $1 a $1 b $1 c"),
            (
                "ZRANDMEMBER z 9 WITHSCORES",
                "*6 $1 a $1 1 $1 b $1 2 $1 c $1 3",
            ),
            ("ZRANDMEMBER z 1 x", "-ERR syntax error"),
            (
                "ZRANDMEMBER none x",
                "-ERR value is not an integer or out of range",
            ),
            (
                "ZRANDMEMBER z -9223372036854775808",
                "-ERR value is out of range, value must between -9223372036854775807 and \
                 9223372036854775807",
            ),
            (
                "ZRANDMEMBER z 4611686018427387904 WITHSCORES",
                "-ERR value is out of range",
            ),
            (
                "ZRANDMEMBER s 1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            (
                "ZRANDMEMBER z -9223372036854775807",
                "-ERR leaseline-redis-model does not support a random choice with \
                 9223372036854775807 repetitions",
            ),
        ] {
            server.expect(command, reply);
        }
        let seen: std::collections::BTreeSet<_> = (0..50)
            .map(|_| server.run("ZRANDMEMBER z").to_resp2())
            .collect();
        assert_eq!(seen.len(), 3);
        server.run("HELLO 3");
        server.run("ZREM z b c");
        server.expect("ZRANDMEMBER z -2 WITHSCORES", "*2 *2 $1 a ,1 *2 $1 a ,1");
    }
}
