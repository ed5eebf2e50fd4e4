//! Histories of a queue under faults, in virtual time, that can be replayed.
//!
//! A [`Case`] names everything that happens: what clients do, when a reply is lost, when the server
//! forgets its last scripts. [`run()`] plays it with the real queue logic and the real scripts, on the
//! model of Redis, and checks what must hold after every command and at the end. Nothing else
//! decides what happens, so a case that fails is a case that fails again.
//!
//! ```
//! let case: leaseline_sim::Case = "leaseline-sim case 1
//!     publish client=0 queue=0 payload=0
//!     reset_after client=0 after=0     # the claim runs, and its reply is lost
//!     claim client=0 queue=0 more=0 wait=0
//!     ack client=0 queue=0 pick=0"
//!     .parse()?;
//! let coverage = leaseline_sim::run(&case)?;
//! assert_eq!(coverage.marks.of(leaseline_sim::Mark::ClaimReplayed), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod check;
mod ending;
mod engine;
mod explore;
mod fault;
pub mod fuzz;
mod marks;
mod minimise;
mod profile;
mod recipe;
mod run;
mod soak;
mod story;
mod sweep;
mod timeline;
mod trace;
mod view;
mod violation;
mod world;

pub use case::{
    Case, FIELDS, Family, KINDS, Kind, MOMENTS, Op, SETTINGS, Settings, TextError, decode,
};
pub use engine::Engine;
pub use explore::explore;
pub use marks::{Mark, Marks};
pub use minimise::minimise;
pub use profile::Profile;
pub use recipe::{Recipe, case_files};
pub use run::{Coverage, Runner, run};
pub use soak::{Failure, case_of, failure, soak};
pub use story::{one_line, tell};
pub use sweep::sweeps;
pub use violation::Violation;
pub use world::Scripts;
