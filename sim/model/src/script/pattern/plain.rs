//! Texts that mean nothing special as patterns.

use super::{Fault, STEPS_PER_COUNT, until_nul};

/// Whether a text is searched as it is, because it means nothing special as a pattern.
pub(in crate::script) fn is_plain(pattern: &[u8]) -> bool {
    !until_nul(pattern)
        .iter()
        .any(|byte| b"^$*+?.([%-".contains(byte))
}

/// Where `text` is in `source`, from `from` on.
pub(in crate::script) fn find_plain(
    source: &[u8],
    text: &[u8],
    from: usize,
    mut count: impl FnMut(usize) -> bool,
) -> Result<Option<usize>, Fault> {
    let Some(first) = text.first() else {
        return Ok((from <= source.len()).then_some(from));
    };
    let mut steps = 0;
    let mut start = from;
    let mut answer = None;
    while let Some(rest) = source.get(start..).filter(|rest| rest.len() >= text.len()) {
        let Some(skipped) = rest.iter().position(|byte| byte == first) else {
            steps += rest.len();
            break;
        };
        start += skipped;
        steps += skipped + 1;
        if source[start..].starts_with(text) {
            answer = Some(start);
            break;
        }
        // Comparing is quick, but may have come far.
        steps += text.len() / 32;
        start += 1;
        if steps >= STEPS_PER_COUNT && !count(std::mem::take(&mut steps)) {
            return Err(Fault::Stopped);
        }
    }
    match count(steps) {
        true => Ok(answer),
        false => Err(Fault::Stopped),
    }
}
