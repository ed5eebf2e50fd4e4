//! One server behind a connection that one caller has for itself.

use std::sync::Arc;

use leaseline_core::capability::RedisError;
use redis::Value as Tree;
use redis::aio::MultiplexedConnection;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::address::Endpoint;
use crate::backend::Exchange;
use crate::command::Batch;
use crate::connector::Connector;
use crate::dial::dial;
use crate::link::{Flight, Link};
use crate::reply;

/// Calls come one after the other. One without a reply closes the connection, and the next one
/// dials.
pub(crate) struct Line {
    connector: Arc<Connector>,
    endpoint: Endpoint,
    name: &'static str,
    link: Mutex<Option<Arc<Link>>>,
}

impl Line {
    pub(crate) fn new(connector: Arc<Connector>, endpoint: Endpoint, name: &'static str) -> Self {
        Self {
            connector,
            endpoint,
            name,
            link: Mutex::default(),
        }
    }
}

impl Exchange for Line {
    async fn exchange(&self, batch: &Batch, deadline: Instant) -> Result<Vec<Tree>, RedisError> {
        let not_sent = || RedisError::NotSent("the deadline passed while connecting".into());
        let mut place = timeout_at(deadline, self.link.lock())
            .await
            .map_err(|_| not_sent())?;
        // Out of its place until there is a reply: whatever ends this call also closes it.
        let link = match place.take().filter(|link| link.is_open()) {
            Some(link) => link,
            None => {
                let dialling = dial(&self.connector, &self.endpoint, self.name);
                timeout_at(deadline, dialling)
                    .await
                    .map_err(|_| not_sent())??
            }
        };
        let flight = Flight::new(Arc::clone(&link));
        let send = |mut sender: MultiplexedConnection| async move {
            sender
                .send_packed_commands(&batch.pipeline, 0, batch.count)
                .await
        };
        match timeout_at(deadline, link.exchange(send)).await {
            Ok(Ok(replies)) => {
                if !reply::is_from_demoted(&self.endpoint, &replies) {
                    *place = Some(link);
                }
                Ok(replies)
            }
            Ok(Err(failure)) => Err(flight.judge(&failure)),
            Err(_) => Err(RedisError::Timeout),
        }
    }
}
