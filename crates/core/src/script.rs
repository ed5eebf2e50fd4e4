//! The Lua scripts, and calls of them.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// One script of the `lua` directory: the bytes that run on every server.
#[derive(Debug)]
pub struct Script {
    /// The file's name without `.lua`.
    pub name: &'static str,
    /// The whole text, as EVAL sends it.
    pub source: &'static str,
    /// The SHA-1 of the text in hexadecimal, as EVALSHA sends it.
    pub sha1: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/scripts.rs"));

/// A script with its keys and arguments.
///
/// Each key and argument is pushed under the role that the script's header gives it; a test
/// compares the two, so that no caller can swap two of them.
#[derive(Clone, Debug)]
pub(crate) struct Invocation<'a> {
    pub(crate) script: &'static Script,
    keys: Vec<Cow<'a, [u8]>>,
    args: Vec<Cow<'a, [u8]>>,
    #[cfg(test)]
    pub(crate) roles: (Vec<&'static str>, Vec<&'static str>),
    key_count: String,
    marker: Option<usize>,
}

impl<'a> Invocation<'a> {
    pub(crate) fn new(script: &'static Script) -> Self {
        Self {
            script,
            keys: Vec::new(),
            args: Vec::new(),
            #[cfg(test)]
            roles: Default::default(),
            key_count: String::new(),
            marker: None,
        }
    }

    /// Adds the next key.
    pub(crate) fn key(mut self, role: &'static str, name: impl Into<Cow<'a, [u8]>>) -> Self {
        #[cfg(test)]
        self.roles.0.push(role);
        if role == "marker" {
            self.marker = Some(self.keys.len());
        }
        self.keys.push(name.into());
        self.key_count = self.keys.len().to_string();
        self
    }

    /// Adds the next argument.
    pub(crate) fn arg(mut self, role: &'static str, value: impl Into<Cow<'a, [u8]>>) -> Self {
        #[cfg(test)]
        self.roles.1.push(role);
        #[cfg(not(test))]
        let _ = role;
        self.args.push(value.into());
        self
    }

    /// Adds the next argument as decimal text.
    pub(crate) fn number(self, role: &'static str, value: u64) -> Self {
        self.arg(role, value.to_string().into_bytes())
    }

    /// The command by hash, or with the full text for a server that does not know the hash.
    pub(crate) fn argv(&self, full: bool) -> Vec<&[u8]> {
        let mut argv = Vec::with_capacity(3 + self.keys.len() + self.args.len());
        argv.push(if full { b"EVAL".as_slice() } else { b"EVALSHA" });
        argv.push(if full {
            self.script.source.as_bytes()
        } else {
            self.script.sha1.as_bytes()
        });
        argv.push(if self.keys.is_empty() {
            b"0"
        } else {
            self.key_count.as_bytes()
        });
        argv.extend(self.keys.iter().map(AsRef::as_ref));
        argv.extend(self.args.iter().map(AsRef::as_ref));
        argv
    }

    /// The size of its keys and arguments.
    pub(crate) fn bytes(&self) -> usize {
        self.keys
            .iter()
            .chain(&self.args)
            .map(|part| part.len())
            .sum()
    }

    /// The key that records the first answer, for clean-up after the call.
    pub(crate) fn marker(&self) -> Option<&[u8]> {
        self.marker.map(|at| self.keys[at].as_ref())
    }
}
