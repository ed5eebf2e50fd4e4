//! Spans of the work of a queue (cargo feature `tracing`).

use std::fmt::Display;
use std::future::Future;

use leaseline_core::Error;
use leaseline_core::message::Lease;
use tracing::Instrument;
use tracing::field::{Empty, display};

/// A span. All have the same fields, as far as they are known.
#[derive(Clone)]
pub(crate) struct Span(tracing::Span);

macro_rules! spans {
    ($($(#[$meta:meta])* $constructor:ident: $level:ident $name:literal;)*) => {$(
        $(#[$meta])*
        pub(crate) fn $constructor(queue: &str) -> Self {
            Self(tracing::span!(
                target: "leaseline",
                tracing::Level::$level,
                $name,
                queue,
                messages = Empty,
                message_id = Empty,
                delivery_count = Empty,
                token = Empty,
                outcome = Empty,
                error = Empty,
                error.kind = Empty,
            ))
        }
    )*};
}

impl Span {
    spans! {
        publish: INFO "publish";
        /// Idle consumers make these all the time.
        claim: DEBUG "claim";
        handle: INFO "handle";
        settle: INFO "settle";
        renew: DEBUG "renew";
        release: INFO "release";
        drain: INFO "drain";
    }

    /// Runs a future inside of it.
    pub(crate) async fn around<F: Future>(&self, work: F) -> F::Output {
        work.instrument(self.0.clone()).await
    }

    pub(crate) fn messages(&self, count: usize) {
        self.0.record("messages", count);
    }

    pub(crate) fn message_id(&self, id: Option<&str>) {
        self.known("message_id", id);
    }

    pub(crate) fn delivery_count(&self, count: u64) {
        self.0.record("delivery_count", count);
    }

    pub(crate) fn token(&self, token: Option<&str>) {
        self.known("token", token);
    }

    /// The lease, if it is the only one.
    pub(crate) fn lease<'a>(&self, mut leases: impl ExactSizeIterator<Item = &'a Lease>) {
        if self.0.is_disabled() {
            return;
        }
        self.messages(leases.len());
        if let (Some(lease), None) = (leases.next(), leases.next()) {
            self.message_id(lease.message_id().as_deref());
            self.token(lease.token.as_deref());
        }
    }

    pub(crate) fn outcome(&self, outcome: &str) {
        self.0.record("outcome", outcome);
    }

    /// What became of each: one word if it is the same for all, and otherwise how often each. The
    /// first error is recorded.
    pub(crate) fn outcomes<'a>(
        &self,
        outcomes: impl IntoIterator<Item = Result<&'static str, &'a Error>>,
    ) {
        if self.0.is_disabled() {
            return;
        }
        let mut counts: Vec<(&str, u64)> = Vec::new();
        let mut first = None;
        for outcome in outcomes {
            let name = outcome.unwrap_or_else(|error| {
                first.get_or_insert(error);
                "error"
            });
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        match &counts[..] {
            [] => {}
            [(name, _)] => self.outcome(name),
            several => {
                let several: Vec<_> = several
                    .iter()
                    .map(|(name, count)| format!("{name} {count}"))
                    .collect();
                self.outcome(&several.join(", "));
            }
        }
        if let Some(error) = first {
            self.error(error);
        }
    }

    fn error(&self, error: &Error) {
        self.0.record("error", display(error));
        self.0.record("error.kind", error.kind.name());
    }

    fn known(&self, field: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.0.record(field, display(value));
        }
    }
}

/// A task that belongs to the span in which it is spawned.
pub(crate) fn within_current<F: Future>(work: F) -> impl Future<Output = F::Output> {
    work.in_current_span()
}
