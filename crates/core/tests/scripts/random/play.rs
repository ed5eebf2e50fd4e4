//! One game: which operation comes next, and that its answer is the one of the account.

use std::cell::Cell;

use leaseline_core::Config;
use leaseline_core::event::Operation;
use leaseline_core::message::{
    Lease, PublishOutcome, RenewOutcome, SettleOutcome, SettleRequest, Settlement,
};
use leaseline_redis_model::Profile;

use super::account::Account;
use super::keys;
use crate::world::{Model, World, now};

/// Operations, as often as they come up.
const WEIGHTS: [(Step, usize); 12] = [
    (Step::PublishKeyed, 30),
    (Step::Publish, 15),
    (Step::Claim, 25),
    (Step::Ack, 15),
    (Step::Fail, 10),
    (Step::SettleOld, 13),
    (Step::RenewOld, 5),
    (Step::Cross, 3),
    (Step::Renew, 8),
    (Step::Expire, 10),
    (Step::ForgetKey, 5),
    (Step::Pass, 5),
];

#[derive(Clone, Copy)]
enum Step {
    PublishKeyed,
    Publish,
    Claim,
    Ack,
    Fail,
    /// A lease that was settled or passed on.
    SettleOld,
    RenewOld,
    /// The token of another message.
    Cross,
    Renew,
    Expire,
    /// The window of a deduplication key is over.
    ForgetKey,
    /// Time.
    Pass,
}

pub(crate) struct Play {
    context: String,
    chance: Cell<u64>,
    world: World,
    account: Account,
    /// Payloads so far.
    payloads: usize,
    /// Deadlines that were moved into the past so far.
    moved: usize,
}

impl Play {
    pub(crate) fn new(context: String, seed: u64, change: impl Fn(&mut Config)) -> Self {
        let model = Model::new(Profile::Redis70);
        let world = World::new(&model, change);
        Self {
            account: Account::new(world.queue.config()),
            context,
            chance: Cell::new(seed),
            world,
            payloads: 0,
            moved: 0,
        }
    }

