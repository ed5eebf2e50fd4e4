//! The host's functions as the capabilities of `leaseline-core`.

mod clock;
mod entropy;
mod redis;

pub(crate) use clock::HostClock;
pub(crate) use entropy::HostEntropy;
pub(crate) use redis::HostRedis;
