//! The spans of a program that was built without them.

use std::future::Future;

use leaseline_core::Error;
use leaseline_core::message::Lease;

/// Nothing.
#[derive(Clone)]
pub(crate) struct Span;

macro_rules! spans {
    ($($constructor:ident),*) => {$(
        pub(crate) fn $constructor(_: &str) -> Self {
            Self
        }
    )*};
}

impl Span {
    spans!(publish, claim, handle, settle, renew, release, drain);

    pub(crate) async fn around<F: Future>(&self, work: F) -> F::Output {
        work.await
    }

    pub(crate) fn messages(&self, _: usize) {}

    pub(crate) fn message_id(&self, _: Option<&str>) {}

    pub(crate) fn delivery_count(&self, _: u64) {}

    pub(crate) fn token(&self, _: Option<&str>) {}

    pub(crate) fn lease<'a>(&self, _: impl ExactSizeIterator<Item = &'a Lease>) {}

    pub(crate) fn outcome(&self, _: &str) {}

    pub(crate) fn outcomes<'a>(
        &self,
        _: impl IntoIterator<Item = Result<&'static str, &'a Error>>,
    ) {
    }
}

pub(crate) fn within_current<F: Future>(work: F) -> impl Future<Output = F::Output> {
    work
}
