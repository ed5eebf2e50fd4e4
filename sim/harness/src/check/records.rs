//! The record of a claim is there as long as its lease, under the name that the original reads too,
//! and goes with the lease: what it leaves would live until its time is up, once for each claim.

use super::{Check, Step, Verdict};

#[derive(Clone, Debug, Default)]
pub(crate) struct Records;

impl Check for Records {
    const PROPERTY: &'static str = "records";

    fn step(&mut self, step: &Step<'_>) -> Verdict {
        if step.excuse.evicted || step.failed_call.is_some() {
            return Ok(());
        }
        // One that took longer than its own leases has outlived its records.
        let slow = step.ended_ms - step.server_ms >= step.settings.lease_or_default_ms();
        if let Some(id) = step.missing_record.filter(|_| !slow) {
            return Err(format!(
                "claim c{} was answered and its record has no key that ends",
                id.0
            ));
        }
        match step.left_record {
            Some(id) if !step.excuse.torn => Err(format!(
                "{} ended claim c{} and left the key of its record",
                step.script(),
                id.0
            )),
            _ => Ok(()),
        }
    }
}
