//! Leases in JSON: what `claim` prints and what `ack`, `fail` and `renew` take back.

use std::io::{self, BufRead, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use leaseline::message::Lease;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;

/// The longest line with a lease: enough for the base64 of the largest message.
const MAX_LINE_BYTES: usize = 32 << 20;

/// The leases of one call, in bytes of their lines. All are kept until the last one is read.
const MAX_INPUT_BYTES: usize = 512 << 20;

/// The JSON form of a lease.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeaseObject {
    queue: String,
    stored_base64: String,
    // Must be there, even as null: without it a cut lease would pass for one without token.
    #[serde(deserialize_with = "Option::deserialize")]
    token: Option<String>,
    #[serde(default)]
    deadline_ms: Option<u64>,
}

impl LeaseObject {
    pub(crate) fn new(queue: &str, lease: &Lease) -> Self {
        Self {
            queue: queue.into(),
            stored_base64: STANDARD.encode(&lease.stored),
            token: lease.token.clone(),
            deadline_ms: lease.deadline_ms,
        }
    }
}

/// Leases of one queue, in the order they were given.
pub(crate) struct LeaseBatch {
    /// The queue that they name.
    pub(crate) queue: String,
    pub(crate) leases: Vec<Lease>,
}

impl LeaseBatch {
    /// The leases of the argument, or of standard input for `-`. `None`: there are none.
    ///
    /// All are read before anything else happens, so that a mistake in the last one changes
    /// nothing.
    pub(crate) fn read(argument: &str, expected: Option<&str>) -> Result<Option<Self>, Failure> {
        let mut batch = None;
        if argument == "-" {
            let mut line = Vec::new();
            let mut input = io::stdin().lock();
            let mut number: u64 = 0;
            let mut total = 0;
            while input
                .by_ref()
                .take(MAX_LINE_BYTES as u64 + 1)
                .read_until(b'\n', &mut line)
                .map_err(|error| Failure::io(format!("cannot read standard input: {error}")))?
                > 0
            {
                number += 1;
                total += line.len();
                if line.len() > MAX_LINE_BYTES || total > MAX_INPUT_BYTES {
                    return Err(Failure::usage(format!(
                        "line {number} of standard input is longer than any lease, or there are too many leases; give fewer at once, as `claim --json` printed them"
                    )));
                }
                if !line.trim_ascii().is_empty() {
                    add(
                        &mut batch,
                        &line,
                        expected,
                        &format!("the lease on line {number}"),
                    )?;
                }
                line.clear();
            }
        } else {
            add(&mut batch, argument.as_bytes(), expected, "the lease")?;
        }
        Ok(batch)
    }
}

fn add(
    batch: &mut Option<LeaseBatch>,
    json: &[u8],
    expected: Option<&str>,
    what: &str,
) -> Result<(), Failure> {
    let (queue, lease) = parse(json).map_err(|reason| {
        Failure::usage(format!(
            "{what} is not valid: {reason}; give it as `claim --json` printed it"
        ))
    })?;
    if let Some(expected) = expected
        && expected != queue
    {
        return Err(Failure::usage(format!(
            "{what} is of the queue '{queue}' and not of '{expected}'; correct --queue or LEASELINE_QUEUE, or leave them out"
        )));
    }
    let batch = batch.get_or_insert_with(|| LeaseBatch {
        queue: queue.clone(),
        leases: Vec::new(),
    });
    if batch.queue != queue {
        return Err(Failure::usage(format!(
            "{what} is of the queue '{queue}' and an earlier one of '{}'; settle one queue at a time",
            batch.queue
        )));
    }
    batch.leases.push(lease);
    Ok(())
}

/// Reads a lease object, or the `lease` of a whole line of `claim`.
fn parse(json: &[u8]) -> Result<(String, Lease), String> {
    let mut value: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let lease = match value.get_mut("lease") {
        Some(lease) => lease.take(),
        None => value,
    };
    if !lease.is_object() {
        return Err("it is not a JSON object".into());
    }
    let object: LeaseObject = serde_json::from_value(lease).map_err(|error| error.to_string())?;
    let stored = STANDARD
        .decode(&object.stored_base64)
        .map_err(|error| format!("stored_base64 is not base64: {error}"))?;
    if let Some(token) = &object.token
        && (token.is_empty() || token.len() > 20 || !token.bytes().all(|b| b.is_ascii_digit()))
    {
        return Err("its token is not a decimal number in text".into());
    }
    let lease = Lease {
        stored,
        token: object.token,
        deadline_ms: object.deadline_ms,
    };
    Ok((object.queue, lease))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease() -> Lease {
        Lease {
            stored: b"\x1eRMQ1:{\"id\":\"abc\",\"payload\":\"\"}".to_vec(),
            token: Some("18446744073709551615".into()),
            deadline_ms: Some(1),
        }
    }

    #[test]
    fn a_lease_goes_back_alone_and_in_a_whole_line() {
        let alone = serde_json::to_string(&LeaseObject::new("q", &lease())).unwrap();
        let whole = format!("{{\"payload\":\"\",\"lease\":{alone},\"new\":1}}");
        for json in [alone, whole] {
            let (queue, parsed) = parse(json.as_bytes()).unwrap();
            assert_eq!(queue, "q");
            assert_eq!(parsed, lease());
            assert_eq!(parsed.message_id().as_deref(), Some("abc"));
        }
    }

    #[test]
    fn malformed_leases_are_refused() {
        for json in [
            "",
            "null",
            "[]",
            "\"x\"",
            "{}",
            "{\"lease\":null}",
            "{\"lease\":{\"lease\":{}}}",
            r#"{"queue":"q","stored_base64":"eA=="}"#,
            r#"{"queue":"q","stored_base64":"eA==","token":1}"#,
            r#"{"queue":"q","stored_base64":"eA==","token":""}"#,
            r#"{"queue":"q","stored_base64":"eA==","token":"-1"}"#,
            r#"{"queue":"q","stored_base64":"eA==","token":"1:x"}"#,
            r#"{"queue":"q","stored_base64":"eA","token":"1"}"#,
            r#"{"queue":"q","stored_base64":"!","token":"1"}"#,
            r#"{"queue":"q","stored_base64":"eA==","token":"1","deadline_ms":-1}"#,
            r#"{"queue":"q","stored_base64":"eA==","token":"1"} x"#,
            r#"{"queue":1,"stored_base64":"eA==","token":"1"}"#,
        ] {
            assert!(parse(json.as_bytes()).is_err(), "{json}");
        }
    }
}
