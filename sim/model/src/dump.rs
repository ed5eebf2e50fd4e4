//! A copy of a key for tests to compare.

use std::collections::{BTreeMap, BTreeSet};

use crate::dump_stream::StreamContent;
use crate::keyspace::Slot;
use crate::value::Value;

/// One key of [`Server::dump`](crate::Server::dump).
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What the key holds.
    pub content: Content,
    /// When it expires, in milliseconds since 1970; it is still alive at that instant.
    pub expires_at_ms: Option<i64>,
}

/// The content of a key, in a form that compares equal where Redis shows no difference.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A string.
    Text(Vec<u8>),
    /// A list, head first.
    List(Vec<Vec<u8>>),
    /// A hash. Its order carries no meaning, so it is by field here.
    Hash(BTreeMap<Vec<u8>, Vec<u8>>),
    /// A set. Its order carries no meaning.
    Set(BTreeSet<Vec<u8>>),
    /// A sorted set, lowest score first.
    SortedSet(Vec<(Vec<u8>, f64)>),
    /// A stream with its groups.
    Stream(StreamContent),
}

impl Content {
    /// The word that `TYPE` answers.
    pub fn kind(&self) -> &'static str {
        match self {
            Content::Text(_) => "string",
            Content::List(_) => "list",
            Content::Hash(_) => "hash",
            Content::Set(_) => "set",
            Content::SortedSet(_) => "zset",
            Content::Stream(_) => "stream",
        }
    }
}

impl From<&Slot> for Entry {
    fn from(slot: &Slot) -> Self {
        let content = match &slot.value {
            Value::Text(text) => Content::Text(text.to_bytes()),
            Value::List(list) => Content::List(list.iter().cloned().collect()),
            Value::Hash(fields) => Content::Hash(
                fields
                    .iter()
                    .map(|(field, value)| (field.to_vec(), value.to_vec()))
                    .collect(),
            ),
            Value::Set(set) => Content::Set(set.iter().collect()),
            Value::SortedSet(set) => Content::SortedSet(
                set.iter()
                    .map(|(member, score)| (member.to_vec(), score))
                    .collect(),
            ),
            Value::Stream(stream) => Content::Stream(StreamContent::from(stream)),
        };
        Entry {
            content,
            expires_at_ms: slot.expires_at_ms,
        }
    }
}
