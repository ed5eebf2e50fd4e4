//! Reading tokens.

use crate::number;

/// One token of a text.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::script) enum Token {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    Text(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Invalid(&'static str),
}

impl Token {
    /// The word that error texts use.
    fn name(&self) -> &'static str {
        match self {
            Token::ObjectBegin => "T_OBJ_BEGIN",
            Token::ObjectEnd => "T_OBJ_END",
            Token::ArrayBegin => "T_ARR_BEGIN",
            Token::ArrayEnd => "T_ARR_END",
            Token::Text(_) => "T_STRING",
            Token::Number(_) => "T_NUMBER",
            Token::Boolean(_) => "T_BOOLEAN",
            Token::Null => "T_NULL",
            Token::Colon => "T_COLON",
            Token::Comma => "T_COMMA",
            Token::End => "T_END",
            Token::Invalid(why) => why,
        }
    }
}

/// Reads the tokens of a text.
pub(in crate::script) struct Scanner<'a> {
    data: &'a [u8],
    position: usize,
    /// Where the last token starts, or where it went wrong.
    index: usize,
    allow_invalid_numbers: bool,
}

impl<'a> Scanner<'a> {
    pub(in crate::script) fn new(data: &'a [u8], allow_invalid_numbers: bool) -> Self {
        Scanner {
            data,
            position: 0,
            index: 0,
            allow_invalid_numbers,
        }
    }

    /// How many bytes have been read.
    pub(in crate::script) fn position(&self) -> usize {
        self.position
    }

    /// The error for a token that is not the one expected.
    pub(in crate::script) fn unexpected(&self, wanted: &str, found: &Token) -> String {
        let (found, character) = (found.name(), self.index + 1);
        format!("Expected {wanted} but found {found} at character {character}")
    }

    /// The byte at a distance from here. The end of the text reads as NUL, and a NUL in the text
    /// as its end, since the original reads a C string.
    fn peek(&self, distance: usize) -> u8 {
        self.data
            .get(self.position + distance)
            .copied()
            .unwrap_or(0)
    }

    pub(in crate::script) fn next(&mut self) -> Token {
        while matches!(self.peek(0), b' ' | b'\t' | b'\n' | b'\r') {
            self.position += 1;
        }
        self.index = self.position;
        let token = match self.peek(0) {
            0 => return Token::End,
            b'{' => Token::ObjectBegin,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayBegin,
            b']' => Token::ArrayEnd,
            b':' => Token::Colon,
            b',' => Token::Comma,
            b'"' => return self.text(),
            b'-' | b'0'..=b'9' => {
                return if !self.allow_invalid_numbers && self.is_invalid_number() {
                    self.invalid("invalid number")
                } else {
                    self.number()
                };
            }
            _ => return self.word(),
        };
        self.position += 1;
        token
    }

    fn invalid(&mut self, why: &'static str) -> Token {
        self.index = self.position;
        Token::Invalid(why)
    }

    fn word(&mut self) -> Token {
        let rest = &self.data[self.position..];
        for (word, token) in [
            (&b"true"[..], Token::Boolean(true)),
            (b"false", Token::Boolean(false)),
            (b"null", Token::Null),
        ] {
            if rest.starts_with(word) {
                self.position += word.len();
                return token;
            }
        }
        let may_be_number = matches!(rest[0], b'+' | b'i' | b'I' | b'n' | b'N');
        if may_be_number && self.allow_invalid_numbers && self.is_invalid_number() {
            return self.number();
        }
        self.invalid("invalid token")
    }

    /// A number that JSON does not have but `strtod` reads.
    fn is_invalid_number(&self) -> bool {
        if self.peek(0) == b'+' {
            return true;
        }
        let start = usize::from(self.peek(0) == b'-');
        match self.peek(start) {
            b'0' => matches!(self.peek(start + 1), b'x' | b'X' | b'0'..=b'9'),
            byte if byte <= b'9' => false,
            _ => {
                let rest = &self.data[self.position + start..];
                let prefix = rest.get(..3).unwrap_or_default();
                prefix.eq_ignore_ascii_case(b"inf") || prefix.eq_ignore_ascii_case(b"nan")
            }
        }
    }

