//! Sending each call to the node of a cluster that owns its keys.
//!
//! redis-rs has a cluster client, but it sends a command again when its connection was lost, and
//! nothing here may be sent twice.

mod map;
mod redirection;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use leaseline_core::capability::RedisError;
use redis::Value as Tree;
use tokio::time::{Instant, timeout_at};

use self::map::{SlotMap, Surveyor};
use self::redirection::Redirection;
use crate::address::{Endpoint, Target};
use crate::backend::{Exchange, Open};
use crate::command::Batch;
use crate::connector::Connector;
use crate::error::OpenError;
use crate::key;
use crate::place::Place;

/// How often a call follows a redirection. Two are usual while a slot moves.
const MAX_REDIRECTIONS: usize = 5;

/// The nodes of a cluster, and who owns which slot.
pub(crate) struct Cluster<E> {
    connector: Arc<Connector>,
    map: Arc<Place<Surveyor>>,
    open: Open<E>,
    /// How many nodes may be held at once.
    limit: usize,
    members: Mutex<HashMap<Target, Arc<E>>>,
}

impl<E: Exchange> Cluster<E> {
    pub(crate) fn new(
        connector: Arc<Connector>,
        seeds: Vec<Target>,
        open: Open<E>,
        limit: usize,
    ) -> Self {
        Self {
            map: Place::new(Surveyor::new(connector.clone(), seeds)),
            connector,
            open,
            limit,
            members: Mutex::default(),
        }
    }

    /// Returns when it is known who owns which slot.
    pub(crate) async fn ready(&self) -> Result<(), OpenError> {
        self.map.get().await.map(drop)
    }

    /// The replies of all commands, which go to one node.
    pub(crate) async fn run(
        &self,
        commands: &[&[&[u8]]],
        deadline: Instant,
    ) -> Result<Vec<Tree>, RedisError> {
        let slot = key::common_slot(commands)?;
        let mut replies: Vec<Option<Tree>> = commands.iter().map(|_| None).collect();
        let mut redirection: Option<Redirection> = None;
        for _ in 0..=MAX_REDIRECTIONS {
            let waiting: Vec<usize> = (0..commands.len())
                .filter(|&at| replies[at].is_none())
                .collect();
            let rest: Vec<&[&[u8]]> = waiting.iter().map(|&at| commands[at]).collect();
            let (target, map) = match &redirection {
                Some(redirection) => (redirection.target.clone(), None),
                None => {
                    let map = self.map_until(deadline).await?;
                    let owner = map.owner(slot).cloned();
                    let Some(owner) = owner else {
                        self.map.retire(&map);
                        return Err(RedisError::NotSent(format!(
                            "no node of the cluster owns hash slot {}",
                            slot.unwrap_or_default()
                        )));
                    };
                    (owner, Some(map))
                }
            };
            let asking = redirection.as_ref().is_some_and(|to| to.asking);
            match self.send(&target, &rest, asking, deadline).await {
                Ok(trees) => {
                    redirection = None;
                    for (at, tree) in waiting.iter().copied().zip(trees) {
                        match Redirection::of(&tree, &target) {
                            // Where the slot is now outweighs where it is going.
                            Some(to) if redirection.as_ref().is_none_or(|to| to.asking) => {
                                redirection = Some(to);
                            }
                            Some(_) => {}
                            None => {
                                if redirection::is_lost(&tree) {
                                    self.suspect(&target, map.as_ref());
                                }
                                replies[at] = Some(tree);
                            }
                        }
                    }
                }
                Err(error) => {
                    self.suspect(&target, map.as_ref());
                    return settle(replies, error);
                }
            }
            match &redirection {
                None => break,
                Some(to) if !to.asking => {
                    self.map.maker().hint(to.target.clone());
                    if let Some(map) = &map {
                        self.map.retire(map);
                    }
                }
                Some(_) => {}
            }
        }
        let lost = redirection::try_again("the nodes of the cluster send the call to each other");
        Ok(replies
            .into_iter()
            .map(|reply| reply.unwrap_or_else(|| lost.clone()))
            .collect())
    }

    async fn map_until(&self, deadline: Instant) -> Result<Arc<SlotMap>, RedisError> {
        match timeout_at(deadline, self.map.get()).await {
            Ok(map) => Ok(map?),
            Err(_) => Err(RedisError::NotSent(
                "the deadline passed while looking for the nodes of the cluster".into(),
            )),
        }
    }

    async fn send(
        &self,
        target: &Target,
        commands: &[&[&[u8]]],
        asking: bool,
        deadline: Instant,
    ) -> Result<Vec<Tree>, RedisError> {
        let member = self.member(target);
        if !asking {
            return member.exchange(&Batch::of(commands), deadline).await;
        }
        let trees = member.exchange(&Batch::asking(commands), deadline).await?;
        Ok(trees.into_iter().skip(1).step_by(2).collect())
    }

    fn member(&self, target: &Target) -> Arc<E> {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(member) = members.get(target) {
            return member.clone();
        }
        if members.len() >= self.limit {
            members.clear();
        }
        let member = (self.open)(self.connector.clone(), Endpoint::Member(target.clone()));
        let member = Arc::new(member);
        members.insert(target.clone(), member.clone());
        member
    }

    /// The node does not answer, or knows no cluster any more: somebody else may have its slots.
    fn suspect(&self, target: &Target, map: Option<&Arc<SlotMap>>) {
        self.map.maker().avoid(target.clone());
        if let Some(map) = map {
            self.map.retire(map);
        }
    }
}

/// The replies, when `error` is why some are missing.
///
/// A command that was redirected did not run. If it was not sent to the next node either, that can be
/// said of it alone; otherwise the whole pipeline has no reply.
fn settle(replies: Vec<Option<Tree>>, error: RedisError) -> Result<Vec<Tree>, RedisError> {
    let RedisError::NotSent(reason) = &error else {
        return Err(error);
    };
    if replies.iter().all(Option::is_none) {
        return Err(error);
    }
    let not_run = redirection::try_again(reason);
    Ok(replies
        .into_iter()
        .map(|reply| reply.unwrap_or_else(|| not_run.clone()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a redirected pipeline may claim to know.
    #[test]
    fn no_reply_says_more_than_is_known() {
        let not_sent = || RedisError::NotSent("refused".into());
        let unknown = || RedisError::Unknown("cut".into());
        let none = || vec![None, None];
        let half = || vec![Some(Tree::Okay), None];
        assert_eq!(settle(none(), not_sent()), Err(not_sent()));
        assert_eq!(settle(none(), unknown()), Err(unknown()));
        assert_eq!(settle(half(), unknown()), Err(unknown()));
        let replies = settle(half(), not_sent()).expect("each has its own");
        assert_eq!(replies[0], Tree::Okay);
        match &replies[1] {
            Tree::ServerError(error) => assert_eq!(error.code(), "TRYAGAIN"),
            other => panic!("{other:?}"),
        }
    }
}
