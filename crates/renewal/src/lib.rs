//! One worker that keeps any number of leases alive, and stops exactly when told.
//!
//! A program says how one of its leases is extended ([`Extend`]), makes a [`Renewer`] of that, and a
//! [`LeaseRenewal`] for each lease that a handler works under. All renewals of a process share one
//! [`Worker`], which is a task: it starts with the first renewal, starts again after a crash or
//! when its runtime ends, and keeps the renewals then. When what is due is decided by the table of
//! [`leaseline_core::renewal`]; this crate adds the clock and the requests.
//!
//! ```
//! use leaseline_renewal::{Extend, Outcome, Renewer, Terms};
//! use std::time::Duration;
//!
//! struct Server;
//!
//! impl Extend for Server {
//!     type Lease = String;
//!     async fn extend(&self, _receipt: &String, _lease: Duration) -> Outcome {
//!         Ok(()) // one request, without retries
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leaseline_core::Error> {
//! let renewer = Renewer::new(Server);
//! let renewal = renewer.renewal("receipt".into(), Terms::of_seconds(Some(30.0))?);
//! renewal.start().await?;
//! // The handler runs; renewal.lost() tells it when the lease is gone.
//! renewal.stop().await?; // from here on nothing is sent
//! # Ok(()) }
//! ```

mod attempts;
mod command;
mod extend;
mod follow_up;
mod guard;
mod metrics;
mod notice;
mod renewal;
mod renewer;
mod run;
mod schedule;
mod shared;
mod state;
mod terms;
mod worker;

pub use extend::Extend;
pub use follow_up::Extended;
pub use leaseline_core::renewal::{Counts, Failure, Lost, Outcome, Settings};
pub use metrics::Metrics;
pub use renewal::{Begun, LeaseRenewal, Stopped};
pub use renewer::Renewer;
pub use schedule::Schedule;
pub use terms::Terms;
pub use worker::Worker;
