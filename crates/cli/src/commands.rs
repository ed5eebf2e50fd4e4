//! One module for each command.

pub(crate) mod beside;
pub(crate) mod claim;
pub(crate) mod demo;
pub(crate) mod doctor;
mod giving_back;
pub(crate) mod peek;
pub(crate) mod publish;
pub(crate) mod purge;
pub(crate) mod redrive;
pub(crate) mod release;
pub(crate) mod renew;
pub(crate) mod serve;
pub(crate) mod settle;
pub(crate) mod sim;
pub(crate) mod stats;
pub(crate) mod work;
