//! Queues on a Redis Cluster, and on a master that sentinels watch: real servers, changed while
//! messages are on their way.

mod cluster;
mod failover;
mod stage;
mod tour;
