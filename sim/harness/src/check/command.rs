//! The parts of a command: which script, about which message, under which token and marker.

use crate::view::queue_of;

/// A command by its parts.
#[derive(Debug)]
pub(crate) struct Command<'a> {
    pub(crate) argv: &'a [&'a [u8]],
    /// The script's name, or nothing.
    pub(crate) script: &'static str,
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) args: &'a [&'a [u8]],
    pub(crate) queue: Option<usize>,
    pub(crate) marker: Option<&'a [u8]>,
    pub(crate) stored: Option<&'a [u8]>,
    pub(crate) token: u64,
    /// The claim ids of a claim.
    pub(crate) ids: &'a [&'a [u8]],
    /// The deduplication key, where there is one.
    pub(crate) deduplication: Option<&'a [u8]>,
}

/// Where scripts have their marker, their message and their token: `lua/README.md`.
fn roles(script: &str) -> (Option<usize>, Option<usize>, Option<usize>) {
    match script {
        "add" => (Some(1), Some(0), None),
        "publish" => (Some(2), Some(1), None),
        "delay" => (Some(5), Some(0), None),
        "move" => (Some(4), Some(0), None),
        "remove" => (Some(3), Some(0), None),
        "move_lease" => (Some(8), Some(0), Some(2)),
        "remove_lease" => (Some(7), Some(0), Some(1)),
        "release" => (Some(8), Some(0), Some(1)),
        "redrive" | "purge" => (Some(2), None, None),
        "return" => (Some(4), Some(0), None),
        _ => (None, None, None),
    }
}

impl<'a> Command<'a> {
    pub(crate) fn new(script: &'static str, argv: &'a [&'a [u8]]) -> Self {
        let count = match argv {
            [_, _, count, ..] if !script.is_empty() => number(count) as usize,
            _ => 0,
        };
        let (keys, args): (&[&[u8]], &[&[u8]]) = match script {
            "" => (&[], &[]),
            _ => argv[3.min(argv.len())..].split_at(count.min(argv.len().saturating_sub(3))),
        };
        let (marker, stored, token) = roles(script);
        let first_key = keys.first().or_else(|| argv.get(1));
        Self {
            argv,
            script,
            keys,
            args,
            queue: first_key.and_then(|key| queue_of(key)),
            marker: marker.and_then(|at| keys.get(at).copied()),
            stored: stored.and_then(|at| args.get(at).copied()),
            token: token
                .and_then(|at| args.get(at))
                .map_or(0, |text| number(text)),
            ids: match script {
                "claim" => args.get(2..).unwrap_or_default(),
                "claim_lease" => args.get(4..).unwrap_or_default(),
                _ => &[],
            },
            deduplication: match script {
                "publish" => keys.first().copied(),
                "delay" => keys.get(6).copied(),
                _ => None,
            },
        }
    }

    /// The leases that a renewal names, stored message and token, in the order of its answers.
    pub(crate) fn renewals(&self) -> impl Iterator<Item = (&'a [u8], u64)> + use<'a> {
        let leases = match self.script {
            "renew" => self.args.get(1..).unwrap_or_default(),
            _ => &[],
        };
        leases
            .chunks_exact(3)
            .map(|lease| (lease[0], number(lease[1])))
    }

    pub(crate) fn is_claim(&self) -> bool {
        matches!(self.script, "claim" | "claim_lease")
    }
}

pub(super) fn number(text: &[u8]) -> u64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}
