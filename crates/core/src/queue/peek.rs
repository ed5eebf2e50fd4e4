//! Looking at messages without taking them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Queue;
use crate::capability::{Clock, Entropy, Redis, RedisError};
use crate::envelope;
use crate::error::{Error, ErrorKind};
use crate::message::{List, Peeked};
use crate::reply::{self, Element};
use crate::script::{self, Invocation};

/// The most messages of one look.
pub const MAX_PEEK: u32 = 1_000;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// The newest messages of a list, newest first, all as they are at one moment. At most `max`
    /// (1 to [`MAX_PEEK`]), and fewer where together they are too large for the host. Tried once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Server`] if one of the keys holds another type; [`ErrorKind::PayloadTooLarge`]
    /// if the newest message alone is too large for the host.
    pub async fn peek(&mut self, list: List, max: u32) -> Result<Vec<Peeked>, Error> {
        if max == 0 || max > MAX_PEEK {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("a look takes 1 to {MAX_PEEK} messages, not {max}"),
            ));
        }
        let mut max = max;
        let answer = loop {
            let keys = &self.keys;
            let call = Invocation::new(&script::PEEK)
                .key("list", self.list(list).as_bytes())
                .key("lease_deadlines", keys.lease_deadlines.as_bytes())
                .key("lease_tokens", keys.lease_tokens.as_bytes())
                .key("delivery_counts", keys.delivery_counts.as_bytes())
                .key("delays", keys.delays.as_bytes())
                .number("max", max.into());
            match self.caller.attempt(&[&call]).await.pop() {
                Some(Err(RedisError::TooLarge(_))) if max > 1 => max /= 2,
                Some(answer) => break answer?,
                None => break Vec::new(),
            }
        };
        let (now_ms, elements) = reply::peeked(answer)?;
        Ok(elements
            .into_iter()
            .map(|element| self.peeked(list, now_ms, element))
            .collect())
    }

    fn peeked(&self, list: List, now_ms: u64, element: Element) -> Peeked {
        if !is_of_messages(list) {
            return Peeked {
                message_id: None,
                payload: Ok(element.bytes),
                delivery_count: 0,
                deadline_ms: None,
                remaining_ms: None,
                delayed: false,
            };
        }
        let strict = self.config.strict_envelope_decoding;
        let (message_id, payload) = match envelope::decode(&element.bytes, strict) {
            Ok(envelope) => (envelope.id, Ok(envelope.payload)),
            Err(mut error) => {
                error
                    .message
                    .push_str("; claim it, and settle it by its lease");
                (None, Err(error))
            }
        };
        // A message in pending can have kept the deadline that a claim could not remove.
        let deadline_ms = element.deadline_ms.filter(|_| list == List::Processing);
        Peeked {
            message_id,
            payload,
            delivery_count: element.delivery_count,
            deadline_ms,
            remaining_ms: deadline_ms.map(|deadline| {
                let until = |from: u64, to: u64| i64::try_from(to - from).unwrap_or(i64::MAX);
                match deadline >= now_ms {
                    true => until(now_ms, deadline),
                    false => -until(deadline, now_ms),
                }
            }),
            delayed: element.delayed && list == List::Processing,
        }
    }

    /// The key of a list.
    pub(super) fn list(&self, list: List) -> &String {
        match list {
            List::Pending => &self.keys.pending,
            List::Processing => &self.keys.processing,
            List::Completed => &self.keys.completed,
            List::Failed => &self.keys.failed,
            List::DeadLetters => &self.keys.dead_letters,
        }
    }
}

/// Whether a list holds stored messages; the others hold bare payloads.
pub(super) fn is_of_messages(list: List) -> bool {
    matches!(list, List::Pending | List::Processing)
}
