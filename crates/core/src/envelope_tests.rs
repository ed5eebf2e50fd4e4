use super::*;

fn stored(json: &str) -> Vec<u8> {
    [PREFIX, json.as_bytes()].concat()
}

fn decoded(json: &str) -> Result<Envelope, Error> {
    decode(&stored(json), false)
}

/// Bytes recorded from redis-message-queue 8.3.0.
#[test]
fn written_bytes_equal_the_recorded_ones() {
    let cases: &[(&str, &str, &str)] = &[
        ("6e9dc55e1ea2435999e01d8b5df98b7e", "hello", r#""hello""#),
        ("91f2c249b9b943199c852803ceef2286", "", r#""""#),
        (
            "9a73f5c49f7b4e6ea419037e0c699177",
            "\u{1f600}",
            r#""\ud83d\ude00""#,
        ),
        (
            "f778a64f68f44be398ace08eb1488b2d",
            "\0\u{7f}\u{1e}",
            r#""\u0000\u007f\u001e""#,
        ),
        (
            "cbddc013c9a7479ba23199a469723958",
            "plain/é",
            r#""plain/\u00e9""#,
        ),
        (
            "81a4bae289fe4638bf8e4fc230b3e5bc",
            r#"{"a": {"c": 1e-07, "d": 1e+16}, "b": 1}"#,
            r#""{\"a\": {\"c\": 1e-07, \"d\": 1e+16}, \"b\": 1}""#,
        ),
        (
            "be1e3d11633e45b194f404dc3de55cd7",
            r#"{"id": "ord-1", "z": [1, 2.5, true, null], "\u00e9": "\u00fcn\u00ef/\"x\""}"#,
            r#""{\"id\": \"ord-1\", \"z\": [1, 2.5, true, null], \"\\u00e9\": \"\\u00fcn\\u00ef/\\\"x\\\"\"}""#,
        ),
        ("0", "\u{8}\u{c}\n\r\t\\", r#""\b\f\n\r\t\\""#),
        (
            "0",
            "\u{80}\u{ffff}\u{10000}",
            r#""\u0080\uffff\ud800\udc00""#,
        ),
    ];
    for (id, payload, written) in cases {
        let expected = stored(&alloc::format!(r#"{{"id":"{id}","payload":{written}}}"#));
        assert_eq!(
            encode(id, payload.as_bytes()).unwrap(),
            expected,
            "{payload:?}"
        );
        let back = decode(&expected, true).unwrap();
        assert_eq!(back.id.as_deref(), Some(*id));
        assert_eq!(back.payload, payload.as_bytes());
    }
}

#[test]
fn bytes_that_are_not_text_travel_as_hexadecimal() {
    let written = encode("a", b"\xff\x00raw").unwrap();
    assert_eq!(written, stored(r#"{"id":"a","payload_hex":"ff00726177"}"#));
    assert_eq!(decode(&written, true).unwrap().payload, b"\xff\x00raw");
}

#[test]
fn reading_accepts_any_spelling() {
    for json in [
        r#"{"payload":"p","id":"i"}"#,
        r#"  { "id" : "i" , "payload" : "p" }  "#,
        r#"{"id":"x","id":"i","payload":1,"payload":"p"}"#,
        r#"{"id":"i","payload":"\u0070"}"#,
        r#"{"id":"i","extra":{"deep":[1,1e999,{"a":null}]},"payload":"p"}"#,
    ] {
        let envelope = decoded(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(
            (envelope.id.as_deref(), &*envelope.payload),
            (Some("i"), b"p".as_slice()),
            "{json}"
        );
    }
    assert_eq!(
        decoded(r#"{"id":"","payload":""}"#).unwrap().id.as_deref(),
        Some("")
    );
}

#[test]
fn breaches_are_malformed() {
    for json in [
        "",
        "x",
        "[]",
        "null",
        r#"{"id":"i","payload":"p"} x"#,
        r#"{"id":"i"}"#,
        r#"{"payload":"p"}"#,
        r#"{"id":1,"payload":"p"}"#,
        r#"{"id":"i","payload":null}"#,
        r#"{"id":"i","payload":{"a":[1,{}]}}"#,
        r#"{"id":"i","payload":["p"]}"#,
        r#"{"id":"i","payload":"p","payload":2.5}"#,
        r#"{"id":"i","payload":"\ud800"}"#,
        r#"{"id":"i","payload":"p","payload_hex":"70"}"#,
        r#"{"id":"i","payload_hex":"7"}"#,
        r#"{"id":"i","payload_hex":"zz"}"#,
    ] {
        let error = decoded(json).expect_err(json);
        assert_eq!(error.kind, ErrorKind::MalformedMessage, "{json}");
    }
    let error = decode(&[PREFIX, b"{\"id\":\"\xff\"}"].concat(), false).unwrap_err();
    assert_eq!(error.kind, ErrorKind::MalformedMessage);
}

#[test]
fn an_element_without_envelope_is_its_own_payload_unless_strict() {
    let raw = b"\x1eRMQ2:raw\xff";
    let envelope = decode(raw, false).unwrap();
    assert_eq!((envelope.id, &*envelope.payload), (None, raw.as_slice()));
    assert_eq!(
        decode(raw, true).unwrap_err().kind,
        ErrorKind::MalformedMessage
    );
}

#[test]
fn long_text_is_escaped_piece_by_piece() {
    for text in ["é", "\u{1f600}", "\"", "\\", "\u{1}", "a"] {
        for before in 0..4 {
            let long = alloc::format!("{}{}", "x".repeat(before), text.repeat(5_000));
            let written = encode("i", long.as_bytes()).unwrap();
            assert!(written.iter().all(|byte| (0x1e..=0x7e).contains(byte)));
            assert_eq!(decode(&written, true).unwrap().payload, long.as_bytes());
        }
    }
}

#[test]
fn what_no_host_could_take_in_one_reply_is_refused() {
    for (payload, fits) in [
        (alloc::vec![b'x'; MAX_STORED_BYTES - 100], true),
        (alloc::vec![b'x'; MAX_STORED_BYTES], false),
        (alloc::vec![0; MAX_STORED_BYTES / 6 - 100], true),
        (alloc::vec![0; MAX_STORED_BYTES / 6], false),
        (alloc::vec![0xff; MAX_STORED_BYTES / 2 - 100], true),
        (alloc::vec![0xff; MAX_STORED_BYTES / 2], false),
    ] {
        assert_eq!(
            encode("i", &payload).is_some(),
            fits,
            "{} of {}",
            payload.len(),
            payload[0]
        );
    }
}
