//! Finding a master by its sentinels, each time a connection is made.

use std::time::Duration;

use redis::Value;
use tokio::time::Instant;

use crate::address::{Sentinels, Target};
use crate::connector::Connector;
use crate::dial::{Dial, Login};
use crate::error::OpenError;
use crate::link::Link;

/// Asks the sentinels in turn until one of them names a server that says itself that it is the
/// master. Just after a failover some of them still name the old one.
pub(crate) async fn dial_master(
    connector: &Connector,
    sentinels: &Sentinels,
    login: &Login<'_>,
) -> Result<Link, OpenError> {
    let deadline = Instant::now() + connector.connect_timeout;
    let mut last = OpenError::UnknownService {
        service: sentinels.service.clone(),
    };
    let mut others = u32::try_from(sentinels.targets.len()).unwrap_or(u32::MAX);
    for sentinel in &sentinels.targets {
        // One that is silent leaves time for the others.
        let now = Instant::now();
        let until = now + deadline.saturating_duration_since(now) / others;
        others -= 1;
        match try_one(connector, sentinels, sentinel, until, login).await {
            Ok(link) => return Ok(link),
            // Says less than what went wrong before it.
            Err(OpenError::UnknownService { .. }) => {}
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn try_one(
    connector: &Connector,
    sentinels: &Sentinels,
    sentinel: &Target,
    until: Instant,
    login: &Login<'_>,
) -> Result<Link, OpenError> {
    let master = name_master(connector, sentinels, sentinel, until, login.name).await?;
    let dial = Dial::new(connector, &master, left(until));
    let link = dial.connect(login).await?;
    let is_master = match dial.question(&link, &redis::cmd("ROLE")).await? {
        Ok(Value::Array(items)) => items
            .first()
            .and_then(text)
            .is_some_and(|role| role == "master"),
        Ok(_) => false,
        // Forbidden to this user: a replica is found by its READONLY then.
        Err(_) => true,
    };
    if is_master {
        Ok(link)
    } else {
        Err(OpenError::NotMaster {
            address: master.to_string(),
            service: sentinels.service.clone(),
        })
    }
}

async fn name_master(
    connector: &Connector,
    sentinels: &Sentinels,
    sentinel: &Target,
    until: Instant,
    name: &str,
) -> Result<Target, OpenError> {
    let dial = Dial::new(connector, sentinel, left(until));
    let login = Login {
        credentials: sentinels.credentials.as_ref(),
        database: 0,
        name,
    };
    let link = dial.connect(&login).await?;
    let mut command = redis::cmd("SENTINEL");
    command
        .arg("get-master-addr-by-name")
        .arg(&sentinels.service);
    let reply = dial.question(&link, &command).await?;
    let reply = reply.map_err(|error| OpenError::Refused {
        address: sentinel.to_string(),
        error,
    })?;
    let named = match &reply {
        Value::Array(items) => match &items[..] {
            [host, port] => text(host).zip(text(port).and_then(|port| port.parse().ok())),
            _ => None,
        },
        _ => None,
    };
    let (host, port) = named.ok_or_else(|| OpenError::UnknownService {
        service: sentinels.service.clone(),
    })?;
    Ok(sentinel.beside(host, port))
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}