    /// A number below `limit`.
    fn below(&self, limit: usize) -> usize {
        // SplitMix64.
        let mut word = self.chance.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.chance.set(word);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % limit as u64) as usize
    }

    fn any<T: Clone>(&self, items: &[T]) -> Option<T> {
        (!items.is_empty()).then(|| items[self.below(items.len())].clone())
    }

    pub(crate) fn step(&mut self) {
        let mut at = self.below(WEIGHTS.iter().map(|(_, weight)| weight).sum());
        let mut steps = WEIGHTS.iter();
        let step = loop {
            let (step, weight) = steps.next().expect("a step");
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => break *step,
            }
        };
        self.take(step);
        keys::check(&self.world, &self.account, &self.context);
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Publish => self.publish(None),
            Step::PublishKeyed => self.publish(Some(format!("k{}", self.below(40)))),
            Step::Claim => self.claim(1 + self.below(3)),
            Step::Ack => self.settle(Settlement::Ack),
            Step::Fail => self.settle(Settlement::Fail),
            Step::SettleOld => self.refuse(self.any(&self.account.old)),
            Step::Cross => self.refuse(self.crossed()),
            Step::RenewOld => self.renew_old(),
            Step::Renew => self.renew(),
            Step::Expire => self.expire(),
            Step::ForgetKey => self.forget_key(),
            Step::Pass => self.world.pass(self.below(20) as u64),
        }
    }

    fn publish(&mut self, key: Option<String>) {
        self.payloads += 1;
        let payload = format!("m{}", self.payloads);
        let (outcome, fresh) = match key {
            Some(key) => {
                let outcome = self.world.publish_keyed(&payload, &key);
                (outcome, self.account.keys.insert(key))
            }
            None => (self.world.publish(&payload), true),
        };
        let expected = if fresh {
            self.account.publish(payload);
            PublishOutcome::Published
        } else {
            PublishOutcome::Duplicate
        };
        assert_eq!(outcome, Ok(expected), "{}", self.context);
    }

    fn claim(&mut self, max: usize) {
        let expected = self.account.claim(max);
        self.world.queue.take_events();
        let claimed = now(self.world.queue.claim(max as u32, 0)).expect("a claim");
        let payloads: Vec<String> = claimed
            .iter()
            .map(|delivery| String::from_utf8_lossy(delivery.payload.as_ref().unwrap()).into())
            .collect();
        assert_eq!(payloads, expected.payloads, "{}", self.context);

        let told: Vec<_> = self
            .world
            .queue
            .take_events()
            .events
            .into_iter()
            .filter(|event| [Operation::ClaimReclaim, Operation::Dlq].contains(&event.operation))
            .map(|event| {
                let count = event.delivery_count.expect("a count");
                (event.operation, event.message_id, count)
            })
            .collect();
        assert_eq!(told, expected.told, "{}", self.context);

        for (payload, delivery) in payloads.iter().zip(&claimed) {
            self.account.grant(payload, delivery);
            let token = self
                .account
                .leases
                .then(|| self.account.granted.to_string());
            assert_eq!(delivery.lease.token, token, "{}", self.context);
            let count = self.account.counts.get(payload).copied();
            assert_eq!(
                delivery.delivery_count,
                count.unwrap_or(0),
                "{}",
                self.context
            );
        }
    }

    fn send(&mut self, lease: &Lease, settlement: Settlement) -> SettleOutcome {
        let request = SettleRequest {
            lease: lease.clone(),
            settlement,
            reason: None,
        };
        let outcome = now(self.world.queue.settle(&[request])).remove(0);
        outcome.expect("an answer")
    }

    fn settle(&mut self, settlement: Settlement) {
        let Some(payload) = self.any(&self.account.processing) else {
            return;
        };
        let lease = self.account.held[&payload].clone();
        let outcome = self.send(&lease, settlement);
        assert_eq!(outcome, SettleOutcome::Done, "{}", self.context);
        self.account.settle(&payload, settlement);
    }

    /// Neither ack nor failure of a lease that is not current changes anything.
    fn refuse(&mut self, lease: Option<Lease>) {
        let Some(lease) = lease else {
            return;
        };
        let before = self.world.model.lock().dump();
        for settlement in [Settlement::Ack, Settlement::Fail] {
            let outcome = self.send(&lease, settlement);
            assert_eq!(outcome, SettleOutcome::Stale, "{}", self.context);
        }
        let after = self.world.model.lock().dump();
        assert_eq!(before, after, "{}: nothing changed", self.context);
    }

    /// A lease of one message with the token of another.
    fn crossed(&self) -> Option<Lease> {
        let one = self.any(&self.account.processing)?;
        let other = self.any(&self.account.processing)?;
        if one == other || !self.account.leases {
            return None;
        }
        let mut lease = self.account.held[&one].clone();
        lease.token.clone_from(&self.account.held[&other].token);
        Some(lease)
    }

    fn renew_old(&mut self) {
        let Some(lease) = self.any(&self.account.old) else {
            return;
        };
        let before = self.world.model.lock().dump();
        let renewed = now(self.world.queue.renew(&[lease])).remove(0);
        if self.account.leases {
            assert_eq!(renewed, Ok(RenewOutcome::Stale), "{}", self.context);
        } else {
            renewed.expect_err("a queue without leases");
        }
        assert_eq!(before, self.world.model.lock().dump(), "{}", self.context);
    }

    fn renew(&mut self) {
        let Some(payload) = self.any(&self.account.processing) else {
            return;
        };
        if !self.account.leases {
            return;
        }
        let lease = self.account.held[&payload].clone();
        let renewed = now(self.world.queue.renew(&[lease])).remove(0);
        let due = self.world.model.lock().time_us() / 1000 + 300_000;
        assert_eq!(renewed, Ok(RenewOutcome::Renewed(due)), "{}", self.context);
        self.account.expired.retain(|other| *other != payload);
    }

    /// A lease ends, by its score and not by the clock; later ones have later deadlines.
    fn expire(&mut self) {
        let Some(payload) = self.any(&self.account.processing) else {
            return;
        };
        if !self.account.leases || self.account.expired.contains(&payload) {
            return;
        }
        self.moved += 1;
        let score = self.moved.to_string();
        let argv: [&[u8]; 4] = [
            b"ZADD",
            b"q::processing:lease_deadlines",
            score.as_bytes(),
            &self.account.held[&payload].stored,
        ];
        self.world.model.lock().execute(&argv);
        self.account.expired.push(payload);
    }

    fn forget_key(&mut self) {
        let Some(key) = self.account.keys.pop_first() else {
            return;
        };
        let name = format!("q::deduplication::{key}");
        let argv: [&[u8]; 2] = [b"DEL", name.as_bytes()];
        self.world.model.lock().execute(&argv);
    }

    /// Brings every message to its end. Of the metadata only the counter may be left.
    pub(crate) fn take_everything_out(mut self) {
        while !(self.account.pending.is_empty() && self.account.processing.is_empty()) {
            self.claim(3);
            while !self.account.processing.is_empty() {
                self.settle(Settlement::Ack);
                keys::check(&self.world, &self.account, &self.context);
            }
        }
        let left: Vec<String> = self
            .world
            .keys()
            .into_iter()
            .filter(|key| key.starts_with("q::p"))
            .collect();
        let counter = (self.account.granted > 0 && self.account.leases)
            .then(|| String::from("q::processing:lease_token_counter"));
        assert_eq!(left, Vec::from_iter(counter), "{}", self.context);
    }
}
