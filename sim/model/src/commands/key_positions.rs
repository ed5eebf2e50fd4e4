//! Which arguments of a call are keys.

use super::table::{Command, KeyPositions};
use crate::arguments::is;
use crate::number;

impl Command {
    /// Whether calls of it may have keys.
    pub(crate) fn takes_keys(&self) -> bool {
        self.positions.first > 0 || self.has_word("movablekeys")
    }

    /// The keys of a call that [`Command::accepts`] its number of arguments. `None` if it does not
    /// have what tells them.
    pub(crate) fn keys<'a>(&self, argv: &[&'a [u8]]) -> Option<Vec<&'a [u8]>> {
        match self.name {
            "lmpop" | "zmpop" | "sintercard" | "zdiff" | "zinter" | "zintercard" | "zunion" => {
                counted(argv, 1)
            }
            "blmpop" | "bzmpop" | "eval" | "evalsha" | "eval_ro" | "evalsha_ro" => counted(argv, 2),
            "zdiffstore" | "zinterstore" | "zunionstore" => {
                let mut keys = vec![argv[1]];
                keys.extend(counted(argv, 2)?);
                Some(keys)
            }
            "xread" => streams(argv, 1),
            // Not the name of a group or a consumer.
            "xreadgroup" => streams(argv, 4),
            _ => Some(plain(self.positions, argv)),
        }
    }
}

fn plain<'a>(positions: KeyPositions, argv: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let KeyPositions { first, last, step } = positions;
    let end = match first {
        0 => 0,
        _ if last < 0 => argv.len().saturating_add_signed(last + 1),
        _ => argv.len().min(last as usize + 1),
    };
    let keys = &argv[first.min(end)..end];
    keys.iter().copied().step_by(step).collect()
}

/// The keys after their number.
fn counted<'a>(argv: &[&'a [u8]], at: usize) -> Option<Vec<&'a [u8]>> {
    let count = usize::try_from(leading_int(argv.get(at)?)).ok()?;
    let keys = argv.get(at + 1..)?.get(..count)?;
    (count > 0).then(|| keys.to_vec())
}

/// The number that a text starts with, as C's `atoi` reads it: what is too large for a `long` is
/// the largest, and of that the lower half is taken.
fn leading_int(text: &[u8]) -> i32 {
    let spaces = text.iter().take_while(|byte| number::is_space(**byte));
    let text = &text[spaces.count()..];
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let value = digits.fold(0_i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        let value = value.saturating_mul(10);
        match negative {
            true => value.saturating_sub(digit),
            false => value.saturating_add(digit),
        }
    });
    value as i32
}

/// The first half of what follows `STREAMS`, which does not come before an argument.
fn streams<'a>(argv: &[&'a [u8]], from: usize) -> Option<Vec<&'a [u8]>> {
    let at = argv
        .iter()
        .skip(from)
        .position(|word| is(word, "streams"))?;
    let rest = &argv[from + at + 1..];
    let keys = &rest[..rest.len() / 2];
    (!keys.is_empty()).then(|| keys.to_vec())
}

#[cfg(test)]
mod tests {
    use crate::commands::find;
    use crate::state::Profile;

    #[test]
    fn keys_are_found() {
        let keys = |call: &str| -> Vec<String> {
            let argv: Vec<&[u8]> = call.split(' ').map(str::as_bytes).collect();
            let command = find(Profile::Redis70, &argv).expect("a command");
            let keys = command.keys(&argv).into_iter().flatten();
            keys.map(|key| String::from_utf8_lossy(key).into_owned())
                .collect()
        };
        assert_eq!(keys("GET a"), ["a"]);
        assert_eq!(keys("LMOVE a b LEFT LEFT"), ["a", "b"]);
        assert_eq!(keys("DEL a b c"), ["a", "b", "c"]);
        assert_eq!(keys("MSET a 1 b 2"), ["a", "b"]);
        assert_eq!(keys("BLPOP a b 0"), ["a", "b"]);
        assert_eq!(keys("LMPOP 2 a b LEFT"), ["a", "b"]);
        assert_eq!(keys("LMPOP x a b LEFT"), [""; 0]);
        assert_eq!(keys("ZUNIONSTORE d 2 a b WEIGHTS 1 2"), ["d", "a", "b"]);
        assert_eq!(keys("XREAD COUNT 1 STREAMS a b 0 0"), ["a", "b"]);
        assert_eq!(keys("XGROUP CREATE s g 0"), ["s"]);
        assert!(keys("PING").is_empty());
    }
}
