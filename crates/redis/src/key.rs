//! Which hash slot a command belongs to.

use leaseline_core::capability::RedisError;
use leaseline_core::slot::slot;

/// The slot of all keys of these commands, or `None` where none has a key.
///
/// A first argument that is no key (of a command that is not known here) only costs a redirection:
/// the node that is asked says who has the real key.
pub(crate) fn common_slot(commands: &[&[&[u8]]]) -> Result<Option<u16>, RedisError> {
    let mut common = None;
    for key in commands.iter().flat_map(|argv| keys(argv)) {
        match common {
            None => common = Some((key, slot(key))),
            Some((first, home)) if slot(key) != home => {
                return Err(RedisError::Denied(format!(
                    "the keys {} and {} of one call have different hash slots on the cluster; use \
                     one hash tag for both, such as a queue name with braces: {{jobs}}",
                    first.escape_ascii(),
                    key.escape_ascii()
                )));
            }
            Some(_) => {}
        }
    }
    Ok(common.map(|(_, slot)| slot))
}

/// The keys of a command, as far as they are needed to find its node.
fn keys<'a>(argv: &'a [&'a [u8]]) -> &'a [&'a [u8]] {
    let [name, arguments @ ..] = argv else {
        return &[];
    };
    match name.to_ascii_uppercase().as_slice() {
        b"ACL" | b"BGREWRITEAOF" | b"BGSAVE" | b"CLIENT" | b"CLUSTER" | b"COMMAND" | b"CONFIG"
        | b"DBSIZE" | b"ECHO" | b"FAILOVER" | b"FLUSHALL" | b"FLUSHDB" | b"FUNCTION" | b"INFO"
        | b"KEYS" | b"LASTSAVE" | b"LATENCY" | b"LOLWUT" | b"MODULE" | b"PING" | b"PUBLISH"
        | b"PUBSUB" | b"RANDOMKEY" | b"ROLE" | b"SAVE" | b"SCAN" | b"SCRIPT" | b"SLOWLOG"
        | b"SWAPDB" | b"TIME" | b"WAIT" | b"WAITAOF" => &[],
        b"EVAL" | b"EVALSHA" | b"EVAL_RO" | b"EVALSHA_RO" | b"FCALL" | b"FCALL_RO" => {
            let count = arguments
                .get(1)
                .and_then(|count| number(count))
                .unwrap_or(0);
            let rest = arguments.get(2..).unwrap_or_default();
            &rest[..count.min(rest.len())]
        }
        b"DEL" | b"UNLINK" | b"EXISTS" | b"TOUCH" | b"MGET" => arguments,
        b"LMOVE" | b"BLMOVE" | b"RPOPLPUSH" | b"BRPOPLPUSH" | b"RENAME" | b"RENAMENX"
        | b"SMOVE" | b"COPY" => &arguments[..arguments.len().min(2)],
        _ => &arguments[..arguments.len().min(1)],
    }
}

fn number(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(text: &str) -> Result<Option<u16>, RedisError> {
        let commands: Vec<Vec<&[u8]>> = text
            .split(';')
            .map(|command| command.split_whitespace().map(str::as_bytes).collect())
            .collect();
        let commands: Vec<&[&[u8]]> = commands.iter().map(Vec::as_slice).collect();
        common_slot(&commands)
    }

    #[test]
    fn keys_are_found() {
        let home = Some(slot(b"x"));
        for text in [
            "GET {x}a",
            "evalsha abc 2 {x}a {x}b c d",
            "EVAL abc 1 {x}a b;EVAL abc 1 {x}b",
            "DEL {x}a {x}b",
            "BLMOVE {x}a {x}a RIGHT RIGHT 2.000",
            "LRANGE {x}a 0 -1;PING;INFO all",
            "LPUSH {x}a b c",
        ] {
            assert_eq!(common(text), Ok(home), "{text}");
        }
        for text in [
            "PING",
            "EVAL abc 0 a b",
            "EVAL",
            "EVAL abc",
            "INFO all",
            "GET",
        ] {
            assert_eq!(common(text), Ok(None), "{text}");
        }
        assert_eq!(common("EVAL abc 99 {x}a"), Ok(home));
    }

    #[test]
    fn two_slots_are_refused_with_the_remedy() {
        for text in [
            "DEL a b",
            "EVALSHA abc 2 a b",
            "LMOVE a b LEFT LEFT",
            "GET a;GET b",
        ] {
            match common(text) {
                Err(RedisError::Denied(reason)) => {
                    assert!(reason.contains("{jobs}"), "{reason}");
                    assert!(reason.contains("keys a and b"), "{reason}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
