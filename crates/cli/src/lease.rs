//! Leases in JSON: what `claim` prints and what `ack`, `fail`, `renew` and `release` take back.

use std::fmt::{self, Write};
use std::io::{self, BufRead, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use leaseline::message::Lease;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::lines::MAX_MESSAGE_BYTES;

/// What is read of standard input. All of it is kept until the last lease is read.
struct Limits {
    /// The longest line. A whole line of `claim` has the payload too, every byte of which may take
    /// six in JSON, and the lease in base64.
    line_bytes: usize,
    /// All lines together.
    bytes: usize,
    leases: usize,
}

const LIMITS: Limits = Limits {
    line_bytes: 8 * MAX_MESSAGE_BYTES,
    bytes: 512 << 20,
    leases: 1_000_000,
};

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

/// As JSON on one line, with escapes for every control character.
impl fmt::Display for LeaseObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        for character in json.chars() {
            match character {
                '\u{7f}'..='\u{9f}' => write!(f, "\\u{:04x}", u32::from(character))?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
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
        if argument == "-" {
            return read_lines(io::stdin().lock(), expected, &LIMITS);
        }
        let mut batch = None;
        add(&mut batch, argument.as_bytes(), expected, "the lease")?;
        Ok(batch)
    }
}

fn read_lines(
    mut input: impl BufRead,
    expected: Option<&str>,
    limits: &Limits,
) -> Result<Option<LeaseBatch>, Failure> {
    let mut batch = None;
    let mut line = Vec::new();
    let (mut bytes, mut leases) = (0, 0);
    for number in 1_u64.. {
        line.clear();
        let read = (&mut input)
            .take(limits.line_bytes as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::io(format!("cannot read standard input: {error}")))?;
        if read == 0 {
            break;
        }
        if read > limits.line_bytes {
            return Err(Failure::usage(format!(
                "line {number} of standard input is longer than any lease; give one lease a line, as `claim --json` printed it"
            )));
        }
        bytes += read;
        let blank = line.trim_ascii().is_empty();
        leases += usize::from(!blank);
        if bytes > limits.bytes || leases > limits.leases {
            return Err(Failure::usage(format!(
                "standard input has more than {} bytes or {} leases; give fewer at once",
                limits.bytes, limits.leases
            )));
        }
        if !blank {
            let what = format!("the lease on line {number}");
            add(&mut batch, &line, expected, &what)?;
        }
    }
    Ok(batch)
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
        not_after_ms: None,
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
            not_after_ms: None,
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
    fn only_so_much_is_read() {
        let line = format!("{}\n", LeaseObject::new("q", &lease()));
        let read = |lines: usize, limits| {
            let input = line.repeat(lines);
            read_lines(input.as_bytes(), None, &limits).map(|batch| batch.unwrap().leases.len())
        };
        let limits = |line_bytes, bytes, leases| Limits {
            line_bytes,
            bytes,
            leases,
        };
        let long = line.len();
        assert_eq!(read(3, limits(long, 3 * long, 3)).unwrap(), 3);
        for (limits, reason) in [
            (limits(long - 1, 3 * long, 3), "line 1 of"),
            (limits(long, 3 * long - 1, 3), "more than"),
            (limits(long, 3 * long, 2), "more than"),
        ] {
            let refused = read(3, limits).unwrap_err();
            assert_eq!(refused.status(), crate::status::Status::Usage);
            assert!(refused.to_string().contains(reason), "{refused}");
        }
    }

    #[test]
    fn control_characters_are_escaped_and_come_back() {
        let name = "a\u{7f}\u{9b}\u{1b}\"'é";
        let shown = LeaseObject::new(name, &lease()).to_string();
        assert!(!shown.chars().any(char::is_control));
        assert_eq!(parse(shown.as_bytes()).unwrap().0, name);
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
