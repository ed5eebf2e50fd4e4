//! The values of keys.

use std::collections::VecDeque;

use crate::fields::Fields;
use crate::set::Set;
use crate::sorted_set::SortedSet;
use crate::stream::Stream;
use crate::text::Text;

/// A list value.
pub(crate) type List = VecDeque<Vec<u8>>;

/// What a key holds.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(Text),
    List(List),
    Hash(Fields),
    Set(Set),
    SortedSet(SortedSet),
    Stream(Stream),
}

impl Value {
    /// The word that `TYPE` answers.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "string",
            Value::List(_) => "list",
            Value::Hash(_) => "hash",
            Value::Set(_) => "set",
            Value::SortedSet(_) => "zset",
            Value::Stream(_) => "stream",
        }
    }

    /// Whether the key must go: Redis keeps no empty collection but a stream.
    pub(crate) fn is_empty_collection(&self) -> bool {
        match self {
            Value::Text(_) | Value::Stream(_) => false,
            Value::List(list) => list.is_empty(),
            Value::Hash(fields) => fields.len() == 0,
            Value::Set(set) => set.len() == 0,
            Value::SortedSet(set) => set.len() == 0,
        }
    }
}

/// One of the types a value can have, so that the keyspace has one accessor for all of them.
pub(crate) trait Kind: Default {
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    fn into_value(self) -> Value;
}

macro_rules! kind {
    ($type:ty, $variant:ident) => {
        impl Kind for $type {
            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                match value {
                    Value::$variant(inner) => Some(inner),
                    _ => None,
                }
            }

            fn into_value(self) -> Value {
                Value::$variant(self)
            }
        }
    };
}

kind!(Text, Text);
kind!(List, List);
kind!(Fields, Hash);
kind!(Set, Set);
kind!(SortedSet, SortedSet);
kind!(Stream, Stream);
