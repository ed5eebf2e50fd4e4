//! The stored text of JSON payloads: recorded cases, what is refused, and the same as Python for
//! random documents.

mod documents;
mod python;
mod random;
mod refusals;

use leaseline_core::json::canonical;

/// The stored text.
fn stored(text: &str) -> Result<String, leaseline_core::Error> {
    let bytes = canonical(text, None)?;
    Ok(String::from_utf8(bytes).expect("it is text"))
}

#[test]
fn recorded_texts_become_what_python_made_of_them() {
    let mut lines = include_str!("recorded.txt")
        .split('\n')
        .skip_while(|line| line.starts_with('#'))
        .skip(1);
    let mut cases = 0;
    while let (Some(text), Some(expected), Some("")) = (lines.next(), lines.next(), lines.next()) {
        assert_eq!(stored(text).as_deref(), Ok(expected), "{text}");
        // It is its own stored text, so a consumer may publish it again.
        assert_eq!(stored(expected).as_deref(), Ok(expected));
        cases += 1;
    }
    assert!(cases > 80, "{cases}");
}
