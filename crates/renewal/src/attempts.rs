//! Requests in flight.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::renewal::{Failure, Outcome, Token};
use tokio::runtime;
use tokio::task::{AbortHandle, Id, JoinSet};

use crate::state::Due;

/// Dropping it cancels them all, so that no request outlives the worker that knows of it.
#[derive(Default)]
pub(crate) struct Attempts {
    tasks: JoinSet<Vec<Outcome>>,
    tokens: HashMap<Id, Vec<Token>>,
    /// Of requests for one lease; in a batch the others must not suffer.
    alone: HashMap<Token, AbortHandle>,
}

impl Attempts {
    /// Begins requests, one for as many leases of a group as it takes. Gives their number.
    pub(crate) fn begin(&mut self, due: Vec<Due>, limit: Duration) -> u64 {
        let mut groups: HashMap<(usize, runtime::Id), Vec<Due>> = HashMap::new();
        for due in due {
            let group = Arc::as_ptr(&due.group).cast::<()>() as usize;
            let key = (group, due.runtime.id());
            groups.entry(key).or_default().push(due);
        }
        let mut batches = 0;
        for mut due in groups.into_values() {
            let most = due[0].group.max_batch();
            while !due.is_empty() {
                let rest = due.split_off(most.min(due.len()));
                self.begin_one(due, limit);
                batches += 1;
                due = rest;
            }
        }
        batches
    }

    fn begin_one(&mut self, batch: Vec<Due>, limit: Duration) {
        let (group, runtime) = (Arc::clone(&batch[0].group), batch[0].runtime.clone());
        let tokens: Vec<Token> = batch.iter().map(|due| due.token).collect();
        let count = batch.len();
        let limited = !group.ends_by_itself();
        let leases = batch
            .into_iter()
            .map(|due| (due.lease, due.lease_time))
            .collect();
        let work = async move {
            let extending = group.extend_any(leases);
            if !limited {
                return extending.await;
            }
            tokio::time::timeout(limit, extending)
                .await
                .unwrap_or_else(|_| vec![Err(Failure::Transient); count])
        };
        let task = self.tasks.spawn_on(work, &runtime);
        if let [token] = tokens[..] {
            self.alone.insert(token, task.clone());
        }
        self.tokens.insert(task.id(), tokens);
    }

    pub(crate) fn cancel(&mut self, token: Token) {
        if let Some(task) = self.alone.remove(&token) {
            task.abort();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Waits until requests end, and gives the outcomes of all that have.
    pub(crate) async fn ended(&mut self) -> Vec<(Token, Outcome)> {
        let mut ended = Vec::new();
        let mut next = self.tasks.join_next_with_id().await;
        while let Some(joined) = next {
            let (id, outcomes) = match joined {
                Ok(joined) => joined,
                // It panicked, was cancelled, or its runtime has ended.
                Err(error) => (error.id(), Vec::new()),
            };
            let tokens = self.tokens.remove(&id).unwrap_or_default();
            for (at, token) in tokens.into_iter().enumerate() {
                self.alone.remove(&token);
                let outcome = outcomes.get(at).copied();
                ended.push((token, outcome.unwrap_or(Err(Failure::Unexpected))));
            }
            next = self.tasks.try_join_next_with_id();
        }
        ended
    }
}
