//! Strings combined bit by bit.

use super::{Entry, data};
use crate::arguments::is;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::text::Text;
use crate::value::Value;

pub(super) const COMMANDS: &[Entry] = &[data("bitop", combine)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    And,
    Or,
    Xor,
    Not,
}

impl Operation {
    fn parse(word: &[u8]) -> Result<Self, Refusal> {
        let operations = [
            ("and", Operation::And),
            ("or", Operation::Or),
            ("xor", Operation::Xor),
            ("not", Operation::Not),
        ];
        let found = operations.into_iter().find(|(name, _)| is(word, name));
        found.map(|(_, operation)| operation).ok_or(Refusal::Syntax)
    }

    fn apply(self, one: u8, two: u8) -> u8 {
        match self {
            Operation::And => one & two,
            Operation::Or => one | two,
            Operation::Xor | Operation::Not => one ^ two,
        }
    }
}

/// Stores the result, which is as long as the longest of the strings; the others go on with zeros.
fn combine(state: &mut State, argv: &[&[u8]]) -> Answer {
    let operation = Operation::parse(argv[1])?;
    let (target, keys) = (argv[2], &argv[3..]);
    if operation == Operation::Not && keys.len() != 1 {
        return Err(Refusal::Text(
            "ERR BITOP NOT must be called with a single source key.",
        ));
    }
    let mut texts = Vec::with_capacity(keys.len());
    for key in keys {
        let text = state.keys.find::<Text>(key)?;
        texts.push(text.map(|text| text.to_bytes()).unwrap_or_default());
    }
    let length = texts.iter().map(Vec::len).max().unwrap_or(0);
    if length == 0 {
        state.keys.take(target);
        return Ok(Reply::Integer(0));
    }
    if operation == Operation::Not {
        texts.push(vec![0xff; length]);
    }
    for text in &mut texts {
        text.resize(length, 0);
    }
    let combined = texts.into_iter().reduce(|one, two| {
        let pairs = one.into_iter().zip(two);
        pairs.map(|(one, two)| operation.apply(one, two)).collect()
    });
    let combined = Text::edited(combined.unwrap_or_default());
    state.keys.put(target, Value::Text(combined));
    Ok(Reply::count(length))
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn operations() {
        let mut server = TestServer::new();
        server.run("MSET a ab b 'c d' n 5");
        server.run("RPUSH l x");
        server.run("RPUSH target x");
        for (command, reply) in [
            ("BITOP AND d a b", ":3"),
            ("GET d", "$3 a \u{0}"),
            ("BITOP or d a b", ":3"),
            ("GET d", "$3 cbd"),
            ("BITOP XOR d a a", ":2"),
            ("GET d", "$2 \u{0}\u{0}"),
            ("BITOP NOT d a", ":2"),
            ("BITOP NOT d d", ":2"),
            ("GET d", "$2 ab"),
            ("BITOP AND d a none", ":2"),
            ("GET d", "$2 \u{0}\u{0}"),
            ("PEXPIRE d 1000", ":1"),
            ("BITOP OR d n", ":1"),
            ("GET d", "$1 5"),
            ("OBJECT ENCODING d", "$3 raw"),
            ("PTTL d", ":-1"),
            ("BITOP OR target a", ":2"),
            ("TYPE target", "+string"),
            ("BITOP OR target none", ":0"),
            ("EXISTS target", ":0"),
            (
                "BITOP NOT d a b",
                "-ERR BITOP NOT must be called with a single source key.",
            ),
            ("BITOP DIFF d l", "-ERR syntax error"),
            (
                "BITOP OR d a l",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ] {
            server.expect(command, reply);
        }
    }
}
