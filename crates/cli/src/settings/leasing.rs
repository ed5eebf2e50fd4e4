//! How messages are claimed.

use std::time::Duration;

use clap::Args;
use leaseline::Config;

use super::{File, Given, Shared, take};
use crate::duration::{milliseconds, positive_seconds};
use crate::failure::Failure;

/// How messages are claimed. All consumers of a queue must agree on whether there are leases.
#[derive(Args)]
pub(crate) struct Leasing {
    /// How long a claim holds its message [default: 300]
    #[arg(long, value_name = "SECONDS", env = "LEASELINE_VISIBILITY_TIMEOUT", value_parser = positive_seconds)]
    visibility_timeout: Option<Duration>,

    /// Claim without leases: a consumer that dies keeps its message for good
    #[arg(
        long,
        env = "LEASELINE_NO_LEASE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
    )]
    no_lease: Option<bool>,

    /// Claims of one message before it is dead-lettered; 0 is no limit [default: 10]
    #[arg(
        long,
        alias = "max-delivery-count",
        value_name = "N",
        env = "LEASELINE_MAX_DELIVERIES"
    )]
    max_deliveries: Option<u32>,
}

impl Leasing {
    /// Takes from the file what is not given.
    ///
    /// Who says that there are no leases also overrules what is said about leases in places that
    /// count less. In the same place both is a contradiction.
    pub(crate) fn fill(
        &mut self,
        shared: &mut Shared,
        file: &File,
        given: &Given<'_>,
    ) -> Result<(), Failure> {
        take(&mut self.visibility_timeout, &file.visibility_timeout);
        take(&mut self.no_lease, &file.no_lease);
        take(&mut self.max_deliveries, &file.max_deliveries);
        if self.no_lease != Some(true) {
            return Ok(());
        }
        let no_lease = given.source("no_lease", file.no_lease.is_some());
        let timeout = given.source("visibility_timeout", file.visibility_timeout.is_some());
        if timeout > no_lease {
            self.no_lease = Some(false);
            return Ok(());
        }
        if timeout == no_lease {
            return Err(Failure::usage(
                "no_lease and visibility_timeout exclude each other; give one of them",
            ));
        }
        self.visibility_timeout = None;
        if given.source("max_deliveries", file.max_deliveries.is_some()) < no_lease {
            self.max_deliveries = None;
        }
        if given.source("dead_letter_queue", file.dead_letter_queue.is_some()) < no_lease {
            shared.ignore_dead_letter_queue();
        }
        Ok(())
    }

    /// Whether claims have no lease.
    fn has_none(&self) -> bool {
        self.no_lease == Some(true)
    }

    /// Puts the choices into a configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        if self.has_none() {
            config.visibility_timeout_ms = None;
            config.max_delivery_count = None;
        } else if let Some(timeout) = self.visibility_timeout {
            config.visibility_timeout_ms = Some(milliseconds(timeout));
        }
        if let Some(limit) = self.max_deliveries {
            config.max_delivery_count = (limit > 0).then_some(limit);
        }
    }
}

/// How leases are kept while their commands run.
#[derive(Args)]
pub(crate) struct Heartbeat {
    /// Renew the leases of running commands this often, below half the visibility timeout
    /// [default: a third of it]
    #[arg(id = "heartbeat", long = "heartbeat", value_name = "SECONDS", env = "LEASELINE_HEARTBEAT", value_parser = positive_seconds)]
    interval: Option<Duration>,

    /// The longest time for which a lease is kept, from its claim; at least the visibility timeout
    /// [default: as long as its command runs]
    ///
    /// A command that still runs then is asked to end by SIGTERM. If it ends with 0 its message is
    /// acknowledged, unless it has passed on; otherwise the message comes back by its lease.
    #[arg(id = "max_lease_time", long = "max-lease-time", value_name = "SECONDS", env = "LEASELINE_MAX_LEASE_TIME", value_parser = positive_seconds)]
    longest: Option<Duration>,
}

impl Heartbeat {
    /// Takes from the file what is not given, after `leasing` has.
    pub(crate) fn fill(
        &mut self,
        leasing: &Leasing,
        file: &File,
        given: &Given<'_>,
    ) -> Result<(), Failure> {
        take(&mut self.interval, &file.heartbeat);
        take(&mut self.longest, &file.max_lease_time);
        if !leasing.has_none() {
            return Ok(());
        }
        let no_lease = given.source("no_lease", file.no_lease.is_some());
        if given.source("heartbeat", file.heartbeat.is_some()) >= no_lease {
            return Err(Failure::usage(
                "a heartbeat renews leases, and no_lease says that there are none; give one of them",
            ));
        }
        if given.source("max_lease_time", file.max_lease_time.is_some()) >= no_lease {
            return Err(Failure::usage(
                "max_lease_time limits leases, and no_lease says that there are none; give one of them",
            ));
        }
        (self.interval, self.longest) = (None, None);
        Ok(())
    }

    /// The longest time for which a lease is kept.
    pub(crate) fn longest(&self) -> Option<Duration> {
        self.longest
    }

    /// The interval, or a third of the visibility timeout. `None` without leases.
    pub(crate) fn interval(&self, config: &Config) -> Option<Duration> {
        let timeout = config.visibility_timeout_ms?;
        Some(self.interval.unwrap_or(Duration::from_millis(timeout) / 3))
    }
}
