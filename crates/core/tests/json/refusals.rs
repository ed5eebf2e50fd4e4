//! What cannot be published as JSON, and in which words it is refused.

use leaseline_core::envelope::MAX_STORED_BYTES;
use leaseline_core::json::{MAX_DEPTH, canonical};
use leaseline_core::{ErrorKind, Retry};

use crate::stored;

/// Refused as an argument, with these words.
#[track_caller]
fn refused(text: &str, words: &str) {
    let error = stored(text).expect_err(text);
    assert_eq!(
        (error.kind, error.retry),
        (ErrorKind::InvalidArgument, Retry::No)
    );
    assert!(error.message.contains(words), "{}", error.message);
}

#[test]
fn texts_that_are_not_json() {
    for text in [
        "",
        " ",
        "{",
        "{]",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        r#"{"a":[1,]}"#,
        r#"{"a":01}"#,
        r#"{"a":+1}"#,
        r#"{"a":.5}"#,
        r#"{"a":5.}"#,
        r#"{"a":1e}"#,
        r#"{"a":-}"#,
        r#"{"a":0x10}"#,
        r#"{"a":tru}"#,
        r#"{a:1}"#,
        "{'a':1}",
        r#"{"a":1} x"#,
        r#"{"a":1}{}"#,
        r#"{"a":"\x"}"#,
        r#"{"a":"\u12"}"#,
        "{\"a\":\"\n\"}",
        "\u{feff}{}",
        r#"{1:2}"#,
        "// comment\n{}",
    ] {
        refused(text, "the payload is not JSON");
    }
    refused("{\n\"a\": x}", "line 2 column 6");
}

#[test]
fn numbers_that_are_none() {
    for text in ["NaN", "Infinity", "-Infinity", "nan", "inf"] {
        refused(
            &format!(r#"{{"a":{text}}}"#),
            "NaN and Infinity are not JSON",
        );
    }
    for text in ["1e309", "-1e309", "1.7976931348623159e308", "1e99999999999"] {
        refused(
            &format!(r#"{{"a":[{text}]}}"#),
            "the number at message['a'][0] is beyond the largest double; publish it as a string",
        );
    }
}

#[test]
fn integers_that_python_would_not_read() {
    let digits = "9".repeat(4_300);
    for sign in ["", "-"] {
        let text = format!(r#"{{"a": {sign}{digits}}}"#);
        assert_eq!(stored(&text).as_deref(), Ok(&*text));
        refused(
            &format!(r#"{{"a":{sign}{digits}0}}"#),
            "the number at message['a'] has 4301 digits, of which Python reads 4300",
        );
    }
    // As a double it has no such limit.
    assert!(stored(&format!(r#"{{"a":0.{digits}{digits}}}"#)).is_ok());
}

#[test]
fn values_that_are_no_objects() {
    for text in [
        "null",
        "true",
        "1",
        "1.5",
        r#""text""#,
        "[]",
        r#"[{"a":1}]"#,
    ] {
        refused(
            text,
            "not an object; put it into one, or publish it as text",
        );
    }
}

#[test]
fn halves_of_surrogate_pairs() {
    for text in [
        r#"{"a":["\ud800"]}"#,
        r#"{"a":["\udfff"]}"#,
        r#"{"a":["\ud800x"]}"#,
        r#"{"a":["\ud800\ud800"]}"#,
        r#"{"a":["\udc00\ud800"]}"#,
        r#"{"a":["\ud800\n"]}"#,
    ] {
        refused(text, "message['a'][0] has half a surrogate pair");
    }
    refused(
        r#"{"a":{"\ud800":1}}"#,
        "key at message['a'] has half a surrogate pair",
    );
}

#[test]
fn what_is_too_deep() {
    let limited = |text: &str, limit| canonical(text, Some(limit)).map(drop);
    for (text, limit) in [
        ("{}", 1),
        (r#"{"a":1}"#, 1),
        (r#"{"a":{}}"#, 1),
        (r#"{"a":[]}"#, 1),
        (r#"{"a":[1]}"#, 2),
        (r#"{"a":{"b":{}}}"#, 2),
    ] {
        assert_eq!(limited(text, limit), Ok(()), "{text}");
    }
    for (text, limit, place) in [
        (
            r#"{"a":[1]}"#,
            1,
            "depth 2 at message['a'][0], and the limit is 1",
        ),
        (r#"{"a":{"b":null}}"#, 1, "depth 2 at message['a']['b']"),
        (
            r#"{"a":1,"b":[[],[2]]}"#,
            2,
            "depth 3 at message['b'][1][0]",
        ),
        (
            r#"{"a":{"b":{"c":1}}}"#,
            2,
            "depth 3 at message['a']['b']['c']",
        ),
    ] {
        let error = limited(text, limit).expect_err(text);
        assert_eq!(
            (error.kind, error.retry),
            (ErrorKind::PayloadTooDeep, Retry::No)
        );
        assert!(error.message.contains(place), "{}", error.message);
        assert!(
            error
                .message
                .contains("flatten it, or raise max_payload_depth")
        );
    }

    // With no limit there is still one, far below what would exhaust a stack.
    let nested = |depth: u32| {
        let depth = depth as usize;
        format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
    };
    assert!(canonical(&nested(MAX_DEPTH), None).is_ok());
    for depth in [MAX_DEPTH + 1, 1_000_000] {
        let error = canonical(&nested(depth), None).unwrap_err();
        assert_eq!(error.kind, ErrorKind::PayloadTooDeep);
    }
    // A common reader takes what is just deep enough.
    let deepest = canonical(&nested(MAX_DEPTH), None).unwrap();
    assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&deepest).is_ok());
}

#[test]
fn what_is_too_large() {
    let text = |length: usize| format!(r#"{{"a": "{}"}}"#, "x".repeat(length - 9));
    assert_eq!(
        canonical(&text(MAX_STORED_BYTES), None).map(|stored| stored.len()),
        Ok(MAX_STORED_BYTES)
    );
    // As it comes, and as it would be stored.
    let escaped = format!(r#"{{"a": "{}"}}"#, "é".repeat(MAX_STORED_BYTES / 5));
    let many = format!(r#"{{"a": [{}1]}}"#, "1e15,".repeat(MAX_STORED_BYTES / 10));
    for text in [text(MAX_STORED_BYTES + 1), escaped, many] {
        let error = canonical(&text, None).unwrap_err();
        assert_eq!(error.kind, ErrorKind::PayloadTooLarge);
        assert!(error.message.contains("publish a reference to it"));
    }
}

#[test]
fn a_place_with_a_strange_key_stays_readable() {
    let key = format!("'\\n{}", "é".repeat(100));
    let error = stored(&format!(r#"{{"{key}":1e999}}"#)).unwrap_err();
    let shown = format!("message['\\'\\n{}…']", "é".repeat(38));
    assert!(error.message.contains(&shown), "{}", error.message);
}
