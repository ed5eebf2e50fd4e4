//! A stream of the real server, read from `XINFO STREAM FULL`.

use std::collections::BTreeMap;

use leaseline_redis_model::{GroupContent, PendingContent, Reply, StreamContent};

/// The content of a stream, if that is what the reply tells.
pub(crate) fn content(full: Reply) -> Option<StreamContent> {
    let mut about = named(full)?;
    let mut entries = Vec::new();
    for entry in items(about.remove("entries")?)? {
        let mut parts = items(entry)?.into_iter();
        let id = text(parts.next()?)?;
        let fields = items(parts.next()?)?.into_iter().map(bulk);
        entries.push((id, fields.collect::<Option<_>>()?));
    }
    let groups = items(about.remove("groups")?)?.into_iter().map(group);
    Some(StreamContent {
        entries,
        last_id: text(about.remove("last-generated-id")?)?,
        max_deleted_id: text(about.remove("max-deleted-entry-id")?)?,
        entries_added: integer(about.remove("entries-added")?)?,
        groups: groups.collect::<Option<_>>()?,
    })
}

fn group(reply: Reply) -> Option<(Vec<u8>, GroupContent)> {
    let mut about = named(reply)?;
    let mut pending = Vec::new();
    for entry in items(about.remove("pending")?)? {
        let [id, consumer, _time, deliveries] = items(entry)?.try_into().ok()?;
        pending.push(PendingContent {
            id: text(id)?,
            consumer: bulk(consumer)?,
            deliveries: integer(deliveries)?,
        });
    }
    let consumers = items(about.remove("consumers")?)?.into_iter();
    let consumers = consumers.map(|consumer| bulk(named(consumer)?.remove("name")?));
    let content = GroupContent {
        last_delivered_id: text(about.remove("last-delivered-id")?)?,
        entries_read: integer(about.remove("entries-read")?),
        pending,
        consumers: consumers.collect::<Option<_>>()?,
    };
    Some((bulk(about.remove("name")?)?, content))
}

/// Names and values by turns.
fn named(reply: Reply) -> Option<BTreeMap<String, Reply>> {
    let items = items(reply)?;
    let (pairs, _) = items.as_chunks::<2>();
    let pairs = pairs.iter().cloned();
    pairs
        .map(|[name, value]| Some((text(name)?, value)))
        .collect()
}

fn items(reply: Reply) -> Option<Vec<Reply>> {
    match reply {
        Reply::Array(items) => Some(items),
        _ => None,
    }
}

fn bulk(reply: Reply) -> Option<Vec<u8>> {
    match reply {
        Reply::Bulk(bytes) => Some(bytes),
        _ => None,
    }
}

fn text(reply: Reply) -> Option<String> {
    String::from_utf8(bulk(reply)?).ok()
}

fn integer(reply: Reply) -> Option<i64> {
    match reply {
        Reply::Integer(number) => Some(number),
        _ => None,
    }
}
