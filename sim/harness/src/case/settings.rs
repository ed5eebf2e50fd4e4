//! What holds for a whole case.

use leaseline_core::Config;
use leaseline_core::config::{Log, OverloadPolicy};

/// A log without limit.
const UNBOUNDED: u32 = 1_000_000;

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: [$($choice:expr),*])*) => {
        /// The settings of a case. The first choice of each is the mildest, and the default.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Settings {
            $($(#[$doc])* pub $name: u32),*
        }

        /// The names of the settings with their choices.
        pub static SETTINGS: &[(&str, &[u32])] = &[$((stringify!($name), &[$($choice),*])),*];

        impl Settings {
            /// The values in the order of [`SETTINGS`].
            pub fn values(&self) -> Vec<u32> {
                vec![$(self.$name),*]
            }

            /// A setting by name.
            pub(crate) fn find(&mut self, name: &str) -> Option<&mut u32> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: [$($choice),*][0]),* }
            }
        }
    };
}

settings! {
    /// Queues.
    queues: [1, 2, 3]
    /// Clients, each with an object for each queue.
    clients: [2, 1, 3, 4, 5]
    /// The visibility timeout in milliseconds; 0: no leases.
    lease_ms: [400, 400, 100, 2000, 0]
    /// Claims before a message is dead-lettered; 0: no limit.
    limit: [3, 0, 1, 2, 5]
    /// The log of acknowledged messages: off, cut to two, or unbounded.
    completed: [0, 2, UNBOUNDED]
    /// The log of failed messages.
    failed: [0, 2, UNBOUNDED]
    /// The most pending messages; 0: no limit.
    cap: [0, 0, 0, 2, 5]
    /// At that limit: 0 raise, 1 drop the oldest, 2 block.
    policy: [0, 1, 2]
    /// The window of deduplication in milliseconds.
    window_ms: [3000, 500]
    /// The retry budget in milliseconds.
    budget_ms: [300, 0, 2000]
    /// The deadline of a command in milliseconds.
    timeout_ms: [150, 30]
    /// How long a request and its reply take, each, in microseconds.
    latency_us: [0, 0, 0, 1000]
    /// Which Redis: 70 or 72.
    redis: [70, 72]
    /// What ids and pauses are drawn from.
    seed: [0, 1, 2, 3]
}

impl Settings {
    /// Whether there are leases.
    pub fn leased(&self) -> bool {
        self.lease_ms > 0
    }

    /// The lease, or what stands for it where there is none.
    pub(crate) fn lease_or_default_ms(&self) -> u64 {
        u64::from(if self.leased() { self.lease_ms } else { 400 })
    }

    /// The limit of deliveries, where there are leases.
    pub(crate) fn limit(&self) -> Option<u32> {
        (self.leased() && self.limit > 0).then_some(self.limit)
    }

    pub(crate) fn drops_oldest(&self) -> bool {
        self.cap > 0 && self.policy == 1 && self.limit().is_none()
    }

    /// The first rule that the settings break.
    pub(crate) fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u32, least: u32, most: u32| {
            (least..=most)
                .contains(&value)
                .then_some(())
                .ok_or_else(|| format!("{name}={value}: use {least} to {most}"))
        };
        within("queues", self.queues, 1, 3)?;
        within("clients", self.clients, 1, 5)?;
        within("timeout_ms", self.timeout_ms, 1, 60_000)?;
        within("window_ms", self.window_ms, 1, 3_600_000)?;
        within("lease_ms", self.lease_ms, 0, 3_600_000)?;
        within("budget_ms", self.budget_ms, 0, 600_000)?;
        within("latency_us", self.latency_us, 0, 1_000_000)?;
        within("policy", self.policy, 0, 2)
    }

    /// The configuration of a queue.
    pub(crate) fn config(&self, queue: usize) -> Config {
        let log = |cap: u32| match cap {
            0 => Log::Off,
            UNBOUNDED.. => Log::Unbounded,
            cap => Log::Capped(cap.into()),
        };
        let mut config = Config::new(format!("q{queue}"));
        config.visibility_timeout_ms = self.leased().then_some(self.lease_ms.into());
        config.max_delivery_count = self.limit();
        config.completed = log(self.completed);
        config.failed = log(self.failed);
        config.max_pending_length = (self.cap > 0).then_some(self.cap.into());
        config.overload_policy = match self.policy {
            1 if self.drops_oldest() => OverloadPolicy::DropOldest,
            2 if self.cap > 0 => OverloadPolicy::Block,
            _ => OverloadPolicy::Raise,
        };
        config.deduplication_ttl_ms = self.window_ms.into();
        config.retry_budget_ms = self.budget_ms.into();
        config.overload_block_timeout_ms = 50;
        config.retry_max_delay_ms = 200;
        config.command_timeout_ms = self.timeout_ms;
        config.event_buffer = 64;
        config
    }
}
