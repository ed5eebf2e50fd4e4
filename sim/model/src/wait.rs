//! What a blocking command waits for.

use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

/// A command that found nothing, and how to try it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The keys of which one must change before it can succeed.
    pub(crate) keys: Vec<Vec<u8>>,
    /// When it gives up, in milliseconds since 1970; `None` is never.
    pub(crate) deadline_ms: Option<i64>,
    /// The answer when it gives up.
    pub(crate) empty: Reply,
    /// The call that is tried again when a key has changed. Not always the one that came: `$` of
    /// a stream is by then the id that it stood for.
    pub(crate) call: Vec<Vec<u8>>,
}

impl State {
    /// Ends a blocking command that found nothing: with `empty` where nobody may wait (in a
    /// script, in `MULTI`), or by waiting.
    pub(crate) fn wait_or(
        &self,
        empty: Reply,
        keys: &[&[u8]],
        deadline_ms: Option<i64>,
        call: &[&[u8]],
    ) -> Answer {
        if !self.may_wait {
            return Ok(empty);
        }
        let own = |words: &[&[u8]]| words.iter().map(|word| word.to_vec()).collect();
        Err(Refusal::Wait(Box::new(Wait {
            keys: own(keys),
            deadline_ms,
            empty,
            call: own(call),
        })))
    }

    /// The deadline of a timeout in seconds, with a fraction: `BLPOP`'s.
    pub(crate) fn deadline_of_seconds(&self, text: &[u8]) -> Result<Option<i64>, Refusal> {
        let seconds =
            seconds(text).ok_or(Refusal::Text("ERR timeout is not a float or out of range"))?;
        let milliseconds = (seconds * 1000.0).ceil();
        // What is too large becomes the smallest integer, and is refused as negative.
        self.deadline(number::truncate_like_x86(milliseconds))
    }

    /// The deadline of a timeout in milliseconds: that of `XREAD BLOCK`.
    pub(crate) fn deadline_of_milliseconds(&self, text: &[u8]) -> Result<Option<i64>, Refusal> {
        let milliseconds = number::parse_integer(text).ok_or(Refusal::Text(
            "ERR timeout is not an integer or out of range",
        ))?;
        self.deadline(milliseconds)
    }

    fn deadline(&self, milliseconds: i64) -> Result<Option<i64>, Refusal> {
        match milliseconds {
            ..0 => Err(Refusal::Text("ERR timeout is negative")),
            0 => Ok(None),
            // Beyond the end of time it never comes.
            _ => Ok(self.time.now_ms().checked_add(milliseconds)),
        }
    }
}

/// A timeout, which Redis reads into a type of a wider range: what is too large for a score is a
/// number here, and what is too small is not zero.
fn seconds(text: &[u8]) -> Option<f64> {
    let number = number::strtod(text);
    let starts_well = text.first().is_some_and(|first| !number::is_space(*first));
    if !starts_well || number.used != text.len() || number.value.is_nan() {
        return None;
    }
    Some(match number.out_of_range && number.value == 0.0 {
        true => f64::MIN_POSITIVE.copysign(number.value),
        false => number.value,
    })
}
