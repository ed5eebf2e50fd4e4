//! One server behind one connection that all callers share.

use std::sync::Arc;
use std::time::Duration;

use leaseline_core::capability::RedisError;
use redis::Value as Tree;
use redis::aio::MultiplexedConnection;
use tokio::time::{Instant, sleep, timeout_at};

use crate::address::Endpoint;
use crate::backend::Exchange;
use crate::command::Batch;
use crate::connector::Connector;
use crate::dial::dial;
use crate::error::OpenError;
use crate::link::{Flight, LONG_SILENCE, Link};
use crate::place::{Maker, Place};
use crate::reply;

/// The pause before a server is dialled again that a call waits for in silence.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// Why a call is given up whose connection is dead.
const SILENT: &str = "the connection is silent, and its server answers another one";

/// A server, dialled when it is needed.
pub(crate) struct Node {
    place: Arc<Place<Dialler>>,
}

struct Dialler {
    connector: Arc<Connector>,
    endpoint: Endpoint,
}

impl Maker for Dialler {
    type Thing = Link;

    async fn make(&self) -> Result<Arc<Link>, OpenError> {
        dial(&self.connector, &self.endpoint, "leaseline").await
    }

    fn is_usable(link: &Link) -> bool {
        link.is_open()
    }
}

impl Node {
    pub(crate) fn new(connector: Arc<Connector>, endpoint: Endpoint) -> Self {
        Self {
            place: Place::new(Dialler {
                connector,
                endpoint,
            }),
        }
    }

    /// Returns when the connection of a call has been silent for long, and still is although its
    /// server has answered another one.
    ///
    /// Without this, what waits on a half-open socket waits for its whole deadline, and a consumer
    /// with it, however long the server has been back.
    async fn outlived(&self, flight: &Flight) {
        let mut read = flight.link().read();
        let mut doubted = false;
        loop {
            sleep(if doubted { RETRY_PAUSE } else { LONG_SILENCE }).await;
            if std::mem::replace(&mut read, flight.link().read()) != read {
                doubted = false;
                continue;
            }
            doubted = true;
            self.place.retire(flight.link());
            if self.place.get().await.is_err() {
                continue;
            }
            sleep(LONG_SILENCE).await;
            if flight.link().read() == read {
                return;
            }
        }
    }

    /// Returns when there is a connection.
    pub(crate) async fn ready(&self) -> Result<(), OpenError> {
        self.place.get().await.map(drop)
    }
}

impl Exchange for Node {
    async fn exchange(&self, batch: &Batch, deadline: Instant) -> Result<Vec<Tree>, RedisError> {
        let endpoint = &self.place.maker().endpoint;
        let link = match timeout_at(deadline, self.place.get()).await {
            Ok(link) => link?,
            Err(_) => {
                let reason = format!("the deadline passed while connecting to {endpoint}");
                return Err(RedisError::NotSent(reason));
            }
        };
        let waiting = Waiting {
            place: &self.place,
            flight: Flight::new(link),
            over: false,
        };
        let send = |mut sender: MultiplexedConnection| async move {
            sender
                .send_packed_commands(&batch.pipeline, 0, batch.count)
                .await
        };
        let exchange = timeout_at(deadline, waiting.flight.link().exchange(send));
        let answered = tokio::select! {
            biased;
            answered = exchange => answered,
            () = self.outlived(&waiting.flight) => {
                waiting.end_and_retire();
                return Err(RedisError::Unknown(SILENT.into()));
            }
        };
        match answered {
            Ok(Ok(replies)) => {
                if reply::is_from_demoted(endpoint, &replies) {
                    waiting.end_and_retire();
                } else {
                    waiting.end();
                }
                Ok(replies)
            }
            Ok(Err(failure)) => {
                let outcome = waiting.flight.judge(&failure);
                waiting.end_and_retire();
                Err(outcome)
            }
            Err(_) => {
                waiting.end_and_retire();
                Err(RedisError::Timeout)
            }
        }
    }
}

/// Notices when the caller drops a call that was waiting.
struct Waiting<'a> {
    place: &'a Place<Dialler>,
    flight: Flight,
    over: bool,
}

impl Waiting<'_> {
    fn end(mut self) {
        self.over = true;
    }

    fn end_and_retire(mut self) {
        self.over = true;
        self.place.retire(self.flight.link());
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.over && self.flight.is_suspicious() {
            self.place.retire(self.flight.link());
        }
    }
}
