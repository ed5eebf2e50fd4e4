//! Removing messages for good.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::Queue;
use super::peek::is_of_messages;
use crate::capability::{Clock, Entropy, Redis};
use crate::error::{Error, ErrorKind};
use crate::message::List;
use crate::reply;
use crate::script::{self, Invocation};

/// The most elements removed by one script call.
const PURGE_BATCH: u64 = 100;

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Removes what is in a list for good, oldest first, and gives the number removed: as many as
    /// were there when it began. What is published meanwhile stays. Deduplication keys stay, so
    /// that a purged message is still a duplicate within its window.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for [`List::Processing`], whose messages consumers hold. A
    /// failure after some were removed is an error too; call again for the rest.
    pub async fn purge(&mut self, list: List) -> Result<u64, Error> {
        if list == List::Processing {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "messages in processing are held by consumers or delayed; they cannot be purged: let them be settled, or come back to pending",
            ));
        }
        let length = vec![b"LLEN".as_slice(), self.list(list).as_bytes()];
        let mut left = 0;
        for answer in self.caller.send(vec![length]).await {
            left = reply::single_int(answer?)?.unsigned_abs();
        }
        let mut purged = 0;
        while left > 0 {
            let removed = match self.purge_batch(list, left.min(PURGE_BATCH)).await {
                Ok(removed) => removed,
                Err(mut error) if purged > 0 => {
                    error.message = format!("after {purged} were removed: {}", error.message);
                    return Err(error);
                }
                Err(error) => return Err(error),
            };
            if removed == 0 {
                break;
            }
            purged += removed;
            left = left.saturating_sub(removed);
        }
        Ok(purged)
    }

    async fn purge_batch(&self, list: List, max: u64) -> Result<u64, Error> {
        let enveloped = if is_of_messages(list) { b"1" } else { b"0" };
        let call = Invocation::new(&script::PURGE)
            .key("list", self.list(list).as_bytes())
            .key("delivery_counts", self.keys.delivery_counts.as_bytes())
            .key("marker", self.keys.purge_marker(&self.mint()).into_bytes())
            .number("max", max)
            .arg("enveloped", enveloped.as_slice())
            .number("marker_ttl_ms", self.marker_ttl_ms());
        let mut removed = 0;
        for called in self.caller.call(core::slice::from_ref(&call)).await {
            removed = reply::single_int(called.answer?)?.unsigned_abs();
            // A lost request may still be on its way: then the marker must stay.
            if !called.ambiguous && removed > 0 {
                let markers: Vec<&[u8]> = call.marker().into_iter().collect();
                self.caller.delete(&markers).await;
            }
        }
        Ok(removed)
    }
}
