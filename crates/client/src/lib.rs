//! A Redis message queue with leases, fencing tokens and replayed claims.
