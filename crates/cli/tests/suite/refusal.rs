//! Runs that must be refused.

use crate::stage::{finish, leaseline};

/// Is in the arguments of a run, and must not be in what it prints.
pub(crate) const SECRET: &str = "s3cret";

/// One line in either form, without the secret, and the message.
pub(crate) fn refused(arguments: &[&str], status: i32) -> String {
    let plain = finish(leaseline(arguments), b"").ends(status);
    let mut with_json = vec!["--json"];
    with_json.extend(arguments);
    let json = finish(leaseline(with_json), b"").ends(status);
    for finished in [&plain, &json] {
        assert!(!finished.stderr.contains(SECRET), "{finished:?}");
        assert_eq!(finished.text(), "");
    }
    let message = plain.error().to_owned();
    let object = json.error_object();
    assert_eq!(object["message"], message);
    assert!(object["kind"].is_string());
    assert!(["yes", "no", "unknown"].contains(&object["retry"].as_str().unwrap()));
    message
}
