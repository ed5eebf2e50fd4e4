//! Replies that are up to chance.

/// Whether two replies to a call that chooses at random are of the same kind, and lists of the
/// same length.
pub(crate) fn same_reply(argv: &[&[u8]], real: &[u8], model: &[u8]) -> bool {
    let chooses = argv[0].eq_ignore_ascii_case(b"ZRANDMEMBER");
    chooses
        && match (real.first(), model.first()) {
            (Some(b'*'), Some(b'*')) => first_line(real) == first_line(model),
            (Some(b'$'), Some(b'$')) => is_nil(real) == is_nil(model),
            _ => false,
        }
}

fn is_nil(reply: &[u8]) -> bool {
    first_line(reply) == b"$-1"
}

fn first_line(reply: &[u8]) -> &[u8] {
    reply
        .split(|byte| *byte == b'\r')
        .next()
        .unwrap_or_default()
}
