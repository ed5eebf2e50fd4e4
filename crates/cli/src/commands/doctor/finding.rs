//! What the doctor says.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// As it should be.
    Ok,
    /// Good to know.
    Note,
    /// Messages can be lost, held up or delivered twice under circumstances that will come.
    Warning,
    /// The queue does not work, or loses messages in ordinary operation.
    Problem,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    pub(crate) verdict: Verdict,
    /// What was seen.
    pub(crate) found: String,
    /// What to do. None: nothing.
    pub(crate) advice: Option<&'static str>,
}

impl Finding {
    pub(crate) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            check,
            verdict: Verdict::Ok,
            found: found.into(),
            advice: None,
        }
    }

    pub(crate) fn new(
        check: &'static str,
        verdict: Verdict,
        found: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        Self {
            check,
            verdict,
            found: found.into(),
            advice: Some(advice),
        }
    }
}
