//! Reading the flat replies of the scripts. A reply that breaks the contract is an error, never
//! a guess: it came from a foreign server or a hostile host.

use alloc::format;
use alloc::string::String;
use alloc::vec::{self, Vec};

use crate::capability::{ServerError, Value};
use crate::error::{Error, ErrorKind};
use crate::message::Stats;

/// A reply, read from front to back.
pub(crate) struct Fields {
    values: vec::IntoIter<Value>,
}

impl Fields {
    pub(crate) fn new(reply: Vec<Value>) -> Self {
        Self {
            values: reply.into_iter(),
        }
    }

    pub(crate) fn int(&mut self) -> Result<i64, Error> {
        match self.values.next() {
            Some(Value::Int(number)) => Ok(number),
            other => Err(unexpected("an integer", other.as_ref())),
        }
    }

    pub(crate) fn unsigned(&mut self) -> Result<u64, Error> {
        let number = self.int()?;
        u64::try_from(number).map_err(|_| unexpected("a count", Some(&Value::Int(number))))
    }

    /// A count, or nothing if it is nil.
    fn optional_unsigned(&mut self) -> Result<Option<u64>, Error> {
        match self.values.as_slice().first() {
            Some(Value::Nil) => {
                self.values.next();
                Ok(None)
            }
            _ => self.unsigned().map(Some),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        match self.values.next() {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            other => Err(unexpected("a string", other.as_ref())),
        }
    }

    pub(crate) fn text(&mut self) -> Result<String, Error> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    /// Text, or nothing if it is empty.
    fn optional_text(&mut self) -> Result<Option<String>, Error> {
        Ok(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    /// The whole reply was read.
    pub(crate) fn end(mut self) -> Result<(), Error> {
        match self.values.next() {
            None => Ok(()),
            Some(value) => Err(unexpected("the end of the reply", Some(&value))),
        }
    }
}

/// A reply that is one integer.
pub(crate) fn single_int(reply: Vec<Value>) -> Result<i64, Error> {
    let mut fields = Fields::new(reply);
    let number = fields.int()?;
    fields.end()?;
    Ok(number)
}

/// So many integers.
pub(crate) fn ints(reply: Vec<Value>, count: usize) -> Result<Vec<i64>, Error> {
    let mut fields = Fields::new(reply);
    let numbers = (0..count).map(|_| fields.int()).collect::<Result<_, _>>()?;
    fields.end()?;
    Ok(numbers)
}

/// An element of a list, and what is known of it as a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) bytes: Vec<u8>,
    pub(crate) delivery_count: u64,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) delayed: bool,
}

/// The reply of `peek`: the server's time, and the elements.
pub(crate) fn peeked(reply: Vec<Value>) -> Result<(u64, Vec<Element>), Error> {
    let mut fields = Fields::new(reply);
    let now_ms = fields.unsigned()?;
    let mut elements = Vec::new();
    for _ in 0..fields.unsigned()? {
        elements.push(Element {
            bytes: fields.bytes()?,
            delivery_count: fields.unsigned()?,
            deadline_ms: fields.optional_unsigned()?,
            delayed: fields.int()? != 0,
        });
    }
    fields.end()?;
    Ok((now_ms, elements))
}

/// The reply of `stats`.
pub(crate) fn stats(reply: Vec<Value>) -> Result<Stats, Error> {
    let mut fields = Fields::new(reply);
    let pending = fields.unsigned()?;
    let in_processing = fields.unsigned()?;
    let completed = fields.unsigned()?;
    let failed = fields.unsigned()?;
    let dead_letters = fields.unsigned()?;
    let delayed = fields.unsigned()?;
    let overdue = fields.unsigned()?;
    let oldest_overdue_ms = fields.unsigned()?;
    let next_lease_end_ms = fields.unsigned()?;
    let last_lease_end_ms = fields.unsigned()?;
    fields.end()?;
    Ok(Stats {
        pending,
        // A message that was removed by hand leaves its delay behind.
        processing: in_processing.saturating_sub(delayed),
        delayed: delayed.min(in_processing),
        overdue,
        oldest_overdue_ms: (overdue > 0).then_some(oldest_overdue_ms),
        next_lease_end_ms: (next_lease_end_ms > 0).then_some(next_lease_end_ms),
        last_lease_end_ms: (last_lease_end_ms > 0).then_some(last_lease_end_ms),
        completed,
        failed,
        dead_letters,
    })
}

fn unexpected(wanted: &str, found: Option<&Value>) -> Error {
    let found = match found {
        None => "the end",
        Some(Value::Nil) => "nil",
        Some(Value::Int(_)) => "an integer",
        Some(Value::Status(_)) => "a status",
        Some(Value::Bytes(_)) => "a string",
    };
    Error::new(
        ErrorKind::Protocol,
        format!(
            "a script's reply has {found} in place of {wanted}; is this server a Redis of version 7.0 or later?"
        ),
    )
}

/// A message that a claim got.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Claimed {
    /// Which of the call's claim ids got it, from 0.
    pub(crate) position: usize,
    pub(crate) stored: Vec<u8>,
    pub(crate) token: Option<String>,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) delivery_count: u64,
    pub(crate) replayed: bool,
}

