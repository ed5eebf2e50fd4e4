//! Replies in which Redis leaves open what comes first, or what is chosen.

use leaseline_redis_model::{Protocol, Reply};

use crate::wire;

/// What a reply leaves open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// The order of the items.
    Order,
    /// The order of the pairs of items.
    Pairs,
    /// The order of the items of a scan, or of its pairs.
    Scan,
    ScanOfPairs,
    /// Which items there are.
    Choice,
}

/// A command, what its reply leaves open, and whether that is so only where the value of the key
/// is kept in a hash table.
const COMMANDS: &[(&str, Open, bool)] = &[
    ("HGETALL", Open::Pairs, true),
    ("HKEYS", Open::Order, true),
    ("HRANDFIELD", Open::Choice, false),
    ("HSCAN", Open::ScanOfPairs, true),
    ("HVALS", Open::Order, true),
    ("KEYS", Open::Order, false),
    ("RANDOMKEY", Open::Choice, false),
    ("SCAN", Open::Scan, false),
    ("SDIFF", Open::Order, false),
    ("SINTER", Open::Order, false),
    ("SMEMBERS", Open::Order, true),
    ("SPOP", Open::Choice, false),
    ("SRANDMEMBER", Open::Choice, false),
    ("SSCAN", Open::Scan, true),
    ("SUNION", Open::Order, false),
    ("ZRANDMEMBER", Open::Choice, false),
];

fn find(name: &[u8]) -> Option<(Open, bool)> {
    let name = name.to_ascii_uppercase();
    let mut commands = COMMANDS.iter();
    let found = commands.find(|(known, ..)| known.as_bytes() == name);
    found.map(|(_, open, in_table)| (*open, *in_table))
}

/// Whether the reply of a command leaves something open.
pub(crate) fn is_open(name: &str) -> bool {
    find(name.as_bytes()).is_some()
}

/// Whether two replies to the same call are alike but for what is left open.
pub(crate) fn same_reply(
    argv: &[&[u8]],
    protocol: Protocol,
    (real, model): (&[u8], &[u8]),
    is_in_table: impl FnOnce() -> bool,
) -> bool {
    let Some((open, in_table)) = find(argv[0]) else {
        return false;
    };
    if real.first() != model.first() || in_table && !is_in_table() {
        return false;
    }
    match (wire::reply(real, protocol), wire::reply(model, protocol)) {
        (Some(real), Some(model)) => settled(real, open) == settled(model, open),
        _ => false,
    }
}

/// The members that each of two replies to `SPOP` has.
pub(crate) fn popped(
    argv: &[&[u8]],
    protocol: Protocol,
    (real, model): (&[u8], &[u8]),
) -> Option<[Vec<Vec<u8>>; 2]> {
    if !argv[0].eq_ignore_ascii_case(b"SPOP") {
        return None;
    }
    let members = |bytes| match wire::reply(bytes, protocol)? {
        Reply::Bulk(member) => Some(vec![member]),
        Reply::Array(items) | Reply::Set(items) => {
            Some(items.into_iter().filter_map(bulk).collect())
        }
        _ => None,
    };
    Some([members(real)?, members(model)?])
}

fn bulk(reply: Reply) -> Option<Vec<u8>> {
    match reply {
        Reply::Bulk(bytes) => Some(bytes),
        _ => None,
    }
}

/// The reply with what is open put in order, or out.
fn settled(reply: Reply, open: Open) -> Reply {
    match (reply, open) {
        (Reply::Array(items), Open::Order) => Reply::Array(ordered(items)),
        (Reply::Set(items), Open::Order) => Reply::Set(ordered(items)),
        (Reply::Array(items), Open::Pairs) => {
            let (pairs, _) = items.as_chunks::<2>();
            let pairs = pairs.iter().map(|pair| Reply::Array(pair.to_vec()));
            Reply::Array(ordered(pairs.collect()))
        }
        (Reply::Map(pairs), Open::Pairs) => {
            let pairs = pairs.into_iter();
            let pairs = pairs.map(|(field, value)| Reply::Array(vec![field, value]));
            Reply::Array(ordered(pairs.collect()))
        }
        (Reply::Array(mut parts), Open::Scan | Open::ScanOfPairs) => {
            let inside = match open {
                Open::Scan => Open::Order,
                _ => Open::Pairs,
            };
            let found = parts.pop().map(|found| settled(found, inside));
            parts.extend(found);
            Reply::Array(parts)
        }
        (Reply::Bulk(_) | Reply::Double(_), Open::Choice) => Reply::Bulk(Vec::new()),
        (Reply::Array(items), Open::Choice) => {
            let items = items.into_iter().map(|item| settled(item, open));
            Reply::Array(items.collect())
        }
        (Reply::Set(items), Open::Choice) => {
            let items = items.into_iter().map(|item| settled(item, open));
            Reply::Set(items.collect())
        }
        (reply, _) => reply,
    }
}

fn ordered(mut items: Vec<Reply>) -> Vec<Reply> {
    items.sort_by_key(Reply::to_resp2);
    items
}
