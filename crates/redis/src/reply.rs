//! From redis-rs's reply tree to the capability's flat list.

use leaseline_core::capability::{PipelineReply, RedisError, Reply, ServerError, Value};
use redis::Value as Tree;

use crate::address::Endpoint;

/// The reply of one command: its size is checked first, then it is flattened.
pub(crate) fn single(tree: Tree, max_bytes: u64) -> Reply {
    check_size(wire_size(&tree), max_bytes)?;
    command(tree)?.map_err(RedisError::Server)
}

/// The replies of a pipeline: their sizes are added up, then each is flattened. A server error
/// is the result of its own command.
pub(crate) fn pipeline(trees: Vec<Tree>, max_bytes: u64) -> PipelineReply {
    check_size(trees.iter().map(wire_size).sum(), max_bytes)?;
    trees.into_iter().map(command).collect()
}

/// Code and text as the server sent them. redis-rs sorts known codes into an enum, but keeps the
/// code's text and everything after the first space.
pub(crate) fn server_error(error: &redis::ServerError) -> ServerError {
    ServerError {
        code: error.code().to_owned(),
        message: error.details().unwrap_or_default().to_owned(),
    }
}

/// Whether a server that should be the master refused to write: it is a replica now.
pub(crate) fn is_from_demoted(endpoint: &Endpoint, trees: &[Tree]) -> bool {
    let refused =
        |tree: &Tree| matches!(tree, Tree::ServerError(error) if error.code() == "READONLY");
    matches!(endpoint, Endpoint::Master(_)) && trees.iter().any(refused)
}

fn check_size(size: u64, max_bytes: u64) -> Result<(), RedisError> {
    if size > max_bytes {
        Err(RedisError::TooLarge(size))
    } else {
        Ok(())
    }
}

fn command(tree: Tree) -> Result<Result<Vec<Value>, ServerError>, RedisError> {
    if let Tree::ServerError(error) = &tree {
        return Ok(Err(server_error(error)));
    }
    let mut flat = Vec::new();
    flatten(tree, &mut flat)?;
    Ok(Ok(flat))
}

/// Appends `tree` in preorder. The depth is bounded: redis-rs refuses replies nested deeper than
/// 100.
fn flatten(tree: Tree, flat: &mut Vec<Value>) -> Result<(), RedisError> {
    let unsupported = |what: &str| Err(RedisError::UnsupportedReply(what.to_owned()));
    flat.push(match tree {
        Tree::Nil => Value::Nil,
        Tree::Int(number) => Value::Int(number),
        Tree::Boolean(truth) => Value::Int(truth.into()),
        Tree::Okay => Value::Status("OK".into()),
        Tree::SimpleString(text) => Value::Status(text),
        Tree::BulkString(bytes) => Value::Bytes(bytes),
        Tree::Double(number) => Value::Bytes(double_text(number).into_bytes()),
        Tree::BigNumber(digits) => Value::Bytes(digits),
        Tree::VerbatimString { text, .. } => Value::Bytes(text.into_bytes()),
        Tree::Array(items) | Tree::Set(items) => {
            flat.reserve(items.len());
            return items.into_iter().try_for_each(|item| flatten(item, flat));
        }
        Tree::Map(_) => return unsupported("a map"),
        Tree::Attribute { .. } => return unsupported("an attribute"),
        Tree::Push { .. } => return unsupported("a push message"),
        Tree::ServerError(error) => {
            let ServerError { code, message } = server_error(&error);
            return unsupported(&format!("an error inside an array: {code} {message}"));
        }
        other => return unsupported(&format!("an unknown type: {}", type_name(&other))),
    });
    Ok(())
}

/// `inf`, `-inf` and `nan` as the protocol spells them.
fn double_text(number: f64) -> String {
    if number.is_nan() {
        "nan".into()
    } else {
        number.to_string()
    }
}

