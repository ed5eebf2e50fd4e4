//! Replies recorded from a real server, byte for byte.
//!
//! The files in `tests/data` hold conversations:
//!
//! | line | means |
//! |---|---|
//! | `== title` | a new server |
//! | `> command` | what a client sends. Words stand between spaces, or in double quotes with escapes; `{2}` is the id of client 2 |
//! | `< reply` | what it gets next, with the same escapes |
//! | `2> command`, `2< reply` | the same for another client, which connects with its first command |
//! | `~ reply` | what Redis answers and the model cannot yet; it is a difference that must be |
//! | `! order` | see [`Conversation::obey`] |
//! | `# text` | a comment |
//!
//! A reply that no line asks for is a difference too, unless its client was closed before.
//! `tests/data/LEFT_OUT.md` says what was recorded and is not here.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use leaseline_redis_model::{ClientId, Clock, Condition, Options, Profile, ScriptTime, Server};

const CLOCK: Clock = Clock::Virtual(1_700_000_000_000_000);

/// A server, its clients by their numbers in the file, and what they have not read yet.
struct Conversation {
    server: Server,
    clients: BTreeMap<String, ClientId>,
    replies: BTreeMap<ClientId, VecDeque<String>>,
}

impl Conversation {
    fn new() -> Self {
        Conversation {
            server: Server::new(Options {
                profile: Profile::Redis70,
                clock: CLOCK,
            }),
            clients: BTreeMap::new(),
            replies: BTreeMap::new(),
        }
    }

    fn client(&mut self, number: &str) -> ClientId {
        if let Some(id) = self.clients.get(number) {
            return *id;
        }
        let id = self.server.connect();
        self.clients.insert(number.to_owned(), id);
        id
    }

    fn send(&mut self, number: &str, command: &str) {
        let client = self.client(number);
        let mut words = words(command);
        for word in &mut words {
            self.name_client(word);
        }
        let argv: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        self.server.submit(client, &argv);
        self.deliver();
    }

    /// Replaces `{2}` by what `CLIENT ID` answers to client 2.
    fn name_client(&self, word: &mut Vec<u8>) {
        let number = word
            .strip_prefix(b"{")
            .and_then(|word| word.strip_suffix(b"}"));
        let number = number.and_then(|number| str::from_utf8(number).ok());
        if let Some(client) = number.and_then(|number| self.clients.get(number)) {
            *word = client.to_string().into_bytes();
        }
    }

    fn next_reply(&mut self, number: &str) -> Option<String> {
        let client = self.client(number);
        self.replies.get_mut(&client)?.pop_front()
    }

    /// Keeps for each client what it got.
    fn deliver(&mut self) {
        for (client, reply) in self.server.take_replies() {
            let bytes = reply.to_bytes(self.server.protocol(client));
            self.replies
                .entry(client)
                .or_default()
                .push_back(escape(&bytes));
        }
    }

    fn obey(&mut self, order: &str) {
        let (verb, rest) = order.split_once(' ').unwrap_or((order, ""));
        match verb {
            // Time passes.
            "advance" => self.server.advance(milliseconds(rest)),
            // Every call of a script takes so long.
            "script-call" => self.server.set_script_time(ScriptTime::Live {
                per_call: milliseconds(rest),
            }),
            "impose" => self.server.impose(condition(rest)),
            "lift" => self.server.lift(condition(rest)),
            // The connection of a client ends, with what it has not read.
            "close" => {
                let client = self.client(rest);
                self.server.disconnect(client);
                self.replies.remove(&client);
                self.clients.remove(rest);
            }
            // The server, without persistence, ends and starts again.
            "restart" => {
                self.server.reset(CLOCK);
                self.clients.clear();
                self.replies.clear();
            }
            _ => panic!("unknown order {order:?}"),
        }
        self.deliver();
    }

    /// What was got and not asked for.
    fn unread(&self) -> impl Iterator<Item = &String> {
        self.replies.values().flatten()
    }
}

fn milliseconds(text: &str) -> Duration {
    let number = text.strip_suffix("ms").and_then(|text| text.parse().ok());
    Duration::from_millis(number.expect("milliseconds"))
}

fn condition(name: &str) -> Condition {
    let all = [
        Condition::Busy,
        Condition::Loading,
        Condition::MasterLinkDown,
        Condition::OutOfMemory,
        Condition::ReadOnly,
        Condition::SnapshotFailed,
        Condition::TooFewReplicas,
    ];
    let found = all.into_iter().find(|known| format!("{known:?}") == name);
    found.expect("a condition")
}

/// Plays a file and returns how many replies it has, and what differs, as text.
fn differences(text: &str) -> (usize, String) {
    let (mut conversation, mut checked, mut report) = (Conversation::new(), 0, String::new());
    let mut command = "";
    for (number_of_line, line) in (1..).zip(text.lines().chain(["== end"])) {
        if let Some(title) = line.strip_prefix("== ") {
            for reply in conversation.unread() {
                writeln!(report, "before {title:?}\n  model: {reply}").expect("a string");
            }
            conversation = Conversation::new();
        } else if let Some(order) = line.strip_prefix("! ") {
            conversation.obey(order);
        } else if let Some((number, sent)) = numbered(line, "> ") {
            command = sent;
            conversation.send(number, sent);
        } else if let Some((number, expected)) = numbered(line, "< ") {
            checked += 1;
            let reply = conversation.next_reply(number);
            let reply = reply.as_deref().unwrap_or("nothing");
            if reply != expected {
                writeln!(
                    report,
                    "line {number_of_line}: {command}\n  redis: {expected}\n  model: {reply}"
                )
                .expect("a string");
            }
        } else if let Some(expected) = line.strip_prefix("~ ") {
            // Somebody who closes a gap finds the marks that go with it.
            let reply = conversation.next_reply("");
            if reply.as_deref() == Some(expected) {
                writeln!(report, "line {number_of_line}: the mark `~` is out of date")
                    .expect("a string");
            }
        } else {
            assert!(line.is_empty() || line.starts_with("# "), "{line:?}");
        }
    }
    (checked, report)
}

/// Splits a line that starts with the number of a client, or with none, and a mark.
fn numbered<'a>(line: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let (number, rest) = line.split_once(mark)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((number, rest))
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
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
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
    assert!(checked > 1400, "only {checked} replies were compared");
}
