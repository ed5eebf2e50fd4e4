//! The patterns of `KEYS`, `SCAN MATCH` and `CONFIG GET`.

/// Whether all of `text` matches `pattern`: `*`, `?`, `[a-z]`, `[^ab]` and `\` to quote.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last star, and how much text it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p + 1, t));
            p += 1;
            continue;
        }
        if t == text.len() && p == pattern.len() {
            return true;
        }
        if t < text.len() && p < pattern.len() {
            let (matched, next) = one(pattern, p, text[t]);
            if matched {
                (p, t) = (next, t + 1);
                continue;
            }
        }
        match star {
            Some((after, taken)) if taken < text.len() => {
                star = Some((after, taken + 1));
                (p, t) = (after, taken + 1);
            }
            _ => return false,
        }
    }
}

/// Matches one byte against the element at `p`, and tells where the next element starts.
fn one(pattern: &[u8], p: usize, byte: u8) -> (bool, usize) {
    match pattern[p] {
        b'?' => (true, p + 1),
        b'[' => class(pattern, p + 1, byte),
        b'\\' if p + 1 < pattern.len() => (pattern[p + 1] == byte, p + 2),
        literal => (literal == byte, p + 1),
    }
}

fn class(pattern: &[u8], start: usize, byte: u8) -> (bool, usize) {
    let negated = pattern.get(start) == Some(&b'^');
    let mut p = start + usize::from(negated);
    let mut found = false;
    // A class that is not closed ends with the pattern, as in Redis.
    while p < pattern.len() && pattern[p] != b']' {
        if pattern[p] == b'\\' && p + 1 < pattern.len() {
            found |= pattern[p + 1] == byte;
            p += 2;
        } else if p + 2 < pattern.len() && pattern[p + 1] == b'-' {
            let (low, high) = (
                pattern[p].min(pattern[p + 2]),
                pattern[p].max(pattern[p + 2]),
            );
            found |= (low..=high).contains(&byte);
            p += 3;
        } else {
            found |= pattern[p] == byte;
            p += 1;
        }
    }
    (found != negated, (p + 1).min(pattern.len()))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("*b*", "abc", true),
            ("h?llo", "hallo", true),
            ("h?llo", "hllo", false),
            ("h[ae]llo", "hello", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("h[c-a]llo", "hbllo", true),
            ("h\\*llo", "h*llo", true),
            ("h\\*llo", "hallo", false),
            ("[ab", "a", true),
            ("a*a*b", "aaaaaaaaaaaaaaaaaaaac", false),
        ] {
            let found = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(found, expected, "{pattern:?} {text:?}");
        }
    }
}
