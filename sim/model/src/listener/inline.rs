//! Requests typed by people: words on a line.

use super::protocol_error::ProtocolError;

/// Splits a line at spaces. Double quotes keep spaces and understand backslashes, single quotes
/// only `\'`; a closing quote ends its word.
pub(super) fn words(line: &[u8]) -> Result<Vec<Vec<u8>>, ProtocolError> {
    let mut rest = line;
    let mut words = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return Ok(words);
        }
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after;
    }
}

/// Takes a word from the front.
fn word(line: &[u8]) -> Result<(Vec<u8>, &[u8]), ProtocolError> {
    let mut word = Vec::new();
    let mut rest = line;
    let after_quotes = loop {
        match rest {
            [] => return Ok((word, rest)),
            [b'"', after @ ..] => break double_quoted(after, &mut word),
            [b'\'', after @ ..] => break single_quoted(after, &mut word),
            [byte, ..] if byte.is_ascii_whitespace() => return Ok((word, rest)),
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    };
    match after_quotes {
        Some(after) if after.first().is_none_or(u8::is_ascii_whitespace) => Ok((word, after)),
        _ => Err(ProtocolError::UnbalancedQuotes),
    }
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
        ] {
            assert_eq!(words(line).unwrap(), expected);
        }
        for line in ["\"a", "'a", "\"a\"b", "'a'b", "\"a\\"] {
            assert_eq!(words(line.as_bytes()), Err(ProtocolError::UnbalancedQuotes));
        }
    }
}
