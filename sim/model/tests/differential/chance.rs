//! Replies that are up to chance.

use leaseline_redis_model::{Protocol, Reply};

use crate::wire;

/// The commands that choose at random and change nothing.
pub(crate) const AT_RANDOM: [&str; 1] = ["ZRANDMEMBER"];

/// Whether two replies of a command that chooses at random have as much in them.
pub(crate) fn same_amount(argv: &[&[u8]], protocol: Protocol, real: &[u8], model: &[u8]) -> bool {
    let mut names = AT_RANDOM.iter();
    names.any(|name| argv[0].eq_ignore_ascii_case(name.as_bytes()))
        && match (wire::reply(real, protocol), wire::reply(model, protocol)) {
            (Some(Reply::Array(real)), Some(Reply::Array(model))) => real.len() == model.len(),
            (Some(Reply::Bulk(_)), Some(Reply::Bulk(_))) => true,
            _ => false,
        }
}
