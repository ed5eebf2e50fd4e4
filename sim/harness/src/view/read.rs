//! Reading keys of the model into a view.

use std::collections::BTreeMap;
use std::sync::Arc;

use leaseline_redis_model::{Content, Server};

use super::{Message, Names, Part, Payload, Record, View};

impl View {
    /// Reads one key again. One of another type reads as if it were missing.
    pub(crate) fn read(&mut self, part: Part, key: &[u8], server: &Server, names: &mut Names) {
        let content = server.entry(key).map(|entry| entry.content);
        match part {
            Part::Pending => self.pending = messages(content, names),
            Part::Processing => self.processing = messages(content, names),
            Part::Completed => self.completed = payloads(content, names),
            Part::Failed => self.failed = payloads(content, names),
            Part::Dead => self.dead = payloads(content, names),
            Part::Deadlines => {
                self.deadlines = scores(content, |member| names.message(member));
            }
            Part::Delays => self.delays = scores(content, number),
            Part::Tokens => {
                self.tokens = map(content, |field, value| {
                    (names.message(field), number(value))
                });
            }
            Part::Counts => {
                self.counts = map(content, |field, value| {
                    (names.message(field), number(value))
                });
            }
            Part::Refs => {
                self.refs = map(content, |field, value| {
                    (number(field), names.id(last_part(value)))
                });
            }
            Part::Backrefs => {
                self.backrefs = map(content, |field, value| {
                    let of = match field.first() {
                        Some(b'0'..=b'9') => number(field),
                        _ => names.message(field).0.into(),
                    };
                    (of, names.id(value))
                });
            }
            Part::Ids => {
                self.ids = map(content, |field, value| {
                    (names.id(field), record(value, names))
                });
            }
            Part::Counter => {
                self.counter = match content {
                    Some(Content::Text(text)) => number(&text),
                    _ => 0,
                };
            }
        }
    }
}

fn messages(content: Option<Content>, names: &mut Names) -> Arc<Vec<Message>> {
    let Some(Content::List(items)) = content else {
        return Arc::default();
    };
    Arc::new(items.iter().map(|item| names.message(item)).collect())
}

fn payloads(content: Option<Content>, names: &mut Names) -> Arc<Vec<Payload>> {
    let Some(Content::List(items)) = content else {
        return Arc::default();
    };
    Arc::new(items.iter().map(|item| names.payload(item)).collect())
}

fn scores<T>(content: Option<Content>, mut name: impl FnMut(&[u8]) -> T) -> Arc<Vec<(T, u64)>> {
    let Some(Content::SortedSet(members)) = content else {
        return Arc::new(Vec::new());
    };
    let named = members
        .iter()
        .map(|(member, score)| (name(member), *score as u64));
    Arc::new(named.collect())
}

fn map<K: Ord, V>(
    content: Option<Content>,
    mut entry: impl FnMut(&[u8], &[u8]) -> (K, V),
) -> Arc<BTreeMap<K, V>> {
    let Some(Content::Hash(fields)) = content else {
        return Arc::new(BTreeMap::new());
    };
    Arc::new(
        fields
            .iter()
            .map(|(field, value)| entry(field, value))
            .collect(),
    )
}

/// A number, or 0.
pub(super) fn number(text: &[u8]) -> u64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// What a `claim_result` key ends with: the claim id.
fn last_part(key: &[u8]) -> &[u8] {
    key.rsplit(|byte| *byte == b':').next().unwrap_or_default()
}

/// A record is `[stored, token, …]`, or without leases the stored message itself.
fn record(value: &[u8], names: &mut Names) -> Record {
    if value.first() != Some(&b'[') {
        return Record {
            message: names.message(value),
            token: 0,
        };
    }
    let parsed: Option<Vec<serde_json::Value>> = serde_json::from_slice(value).ok();
    let text = |at: usize| Some(parsed.as_ref()?.get(at)?.as_str()?.as_bytes());
    Record {
        message: names.message(text(0).unwrap_or_default()),
        token: number(text(1).unwrap_or_default()),
    }
}
