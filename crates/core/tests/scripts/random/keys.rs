//! The keys of a queue against its account.

use std::collections::{BTreeMap, BTreeSet};

use leaseline_redis_model::{Content, Entry};

use super::account::Account;
use crate::world::World;

type Dump = BTreeMap<Vec<u8>, Entry>;

/// The payload of a stored message; those of these games need no unescaping.
pub(crate) fn payload(stored: &[u8]) -> String {
    let text = String::from_utf8_lossy(stored).into_owned();
    match text.rsplit_once("\"payload\":\"") {
        Some((_, rest)) => rest.trim_end_matches("\"}").into(),
        None => text,
    }
}

fn content<'a>(dump: &'a Dump, key: &str) -> Option<&'a Content> {
    Some(&dump.get(key.as_bytes())?.content)
}

/// The elements of a list, which in pending and processing must be envelopes.
fn list(dump: &Dump, word: &str) -> Vec<String> {
    let key = format!("q::{word}");
    let Some(Content::List(items)) = content(dump, &key) else {
        assert!(!dump.contains_key(key.as_bytes()), "{key} is a list");
        return Vec::new();
    };
    let stored = ["pending", "processing"].contains(&word);
    for item in items {
        assert_eq!(item.starts_with(b"\x1eRMQ1:{"), stored, "{word}");
    }
    items.iter().map(|item| payload(item)).collect()
}

fn hash(dump: &Dump, word: &str) -> BTreeMap<String, String> {
    let Some(Content::Hash(fields)) = content(dump, &format!("q::processing:{word}")) else {
        return BTreeMap::new();
    };
    let text = |bytes: &[u8]| payload(bytes);
    fields
        .iter()
        .map(|(field, value)| (text(field), text(value)))
        .collect()
}

/// The deadline of each message.
fn deadlines(dump: &Dump) -> BTreeMap<String, f64> {
    match content(dump, "q::processing:lease_deadlines") {
        Some(Content::SortedSet(members)) => members
            .iter()
            .map(|(stored, score)| (payload(stored), *score))
            .collect(),
        _ => BTreeMap::new(),
    }
}

/// Compares every key with the account.
pub(crate) fn check(world: &World, account: &Account, context: &str) {
    let dump = world.model.lock().dump();
    for (word, expected) in [
        ("pending", &account.pending),
        ("processing", &account.processing),
        ("completed", &account.completed),
        ("failed", &account.failed),
        ("dlq", &account.dead),
    ] {
        assert_eq!(list(&dump, word), *expected, "{context}: {word}");
    }
    let found = [
        &account.pending,
        &account.processing,
        &account.completed,
        &account.failed,
        &account.dead,
    ];
    let messages: BTreeSet<&String> = found.into_iter().flatten().collect();
    assert_eq!(
        messages.len() + account.removed,
        account.published,
        "{context}: every message in one place"
    );
    if account.leases {
        check_leases(world, account, &dump, context);
    } else {
        check_claims(account, &dump, context);
    }
}

fn check_leases(world: &World, account: &Account, dump: &Dump, context: &str) {
    let tokens: BTreeMap<String, String> = account
        .held
        .iter()
        .map(|(payload, lease)| (payload.clone(), lease.token.clone().expect("a token")))
        .collect();
    assert_eq!(hash(dump, "lease_tokens"), tokens, "{context}: tokens");

    let now = world.model.lock().time_us() / 1000;
    let deadlines = deadlines(dump);
    assert!(deadlines.keys().eq(tokens.keys()), "{context}: deadlines");
    for (payload, deadline) in deadlines {
        let over = account.expired.contains(&payload);
        assert_eq!(deadline <= now as f64, over, "{context}: {payload}");
    }

    let counts: BTreeMap<String, String> = account
        .counts
        .iter()
        .map(|(payload, count)| (payload.clone(), count.to_string()))
        .collect();
    assert_eq!(hash(dump, "delivery_counts"), counts, "{context}: counts");

    let counter = match content(dump, "q::processing:lease_token_counter") {
        Some(Content::Text(text)) => String::from_utf8_lossy(text).parse().expect("a number"),
        _ => 0,
    };
    assert_eq!(counter, account.granted, "{context}: no token is skipped");

    let current: BTreeSet<&String> = tokens.values().collect();
    let (refs, backrefs) = (
        hash(dump, "claim_result_refs"),
        hash(dump, "claim_result_backrefs"),
    );
    assert!(refs.keys().eq(current.iter().copied()), "{context}: refs");
    assert!(backrefs.keys().eq(current), "{context}: backrefs");
    for key in refs.values() {
        assert!(content(dump, key).is_some(), "{context}: {key}");
    }
    check_ids(dump, &backrefs, context);
}

fn check_claims(account: &Account, dump: &Dump, context: &str) {
    for word in [
        "lease_tokens",
        "lease_deadlines",
        "lease_token_counter",
        "delivery_counts",
        "claim_result_refs",
    ] {
        let key = format!("q::processing:{word}");
        assert!(content(dump, &key).is_none(), "{context}: {key}");
    }
    let backrefs = hash(dump, "claim_result_backrefs");
    assert!(
        backrefs.keys().eq(account.held.keys()),
        "{context}: backrefs"
    );
    check_ids(dump, &backrefs, context);
}

/// Each claim that is out has its id, and no other is left.
fn check_ids(dump: &Dump, backrefs: &BTreeMap<String, String>, context: &str) {
    let ids: BTreeSet<&String> = backrefs.values().collect();
    let noted = hash(dump, "claim_result_ids");
    assert!(noted.keys().eq(ids), "{context}: claim ids");
}
