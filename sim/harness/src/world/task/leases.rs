//! What a client does with the leases that it has.

use leaseline_core::ErrorKind;
use leaseline_core::message::{
    Lease, ReleaseOutcome, ReleaseRequest, RenewOutcome, SettleOutcome, SettleRequest, Settlement,
};

use super::Worker;
use crate::Mark;
use crate::check::Settled;
use crate::world::client::pick;

impl Worker<'_> {
    pub(super) async fn settle(
        &mut self,
        queue: usize,
        leases: Vec<Lease>,
        settlement: Settlement,
    ) {
        if leases.is_empty() {
            return;
        }
        let requests: Vec<_> = leases
            .iter()
            .map(|lease| SettleRequest {
                lease: lease.clone(),
                settlement,
                reason: None,
            })
            .collect();
        let Ok(outcomes) = self.objects[queue].settle(&requests).await else {
            return;
        };
        self.note("settle", &outcomes);
        let mut world = self.link.world.lock();
        let world = &mut *world;
        for (lease, outcome) in leases.iter().zip(&outcomes) {
            let settled = match outcome {
                Ok(SettleOutcome::Done) => Settled::Done,
                Ok(SettleOutcome::Stale) => Settled::Stale,
                Err(error) if error.kind == ErrorKind::OutcomeUnknown => Settled::Unknown,
                Err(_) => continue,
            };
            world.coverage.marks.count(match settled {
                Settled::Done => Mark::Settled,
                Settled::Stale => Mark::SettledTooLate,
                Settled::Unknown => Mark::OutcomeUnknown,
            });
            let told = world.black_box.settled(lease, settled, world.steps);
            if let Err(message) = told
                && !world.excuses[queue].evicted
            {
                world.fail("black_box", message);
            }
            world.clients[self.link.client].put_away(queue, lease);
        }
    }

    pub(super) async fn release(&mut self, queue: usize, leases: Vec<Lease>, delay_ms: u64) {
        if leases.is_empty() {
            return;
        }
        let requests: Vec<_> = leases
            .iter()
            .map(|lease| ReleaseRequest {
                lease: lease.clone(),
                delay_ms,
            })
            .collect();
        let Ok(outcomes) = self.objects[queue].release(&requests).await else {
            return;
        };
        self.note("release", &outcomes);
        let mut world = self.link.world.lock();
        for (lease, outcome) in leases.iter().zip(&outcomes) {
            match outcome {
                Ok(ReleaseOutcome::Released(_) | ReleaseOutcome::Stale) => {}
                Err(error) if error.kind == ErrorKind::OutcomeUnknown => {}
                Err(_) => continue,
            }
            world.clients[self.link.client].put_away(queue, lease);
        }
    }

    pub(super) async fn renew(&mut self, queue: usize, leases: Vec<Lease>) {
        if leases.is_empty() {
            return;
        }
        let Ok(outcomes) = self.objects[queue].renew(&leases).await else {
            return;
        };
        self.note("renew", &outcomes);
        let mut world = self.link.world.lock();
        for (lease, outcome) in leases.iter().zip(&outcomes) {
            if matches!(outcome, Ok(RenewOutcome::Stale)) {
                world.coverage.marks.count(Mark::StaleRenewal);
                world.clients[self.link.client].put_away(queue, lease);
            }
        }
    }

    pub(super) fn held(&self, queue: usize) -> Vec<Lease> {
        self.link.world.lock().clients[self.link.client].held[queue].clone()
    }

    pub(super) fn one_held(&self, queue: usize, at: u32) -> Vec<Lease> {
        let world = self.link.world.lock();
        let held = &world.clients[self.link.client].held[queue];
        pick(held, at).cloned().into_iter().collect()
    }

    pub(super) fn one_old(&self, queue: usize, at: u32) -> Vec<Lease> {
        let world = self.link.world.lock();
        let old = &world.clients[self.link.client].old[queue];
        pick(old, at).cloned().into_iter().collect()
    }
}
