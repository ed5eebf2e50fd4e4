//! Where a reply ends. A library would refuse what scripts can make a server say, such as a
//! verbatim string in a format that nobody knows.

/// The length of the first reply, once all of it is there.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let (mut end, mut wanted) = (0, 1_usize);
    while wanted > 0 {
        let rest = bytes.get(end..)?;
        let line = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let count = || {
            let text = str::from_utf8(&rest[1..line]).ok();
            // Nil has the length -1.
            text.and_then(|text| usize::try_from(text.parse::<i64>().ok()?).ok())
        };
        end += line + 2;
        wanted -= 1;
        match rest[0] {
            b'$' | b'=' => end += count().map_or(0, |length| length + 2),
            b'*' | b'~' | b'>' => wanted += count().unwrap_or(0),
            b'%' => wanted += 2 * count().unwrap_or(0),
            _ => {}
        }
    }
    (end <= bytes.len()).then_some(end)
}