    fn number(&mut self) -> Token {
        let number = number::strtod(&self.data[self.position..]);
        if number.used == 0 {
            return self.invalid("invalid number");
        }
        self.position += number.used;
        Token::Number(number.value)
    }

    fn text(&mut self) -> Token {
        self.position += 1;
        let mut text = Vec::new();
        loop {
            match self.peek(0) {
                0 => return self.invalid("unexpected end of string"),
                b'"' => break,
                b'\\' => match self.peek(1) {
                    byte @ (b'"' | b'\\' | b'/') => text.push(byte),
                    b'b' => text.push(8),
                    b't' => text.push(b'\t'),
                    b'n' => text.push(b'\n'),
                    b'f' => text.push(12),
                    b'r' => text.push(b'\r'),
                    b'u' => {
                        let Some((letter, length)) = self.unicode() else {
                            return self.invalid("invalid unicode escape code");
                        };
                        text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                        self.position += length;
                        continue;
                    }
                    _ => return self.invalid("invalid escape code"),
                },
                byte => {
                    text.push(byte);
                    self.position += 1;
                    continue;
                }
            }
            self.position += 2;
        }
        self.position += 1;
        Token::Text(text)
    }

    /// The character of a `\uXXXX` escape, or of a pair of them, and the length of the escape.
    fn unicode(&self) -> Option<(char, usize)> {
        let first = self.four_digits(2)?;
        if first & 0xF800 != 0xD800 {
            return Some((char::from_u32(first)?, 6));
        }
        // A surrogate: the high one must come first and a low one must follow.
        if first & 0x400 != 0 || self.peek(6) != b'\\' || self.peek(7) != b'u' {
            return None;
        }
        let second = self.four_digits(8)?;
        if second & 0xFC00 != 0xDC00 {
            return None;
        }
        let letter = ((first & 0x3FF) << 10 | (second & 0x3FF)) + 0x1_0000;
        Some((char::from_u32(letter)?, 12))
    }

    fn four_digits(&self, distance: usize) -> Option<u32> {
        (0..4).try_fold(0, |value, step| {
            let digit = char::from(self.peek(distance + step)).to_digit(16)?;
            Some(value << 4 | digit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &[u8]) -> Vec<Token> {
        let mut scanner = Scanner::new(text, true);
        let mut found = Vec::new();
        loop {
            let token = scanner.next();
            found.push(token.clone());
            if matches!(token, Token::End | Token::Invalid(_)) {
                return found;
            }
        }
    }

    #[test]
    fn tokens_of_a_text() {
        assert_eq!(
            tokens(br#" {"a\u00e9\ud83d\ude00": [true,null, -1.5e2]} "#),
            [
                Token::ObjectBegin,
                Token::Text("aé😀".as_bytes().to_vec()),
                Token::Colon,
                Token::ArrayBegin,
                Token::Boolean(true),
                Token::Comma,
                Token::Null,
                Token::Comma,
                Token::Number(-150.0),
                Token::ArrayEnd,
                Token::ObjectEnd,
                Token::End,
            ]
        );
    }

    #[test]
    fn numbers_beyond_json() {
        for (text, value) in [
            ("0x10", 16.0),
            ("01", 1.0),
            ("+5", 5.0),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(tokens(text.as_bytes())[0], Token::Number(value), "{text}");
            let strict = Scanner::new(text.as_bytes(), false).next();
            assert!(matches!(strict, Token::Invalid(_)), "{text}");
        }
    }

    #[test]
    fn broken_texts() {
        for (text, why) in [
            (&b"\"a"[..], "unexpected end of string"),
            (b"\"a\0b\"", "unexpected end of string"),
            (b"\"\\q\"", "invalid escape code"),
            (b"\"\\ud800\"", "invalid unicode escape code"),
            (b"\"\\ude00\\ud83d\"", "invalid unicode escape code"),
            (b"\"\\uzzzz\"", "invalid unicode escape code"),
            (b"tru", "invalid token"),
            (b"'", "invalid token"),
            (b"+", "invalid number"),
        ] {
            assert_eq!(tokens(text), [Token::Invalid(why)], "{text:?}");
        }
    }
}
