//! What a server says about itself.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use leaseline::Connection;
use leaseline::capability::RedisError;

use crate::commands::beside::beside;

/// Round trips that are timed.
const PINGS: usize = 21;

/// What a server says about itself.
#[derive(Debug, Default)]
pub(crate) struct Server {
    info: BTreeMap<String, String>,
    config: BTreeMap<String, String>,
    /// The median of a few.
    pub(crate) round_trip: Duration,
    /// How far the server's clock is ahead of ours, in milliseconds.
    pub(crate) clock_ahead_ms: i64,
}

impl Server {
    /// The server that has this key.
    pub(crate) async fn examine(connection: &Connection, key: &str) -> Result<Self, RedisError> {
        let mut server = Self::default();
        let info = beside(connection, key, &["INFO"]).await?;
        for line in info.iter().flat_map(|text| text.lines()) {
            if let Some((name, value)) = line.split_once(':') {
                server.info.insert(name.into(), value.trim().into());
            }
        }
        // Some providers forbid it; what it would say is then not judged.
        match beside(connection, key, &["CONFIG", "GET", "*"]).await {
            Ok(pairs) => {
                for pair in pairs.chunks_exact(2) {
                    server.config.insert(pair[0].clone(), pair[1].clone());
                }
            }
            Err(RedisError::Server(_)) => {}
            Err(error) => return Err(error),
        }
        let mut round_trips = Vec::with_capacity(PINGS);
        for _ in 0..PINGS {
            let start = Instant::now();
            beside(connection, key, &["PING"]).await?;
            round_trips.push(start.elapsed());
        }
        round_trips.sort_unstable();
        server.round_trip = round_trips[PINGS / 2];
        let time = beside(connection, key, &["TIME"]).await?;
        let theirs = match time.as_slice() {
            [seconds, micros] => number(seconds) * 1_000 + number(micros) / 1_000,
            _ => 0,
        };
        let ours = SystemTime::now().duration_since(UNIX_EPOCH);
        let ours = i64::try_from(ours.unwrap_or_default().as_millis()).unwrap_or(i64::MAX);
        server.clock_ahead_ms = theirs.saturating_sub(ours);
        Ok(server)
    }

    /// A field of `INFO`.
    pub(crate) fn info(&self, name: &str) -> Option<&str> {
        self.info.get(name).map(String::as_str)
    }

    /// A field of `INFO` that is a number; 0 where it is absent.
    pub(crate) fn count(&self, name: &str) -> i64 {
        self.info(name).map_or(0, number)
    }

    /// A setting, where the server shows its settings.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        self.config.get(name).map(String::as_str)
    }

    #[cfg(test)]
    pub(crate) fn with(info: &[(&str, &str)], config: &[(&str, &str)]) -> Self {
        let map = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter();
            pairs.map(|&(a, b)| (a.into(), b.into())).collect()
        };
        Self {
            info: map(info),
            config: map(config),
            ..Self::default()
        }
    }
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or(0)
}
