//! The forms of a reply that depend on the protocol of the one who asked.

use crate::reply::Reply;
use crate::state::Profile;

/// The version of the protocol that a client, or a script, has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// RESP2, which every client starts with.
    #[default]
    Resp2,
    /// RESP3, with maps, sets, doubles and one kind of nil.
    Resp3,
}

/// Makes the replies whose form differs between the protocols.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) profile: Profile,
    pub(crate) protocol: Protocol,
}

impl Shape {
    fn is_new(self) -> bool {
        self.protocol == Protocol::Resp3
    }

    /// A double: a bulk string in RESP2.
    pub(crate) fn double(self, value: f64) -> Reply {
        let text = self.profile.format_double(value);
        match self.is_new() {
            true => Reply::Double(text),
            false => Reply::bulk(text),
        }
    }

    /// A map: a flat array in RESP2.
    pub(crate) fn map(self, pairs: impl IntoIterator<Item = (Reply, Reply)>) -> Reply {
        match self.is_new() {
            true => Reply::Map(pairs.into_iter().collect()),
            false => Reply::Array(
                pairs
                    .into_iter()
                    .flat_map(|(key, value)| [key, value])
                    .collect(),
            ),
        }
    }

    /// A map whose keys are names.
    pub(crate) fn named<'a>(self, values: impl IntoIterator<Item = (&'a str, Reply)>) -> Reply {
        let pairs = values.into_iter();
        self.map(pairs.map(|(name, value)| (Reply::bulk(name), value)))
    }

    /// A set: an array in RESP2.
    pub(crate) fn set(self, items: Vec<Reply>) -> Reply {
        match self.is_new() {
            true => Reply::Set(items),
            false => Reply::Array(items),
        }
    }

    /// An array of pairs: flat in RESP2, as `ZRANGE … WITHSCORES` answers.
    pub(crate) fn pairs(self, pairs: impl IntoIterator<Item = (Reply, Reply)>) -> Reply {
        match self.is_new() {
            true => Reply::Array(
                pairs
                    .into_iter()
                    .map(|(one, two)| Reply::Array(vec![one, two]))
                    .collect(),
            ),
            false => Reply::Array(
                pairs
                    .into_iter()
                    .flat_map(|(one, two)| [one, two])
                    .collect(),
            ),
        }
    }

    /// A map: an array of pairs in RESP2, as `XREAD` answers.
    pub(crate) fn map_or_pairs(self, pairs: impl IntoIterator<Item = (Reply, Reply)>) -> Reply {
        match self.is_new() {
            true => self.map(pairs),
            false => Reply::Array(
                pairs
                    .into_iter()
                    .map(|(one, two)| Reply::Array(vec![one, two]))
                    .collect(),
            ),
        }
    }

    /// An integer of any length, by its digits: a bulk string in RESP2.
    pub(crate) fn big_number(self, digits: Vec<u8>) -> Reply {
        match self.is_new() {
            true => Reply::BigNumber(digits),
            false => Reply::Bulk(digits),
        }
    }

    /// A text for people: a plain bulk string in RESP2.
    pub(crate) fn verbatim(self, text: String) -> Reply {
        self.verbatim_as(*b"txt", text.into_bytes())
    }

    /// As [`Shape::verbatim`], in a format of this name.
    pub(crate) fn verbatim_as(self, format: [u8; 3], text: Vec<u8>) -> Reply {
        match self.is_new() {
            true => Reply::Verbatim { format, text },
            false => Reply::Bulk(text),
        }
    }
}
