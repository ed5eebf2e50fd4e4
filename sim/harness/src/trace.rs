//! A hash over everything that can be observed: two runs of a case must agree in it.

use std::hash::Hasher;

use leaseline_redis_model::Reply;

/// A hash that grows with the run. Not for secrets: it only has to differ where runs do.
#[derive(Clone, Debug)]
pub(crate) struct Trace(u64);

impl Default for Trace {
    fn default() -> Self {
        Self(0x6c65_6173_656c_696e)
    }
}

impl Trace {
    pub(crate) fn number(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// A command with its times, and its reply.
    pub(crate) fn command(
        &mut self,
        now_us: u64,
        server_us: u64,
        client: usize,
        argv: &[&[u8]],
        reply: &Reply,
    ) {
        self.number(now_us);
        self.number(server_us);
        self.number(client as u64);
        for (at, word) in argv.iter().enumerate() {
            // The text of a script is long and known by its name.
            if at == 1 && argv[0] == b"EVAL" {
                continue;
            }
            self.bytes(word);
        }
        self.reply(reply);
    }

    fn reply(&mut self, reply: &Reply) {
        match reply {
            Reply::Nil | Reply::NilArray => self.number(1),
            Reply::Integer(number) => self.number(*number as u64),
            Reply::Status(text) | Reply::Bulk(text) | Reply::Error(text) => self.bytes(text),
            Reply::Array(items) => {
                self.number(items.len() as u64);
                items.iter().for_each(|item| self.reply(item));
            }
            other => self.text(&format!("{other:?}")),
        }
    }

    pub(crate) fn value(&self) -> u64 {
        self.0
    }
}

impl Hasher for Trace {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
    }
}
