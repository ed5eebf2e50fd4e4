//! Which arguments of a call are keys.

use super::table::{Command, KeyPositions};
use crate::arguments::is;
use crate::number;

impl Command {
    /// The keys of a call that [`Command::accepts`] its number of arguments.
    pub(crate) fn keys<'a>(&self, argv: &[&'a [u8]]) -> Vec<&'a [u8]> {
        match self.name {
            "lmpop" | "zmpop" | "sintercard" | "zdiff" | "zinter" | "zintercard" | "zunion" => {
                counted(argv, 1)
            }
            "blmpop" | "bzmpop" | "eval" | "evalsha" | "eval_ro" | "evalsha_ro" => counted(argv, 2),
            "zdiffstore" | "zinterstore" | "zunionstore" => {
                let mut keys = vec![argv[1]];
                keys.extend(counted(argv, 2));
                keys
            }
            "xread" | "xreadgroup" => streams(argv),
            _ => plain(self.positions, argv),
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
fn counted<'a>(argv: &[&'a [u8]], at: usize) -> Vec<&'a [u8]> {
    let count = argv.get(at).and_then(|text| number::parse_integer(text));
    let count = count.and_then(|count| usize::try_from(count).ok());
    let rest = argv.get(at + 1..).unwrap_or_default();
    rest.iter().copied().take(count.unwrap_or(0)).collect()
}

/// The first half of what follows `STREAMS`.
fn streams<'a>(argv: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let Some(at) = argv.iter().position(|word| is(word, "streams")) else {
        return Vec::new();
    };
    let rest = &argv[at + 1..];
    rest[..rest.len() / 2].to_vec()
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
            let keys = command.keys(&argv).into_iter();
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
