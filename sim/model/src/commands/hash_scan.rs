//! Hashes: all fields in pieces, or some at random.

use super::random_choice::{check_pairs, choose, count, different};
use super::scan_request::{ScanRequest, cursor, scanned};
use super::{Entry, data};
use crate::arguments::is;
use crate::fields::Fields;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[data("hrandfield", random), data("hscan", scan)];

/// Answers everything at once. A small hash of Redis does so too, whatever the cursor is.
fn scan(state: &mut State, argv: &[&[u8]]) -> Answer {
    let at_start = cursor(argv[2])? == 0;
    let Some(fields) = state.keys.find::<Fields>(argv[1])? else {
        return Ok(scanned(std::iter::empty()));
    };
    let request = ScanRequest::parse(&argv[3..], false)?;
    let whole = at_start || fields.is_compact();
    let found = fields
        .iter()
        .filter(|(field, _)| whole && request.matches(field));
    Ok(scanned(found.flat_map(|(field, value)| {
        [Reply::bulk(field), Reply::bulk(value)]
    })))
}

fn random(state: &mut State, argv: &[&[u8]]) -> Answer {
    let Some(text) = argv.get(2) else {
        let Some(fields) = state.keys.find::<Fields>(argv[1])? else {
            return Ok(Reply::Nil);
        };
        let field = different(&mut state.random, fields.iter(), fields.len(), 1).pop();
        return Ok(field.map_or(Reply::Nil, |(field, _)| Reply::bulk(field)));
    };
    let count = count(text)?;
    let with_values = match &argv[3..] {
        [] => false,
        [word] if is(word, "withvalues") => true,
        _ => return Err(Refusal::Syntax),
    };
    if with_values {
        check_pairs(count)?;
    }
    let shape = state.shape();
    let Some(fields) = state.keys.find::<Fields>(argv[1])? else {
        return Ok(Reply::Array(vec![]));
    };
    let chosen = choose(&mut state.random, fields.iter(), fields.len(), count)?.into_iter();
    Ok(match with_values {
        true => shape.pairs(chosen.map(|(field, value)| (Reply::bulk(field), Reply::bulk(value)))),
        false => Reply::bulks(chosen.map(|(field, _)| field)),
    })
}

#[cfg(test)]
mod tests {
    use crate::Protocol;
    use crate::test_server::TestServer;

    #[test]
    fn scanning() {
        let mut server = TestServer::new();
        server.run("HSET h f 1 g 2");
        for (command, reply) in [
            ("HSCAN h 0", "*2 $1 0 *4 $1 f $1 1 $1 g $1 2"),
            ("HSCAN h 5 MATCH [g] COUNT 1", "*2 $1 0 *2 $1 g $1 2"),
            ("HSCAN none 0 FOO", "*2 $1 0 *0"),
            ("HSCAN none x", "-ERR invalid cursor"),
            ("HSCAN h 0 COUNT 0", "-ERR syntax error"),
            ("HSCAN h 0 NOVALUES", "-ERR syntax error"),
            ("SET s v", "+OK"),
            (
                "HSCAN s 0",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
        server.run(&format!("HSET h f {}", "l".repeat(65)));
        server.expect("HSCAN h 0 MATCH g", "*2 $1 0 *2 $1 g $1 2");
        server.expect("HSCAN h 5 MATCH g", "*2 $1 0 *0");
    }

    #[test]
    fn choosing() {
        let mut server = TestServer::new();
        server.run("HSET h f 1 g 2");
        server.run("SET s v");
        for (command, reply) in [
            ("HRANDFIELD none", "$-1"),
            ("HRANDFIELD none 1", "*0"),
            ("HRANDFIELD h 0", "*0"),
            ("HRANDFIELD h 3", "*2 $1 f $1 g"),
            ("HRANDFIELD h 2 WITHVALUES", "*4 $1 f $1 1 $1 g $1 2"),
            ("HRANDFIELD h 1 FOO", "-ERR syntax error"),
            ("HRANDFIELD h 1 WITHVALUES x", "-ERR syntax error"),
            (
                "HRANDFIELD none x FOO",
                "-ERR value is not an integer or out of range",
            ),
            (
                "HRANDFIELD h -9223372036854775808 WITHVALUES",
                "-ERR value is out of range, value must between -9223372036854775807 and \
                 9223372036854775807",
            ),
            (
                "HRANDFIELD h -4611686018427387904 WITHVALUES",
                "-ERR value is out of range",
            ),
            (
                "HRANDFIELD s",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
        let seen: std::collections::BTreeSet<_> = (0..50)
            .map(|_| server.run("HRANDFIELD h").to_resp2())
            .collect();
        assert_eq!(seen.len(), 2);
        server.run("HELLO 3");
        server.run("HDEL h g");
        let reply = server
            .run("HRANDFIELD h -2 WITHVALUES")
            .to_bytes(Protocol::Resp3);
        let pair = "*2\r\n$1\r\nf\r\n$1\r\n1\r\n";
        assert_eq!(reply, format!("*2\r\n{pair}{pair}").as_bytes());
    }
}
