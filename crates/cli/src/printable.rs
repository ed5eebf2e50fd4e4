//! Text that is safe to print: one line, no control characters, no secrets.

/// Text of unknown origin on one line: control characters, which could also drive a terminal, are
/// shown as escapes.
pub(crate) fn line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// A message for people: on one line, with the credentials of URLs cut out.
///
/// The libraries below print no credentials; this is for what a user put in a wrong place, such
/// as a URL where a command was expected.
pub(crate) fn message(text: &str) -> String {
    line(&without_credentials(text))
}

/// Cuts from the first `://` to the last `@`, and passwords in queries. Where an address ends is
/// not to be known: a password may have spaces, quotes and everything else.
fn without_credentials(text: &str) -> String {
    let Some(at) = text.find("://") else {
        return text.into();
    };
    let (before, address) = text.split_at(at + "://".len());
    let address = without_passwords(address);
    match address.rsplit_once('@') {
        Some((_, host)) => format!("{before}***@{host}"),
        None => format!("{before}{address}"),
    }
}

/// Replaces the passwords of a query, up to the next field.
fn without_passwords(address: &str) -> String {
    let Some((path, query)) = address.split_once('?') else {
        return address.into();
    };
    let field = |field: &str| match field.split_once('=') {
        Some((name @ ("pass" | "password" | "sentinel_password"), _)) => format!("{name}=***"),
        _ => field.into(),
    };
    let fields: Vec<String> = query.split('&').map(field).collect();
    format!("{path}?{}", fields.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(
            line("a\nb\u{1b}[31mc\u{7f}\u{9b}é"),
            "a\\nb\\u{1b}[31mc\\u{7f}\\u{9b}é"
        );
    }

    #[test]
    fn credentials_are_cut_out() {
        for (text, safe) in [
            ("redis://u:p@h:1/0 and more", "redis://***@h:1/0 and more"),
            ("'redis://:p@ss@h'", "'redis://***@h'"),
            ("redis://:a/b@h", "redis://***@h"),
            (
                "redis+unix:///s?db=1&pass=p&user=u",
                "redis+unix:///s?db=1&pass=***&user=u",
            ),
            ("a://b c://d:e@f", "a://***@f"),
            (
                "redis+sentinel://:p@h/s?sentinel_user=u&sentinel_password=p",
                "redis+sentinel://***@h/s?sentinel_user=u&sentinel_password=***",
            ),
            // A password may have any character, so nothing before the last @ is trusted.
            ("'redis://u:pa'ss word@h' is bad", "'redis://***@h' is bad"),
            ("a://u:p@h?pass=x y 'z", "a://***@h?pass=***"),
            ("a://h?password=x y&user=u v", "a://h?password=***&user=u v"),
            ("a@b c://d", "a@b c://d"),
            ("redis://h:1", "redis://h:1"),
            ("no address", "no address"),
        ] {
            assert_eq!(without_credentials(text), safe);
        }
    }
}
