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

/// Replaces what stands between `://` and the last `@` of the same word, and passwords in
/// queries.
fn without_credentials(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, url) = rest.split_at(at + "://".len());
        safe.push_str(before);
        let end = url
            .find(|c: char| c.is_whitespace() || c == '\'' || c == '"')
            .unwrap_or(url.len());
        let (url, after) = url.split_at(end);
        let (credentials, address) = match url.rsplit_once('@') {
            Some((_, address)) => ("***@", address),
            None => ("", url),
        };
        safe.push_str(credentials);
        safe.push_str(&without_password(address));
        rest = after;
    }
    safe.push_str(rest);
    safe
}

fn without_password(address: &str) -> String {
    let Some((path, query)) = address.split_once('?') else {
        return address.into();
    };
    let query: Vec<&str> = query
        .split('&')
        .map(|field| match field.split_once('=') {
            Some((name @ ("pass" | "password"), _)) => {
                if name == "pass" {
                    "pass=***"
                } else {
                    "password=***"
                }
            }
            _ => field,
        })
        .collect();
    format!("{path}?{}", query.join("&"))
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