/// Something that a claim did besides.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SideEffect {
    pub(crate) dead_lettered: bool,
    pub(crate) message_id: Option<String>,
    pub(crate) count: u64,
    pub(crate) replayed: bool,
}

/// The reply of a claim script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ClaimReply {
    pub(crate) claims: Vec<Claimed>,
    pub(crate) side_effects: Vec<SideEffect>,
    /// What stopped the call early, and the message it concerned.
    pub(crate) failure: Option<(ServerError, Option<String>)>,
}

impl ClaimReply {
    /// The reply of `claim`, which was given `ids` claim ids.
    pub(crate) fn without_lease(reply: Vec<Value>, ids: usize) -> Result<Self, Error> {
        let mut fields = Fields::new(reply);
        let mut claims = Vec::new();
        for _ in 0..fields.unsigned()? {
            claims.push(Claimed {
                position: position(&mut fields, ids)?,
                stored: fields.bytes()?,
                token: None,
                deadline_ms: None,
                delivery_count: 0,
                replayed: fields.int()? != 0,
            });
        }
        fields.end()?;
        Ok(Self {
            claims,
            ..Self::default()
        })
    }

    /// The reply of `claim_lease`, which was given `ids` claim ids.
    pub(crate) fn with_lease(reply: Vec<Value>, ids: usize) -> Result<Self, Error> {
        let mut fields = Fields::new(reply);
        let mut claims = Vec::new();
        for _ in 0..fields.unsigned()? {
            claims.push(Claimed {
                position: position(&mut fields, ids)?,
                stored: fields.bytes()?,
                token: Some(fields.text()?),
                deadline_ms: Some(fields.unsigned()?),
                delivery_count: fields.unsigned()?,
                replayed: fields.int()? != 0,
            });
        }
        let mut side_effects = Vec::new();
        for _ in 0..fields.unsigned()? {
            side_effects.push(SideEffect {
                dead_lettered: fields.bytes()? == b"dead_lettered",
                message_id: fields.optional_text()?,
                count: fields.unsigned()?,
                replayed: fields.int()? != 0,
            });
        }
        let failure = fields.optional_text()?;
        let about = fields.optional_text()?;
        fields.end()?;
        let failure = failure.map(|line| (ServerError::from_line(&line), about));
        Ok(Self {
            claims,
            side_effects,
            failure,
        })
    }
}

/// A position counts from 1 in Lua.
fn position(fields: &mut Fields, ids: usize) -> Result<usize, Error> {
    let position = fields.int()?;
    usize::try_from(position)
        .ok()
        .and_then(|position| position.checked_sub(1))
        .filter(|&position| position < ids)
        .ok_or_else(|| unexpected("a position", Some(&Value::Int(position))))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn text(text: &str) -> Value {
        Value::Bytes(text.as_bytes().into())
    }

    #[test]
    fn claim_replies_are_read_whole_or_refused() {
        let reply = vec![
            Value::Int(1),
            Value::Int(2),
            text("S"),
            text("7"),
            Value::Int(99),
            Value::Int(3),
            Value::Int(1),
            Value::Int(1),
            text("dead_lettered"),
            text(""),
            Value::Int(4),
            Value::Int(0),
            text("OOM no memory"),
            text("id"),
        ];
        let read = ClaimReply::with_lease(reply.clone(), 2).unwrap();
        assert_eq!(read.claims[0].position, 1);
        assert_eq!(read.claims[0].token.as_deref(), Some("7"));
        assert!(read.side_effects[0].dead_lettered && read.side_effects[0].message_id.is_none());
        assert_eq!(read.failure.unwrap().0.code, "OOM");

        // Cut anywhere, or with any value replaced, it is refused or differs, and never panics.
        for cut in 0..reply.len() {
            let error = ClaimReply::with_lease(reply[..cut].to_vec(), 2).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Protocol);
            let mut broken = reply.clone();
            broken[cut] = Value::Nil;
            assert_eq!(
                ClaimReply::with_lease(broken, 2).unwrap_err().kind,
                ErrorKind::Protocol
            );
        }
        assert_eq!(
            ClaimReply::with_lease(reply, 1).unwrap_err().kind,
            ErrorKind::Protocol
        );
        for count in [-1, i64::MIN, i64::MAX] {
            assert!(ClaimReply::with_lease(vec![Value::Int(count)], 1).is_err());
            assert!(ClaimReply::without_lease(vec![Value::Int(count)], 1).is_err());
        }
    }
}
