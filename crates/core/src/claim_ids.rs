//! Claim ids whose outcome is not known.
//!
//! An id is opened before the first command that carries it leaves, and closed when an answer
//! has arrived. So an id whose future was dropped, or whose reply was lost, is still open, and
//! the next claim resolves it first.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

/// The open ids, oldest first.
#[derive(Debug, Default)]
pub(crate) struct ClaimIds {
    open: VecDeque<String>,
}

impl ClaimIds {
    /// Opens ids.
    pub(crate) fn open(&mut self, ids: impl IntoIterator<Item = String>) {
        for id in ids {
            if !self.open.contains(&id) {
                self.open.push_back(id);
            }
        }
    }

    /// Closes ids: their outcome is known.
    pub(crate) fn close(&mut self, ids: &[String]) {
        self.open.retain(|id| !ids.contains(id));
    }

    /// The oldest open ids, at most `limit`.
    pub(crate) fn oldest(&self, limit: usize) -> Vec<String> {
        self.open.iter().take(limit).cloned().collect()
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Hands all ids over.
    pub(crate) fn take(&mut self) -> Vec<String> {
        core::mem::take(&mut self.open).into()
    }
}