/// redis-rs's enum may grow; a variant's name is enough for a message, its content is not shown.
fn type_name(tree: &Tree) -> String {
    let text = format!("{tree:?}");
    text.split(['(', ' ', '{'])
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// The bytes that a reply took on the wire, exact for RESP2.
fn wire_size(tree: &Tree) -> u64 {
    let number = |n: u64| n.checked_ilog10().unwrap_or(0) as u64 + 1;
    let line = |length: usize| 3 + length as u64;
    let header = |count: usize| 3 + number(count as u64);
    match tree {
        Tree::Nil | Tree::Okay => 5,
        Tree::Int(value) => 3 + number(value.unsigned_abs()) + u64::from(*value < 0),
        Tree::BulkString(bytes) => header(bytes.len()) + bytes.len() as u64 + 2,
        Tree::SimpleString(text) => line(text.len()),
        Tree::VerbatimString { text, .. } => line(text.len()) + 6,
        Tree::BigNumber(digits) => line(digits.len()),
        Tree::Boolean(_) => 4,
        Tree::Double(number) => line(double_text(*number).len()),
        Tree::Array(items) | Tree::Set(items) | Tree::Push { data: items, .. } => {
            header(items.len()) + items.iter().map(wire_size).sum::<u64>()
        }
        Tree::Map(pairs) => header(pairs.len()) + pairs_size(pairs),
        Tree::Attribute { data, attributes } => {
            header(attributes.len()) + pairs_size(attributes) + wire_size(data)
        }
        Tree::ServerError(error) => {
            let details = error.details().map_or(0, |text| text.len() + 1);
            line(error.code().len() + details)
        }
        _ => 0,
    }
}

fn pairs_size(pairs: &[(Tree, Tree)]) -> u64 {
    pairs
        .iter()
        .map(|(key, value)| wire_size(key) + wire_size(value))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(wire: &str) -> Tree {
        redis::parse_redis_value(wire.as_bytes()).expect("well-formed")
    }

    fn flat(wire: &str) -> Reply {
        single(parse(wire), u64::MAX)
    }

    #[test]
    fn flattening_is_preorder() {
        let wire = "*4\r\n:1\r\n*2\r\n$1\r\na\r\n*0\r\n*-1\r\n+QUEUED\r\n";
        let expected = [
            Value::Int(1),
            Value::Bytes(b"a".to_vec()),
            Value::Nil,
            Value::Status("QUEUED".into()),
        ];
        assert_eq!(flat(wire).expect("flat"), expected);
        assert_eq!(flat("*0\r\n").expect("flat"), []);
        assert_eq!(flat("$-1\r\n").expect("flat"), [Value::Nil]);
        assert_eq!(flat("+OK\r\n").expect("flat"), [Value::Status("OK".into())]);
    }

    #[test]
    fn resp3_scalars_are_kept_and_structures_refused() {
        let wire = "*4\r\n#t\r\n,1.5\r\n(12345678901234567890123\r\n=6\r\ntxt:ab\r\n";
        let bytes = |text: &str| Value::Bytes(text.into());
        let expected = [
            Value::Int(1),
            bytes("1.5"),
            bytes("12345678901234567890123"),
            bytes("ab"),
        ];
        assert_eq!(flat(wire).expect("flat"), expected);
        for wire in [
            "%1\r\n+a\r\n:1\r\n",
            ">2\r\n+message\r\n:1\r\n",
            "*1\r\n%0\r\n",
        ] {
            assert!(
                matches!(flat(wire), Err(RedisError::UnsupportedReply(_))),
                "{wire}"
            );
        }
    }

    #[test]
    fn server_errors_keep_code_and_text() {
        for line in [
            "WRONGTYPE Operation against a key holding the wrong kind of value",
            "NOSCRIPT No matching script. Please use EVAL.",
            "ERR user_script:1: boom script: abc, on @user_script:1.",
            "OOM command not allowed when used memory > 'maxmemory'.",
            "READONLY You can't write against a read only replica.",
            "LOADING Redis is loading the dataset in memory",
            "EXECABORT a  b ",
            "MYCODE",
            "MYCODE  two spaces",
            "ERR",
        ] {
            let expected = ServerError::from_line(line);
            assert_eq!(
                flat(&format!("-{line}\r\n")),
                Err(RedisError::Server(expected.clone()))
            );
            let trees = vec![parse(&format!("-{line}\r\n")), parse(":1\r\n")];
            let replies = pipeline(trees, u64::MAX).expect("a pipeline");
            assert_eq!(replies, [Err(expected), Ok(vec![Value::Int(1)])]);
        }
        let nested = flat("*2\r\n:1\r\n-ERR inner\r\n").expect_err("nested");
        assert!(
            matches!(&nested, RedisError::UnsupportedReply(text) if text.contains("ERR inner"))
        );
    }

    #[test]
    fn sizes_are_those_of_the_wire() {
        for wire in [
            "$5\r\nhello\r\n",
            "$0\r\n\r\n",
            ":-9223372036854775808\r\n",
            ":0\r\n",
            ":10\r\n",
            "+PONG\r\n",
            "+OK\r\n",
            "-ERR x y\r\n",
            "-MYCODE\r\n",
            "*2\r\n*10\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n$-1\r\n",
        ] {
            assert_eq!(wire_size(&parse(wire)), wire.len() as u64, "{wire:?}");
        }
        let tree = || parse("$5\r\nhello\r\n");
        assert!(single(tree(), 11).is_ok());
        assert_eq!(single(tree(), 10), Err(RedisError::TooLarge(11)));
        assert_eq!(
            pipeline(vec![tree(), tree()], 21),
            Err(RedisError::TooLarge(22))
        );
    }
}
