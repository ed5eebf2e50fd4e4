//! What a publish stores.

use serde_json::json;

use crate::samples::{payloads, publish};
use crate::stage::Stage;

pub(crate) async fn envelopes_are_the_same_bytes(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;

    let payloads = payloads();
    let texts: Vec<&str> = payloads.iter().map(String::as_str).collect();
    let ids = publish(&ours, &texts).await;
    let stored = stage.list("pending").await;

    assert_eq!(stored.len(), texts.len());
    for ((id, text), stored) in ids.iter().zip(texts).zip(stored.iter().rev()) {
        assert!(is_id(id), "{id}");
        assert_eq!(
            String::from_utf8_lossy(stored),
            String::from_utf8_lossy(&theirs.envelope(id, text)),
        );
    }
    stage.check_leases(payloads.len(), 0).await;
}

/// 32 lowercase hexadecimal digits.
fn is_id(id: &str) -> bool {
    id.len() == 32
        && id
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
