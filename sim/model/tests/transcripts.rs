//! Replies recorded from a real server, byte for byte.
//!
//! The files in `tests/data` have a line `> command`, then a line `< reply` with its bytes
//! escaped. Words of a command stand between spaces, or in double quotes with the same escapes.
//! `== title` starts an empty server, `! memory full`, `! memory free` and `! advance 50ms` do
//! what they say, `#` comments.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use leaseline_redis_model::{Clock, Condition, Options, Profile, Server};

fn server() -> Server {
    Server::new(Options {
        profile: Profile::Redis70,
        clock: Clock::Virtual(1_700_000_000_000_000),
    })
}

/// Runs a file and returns what differs, as text.
fn differences(text: &str) -> (usize, String) {
    let (mut server, mut checked, mut differences) = (server(), 0, String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (kind, rest) = line.split_at_checked(2).unwrap_or((line, ""));
        match kind {
            "> " => {
                let words = words(rest);
                let argv: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
                let reply = escape(&server.execute(&argv).to_resp2());
                let expected = lines.next().and_then(|line| line.strip_prefix("< "));
                let expected = expected.expect("a reply after a command");
                checked += 1;
                if reply != expected {
                    writeln!(
                        differences,
                        "> {rest}\n  redis: {expected}\n  model: {reply}"
                    )
                    .expect("writing to a string");
                }
            }
            "==" => server = self::server(),
            "! " => match rest {
                "memory full" => server.impose(Condition::OutOfMemory),
                "memory free" => server.lift(Condition::OutOfMemory),
                "advance 50ms" => server.advance(Duration::from_millis(50)),
                _ => panic!("unknown order {rest:?}"),
            },
            "# " | "" => {}
            _ => panic!("unknown line {line:?}"),
        }
    }
    (checked, differences)
}

fn words(line: &str) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            None => {
                let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
                (word.as_bytes().to_vec(), after)
            }
            Some(quoted) => {
                let (word, after) = unescape_quoted(quoted);
                (word, after.strip_prefix(' ').unwrap_or(after))
            }
        };
        words.push(word);
        rest = after;
    }
    words
}

/// Reads up to the closing quote.
fn unescape_quoted(text: &str) -> (Vec<u8>, &str) {
    let mut word = Vec::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (word, &text[at + 1..]),
            '\\' => match letters.next().map(|(_, letter)| letter) {
                Some('n') => word.push(b'\n'),
                Some('r') => word.push(b'\r'),
                Some('x') => {
                    let digits: String = letters.by_ref().take(2).map(|(_, digit)| digit).collect();
                    word.push(u8::from_str_radix(&digits, 16).expect("two digits"));
                }
                Some(letter) => word.push(letter as u8),
                None => break,
            },
            letter => word.push(letter as u8),
        }
    }
    panic!("no closing quote in {text:?}")
}

fn escape(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => write!(text, "\\x{byte:02x}").expect("writing to a string"),
        }
    }
    text
}

#[test]
fn replies_are_those_of_a_real_server() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the recorded replies")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    let (mut checked, mut report) = (0, String::new());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text file");
        let (count, differences) = differences(&text);
        checked += count;
        if !differences.is_empty() {
            write!(report, "{}\n{differences}", file.display()).expect("writing to a string");
        }
    }
    assert!(report.is_empty(), "{report}");
    assert!(checked > 1000, "only {checked} replies were compared");
}
