//! What unit tests drive: commands as text, replies in RESP2 as `redis-cli` users know it.

use std::ops::{Deref, DerefMut};

use crate::{ClientId, Clock, Options, Profile, Reply, Server};

/// 2023-11-14 22:13:20, where the clock of every unit test starts.
pub(crate) const START_MS: u64 = 1_700_000_000_000;

/// A server with a virtual clock.
pub(crate) struct TestServer(Server);

impl TestServer {
    pub(crate) fn new() -> Self {
        Self::with_profile(Profile::Redis70)
    }

    pub(crate) fn with_profile(profile: Profile) -> Self {
        TestServer(Server::new(Options {
            profile,
            clock: Clock::Virtual(START_MS * 1000),
        }))
    }

    /// Runs a command: words between spaces, or between single quotes.
    pub(crate) fn run(&mut self, command: &str) -> Reply {
        let words = split(command);
        self.execute(&bytes(&words))
    }

    /// Runs a command of one of several clients, likewise.
    pub(crate) fn ask(&mut self, client: ClientId, command: &str) -> Option<Reply> {
        let words = split(command);
        self.call(client, &bytes(&words))
    }

    /// As [`TestServer::ask`], leaving all replies to be taken.
    pub(crate) fn send(&mut self, client: ClientId, command: &str) {
        let words = split(command);
        self.submit(client, &bytes(&words));
    }

    /// Runs a command and compares its reply: the client's protocol with a space for each CRLF.
    pub(crate) fn expect(&mut self, command: &str, reply: &str) {
        let answer = self.run(command);
        assert_eq!(self.show(&answer), reply, "{command}");
    }

    /// Runs a script without keys and compares its reply.
    pub(crate) fn expect_script(&mut self, script: &str, reply: &str) {
        let answer = self.execute(&[b"EVAL", script.as_bytes(), b"0"]);
        assert_eq!(self.show(&answer), reply, "{script}");
    }

    /// A reply as its client gets it.
    fn show(&self, reply: &Reply) -> String {
        let bytes = reply.to_bytes(self.protocol(ClientId::OWN));
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", " ");
        text.strip_suffix(' ').unwrap_or(&text).to_owned()
    }
}

impl Deref for TestServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl DerefMut for TestServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.0
    }
}

fn bytes(words: &[String]) -> Vec<&[u8]> {
    words.iter().map(|word| word.as_bytes()).collect()
}

fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = command.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').expect("a closing quote"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}
