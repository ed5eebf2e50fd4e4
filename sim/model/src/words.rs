//! Words on a line, as people type requests and scripts declare what they are.

use crate::number::is_space;

/// Splits a line at spaces. Double quotes keep spaces and understand backslashes, single quotes
/// only `\'`; a closing quote ends its word. `None` if quotes are not closed, or not at its end.
pub(crate) fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = line;
    let mut words = Vec::new();
    loop {
        let spaces = rest.iter().take_while(|byte| is_space(**byte)).count();
        rest = &rest[spaces..];
        if rest.is_empty() {
            return Some(words);
        }
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after;
    }
}

/// Takes a word from the front.
fn word(line: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    let mut rest = line;
    let after_quotes = loop {
        match rest {
            [] => return Some((word, rest)),
            [b'"', after @ ..] => break double_quoted(after, &mut word),
            [b'\'', after @ ..] => break single_quoted(after, &mut word),
            // Fewer end a word than may stand before one.
            [b' ' | b'\t' | b'\n' | b'\r', ..] => return Some((word, rest)),
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    };
    after_quotes
        .filter(|after| after.first().is_none_or(|byte| is_space(*byte)))
        .map(|after| (word, after))
}

fn double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] => return None,
            [b'"', after @ ..] => return Some(after),
            [b'\\', b'x', high, low, after @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                word.push(nibble(*high) << 4 | nibble(*low));
                rest = after;
            }
            [b'\\', letter, after @ ..] => {
                word.push(match letter {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 0x08,
                    b'a' => 0x07,
                    other => *other,
                });
                rest = after;
            }
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] => return None,
            [b'\'', after @ ..] => return Some(after),
            [b'\\', b'\'', after @ ..] => {
                word.push(b'\'');
                rest = after;
            }
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit.to_ascii_lowercase() - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_a_word_together() {
        for (line, expected) in [
            (&b"set a  b "[..], &[&b"set"[..], b"a", b"b"][..]),
            (b"", &[]),
            (b"  \t", &[]),
            (b"\"a b\" 'c d'", &[b"a b", b"c d"]),
            (b"x\"a b\"", &[b"xa b"]),
            (b"\"\\x41\\n\\\"\\q\"", &[b"A\n\"q"]),
            (b"'it\\'s \\n'", &[b"it's \\n"]),
            (b"\"\" ''", &[b"", b""]),
            (b"\x0ba\x0bb\x0c c\r", &[b"a\x0bb\x0c", b"c"]),
            (b"\"a\"\x0b'b'", &[b"a", b"b"]),
        ] {
            assert_eq!(words(line).unwrap(), expected);
        }
        for line in ["\"a", "'a", "\"a\"b", "'a'b", "\"a\\"] {
            assert_eq!(words(line.as_bytes()), None);
        }
    }
}
