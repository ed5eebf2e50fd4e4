//! What a command answers, and its bytes on a RESP2 connection.

/// A reply of the server.
///
/// Texts are `String`s because tests compare them with literals: bytes of a script's own error or
/// status text that are not UTF-8 are replaced. Bulk strings keep every byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The missing value, `$-1`.
    Nil,
    /// The missing list, `*-1`: only the counted pops of a missing key answer it.
    NilArray,
    /// An integer, `:n`.
    Integer(i64),
    /// A status, `+text`.
    Status(String),
    /// A string of any bytes, `$n`.
    Bulk(Vec<u8>),
    /// A list, `*n`.
    Array(Vec<Reply>),
    /// An error: the whole line without the leading `-`, code first.
    Error(String),
}

impl Reply {
    pub(crate) fn ok() -> Self {
        Reply::Status("OK".to_owned())
    }

    pub(crate) fn bulk(bytes: impl Into<Vec<u8>>) -> Self {
        Reply::Bulk(bytes.into())
    }

    pub(crate) fn bulk_or_nil(bytes: Option<Vec<u8>>) -> Self {
        bytes.map_or(Reply::Nil, Reply::Bulk)
    }

    /// A length or a count. No collection of this process reaches 2^63.
    pub(crate) fn count(n: usize) -> Self {
        Reply::Integer(n as i64)
    }

    pub(crate) fn bulks<T: Into<Vec<u8>>>(items: impl IntoIterator<Item = T>) -> Self {
        Reply::Array(items.into_iter().map(Reply::bulk).collect())
    }

    /// The text of an error reply.
    pub fn error(&self) -> Option<&str> {
        match self {
            Reply::Error(line) => Some(line),
            _ => None,
        }
    }

    /// The reply as a RESP2 server sends it.
    pub fn to_resp2(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_resp2(&mut out);
        out
    }

    fn write_resp2(&self, out: &mut Vec<u8>) {
        match self {
            Reply::Nil => out.extend_from_slice(b"$-1\r\n"),
            Reply::NilArray => out.extend_from_slice(b"*-1\r\n"),
            Reply::Integer(n) => line(out, b':', n.to_string().as_bytes()),
            Reply::Status(text) => line(out, b'+', text.as_bytes()),
            Reply::Error(text) => line(out, b'-', text.as_bytes()),
            Reply::Bulk(bytes) => {
                line(out, b'$', bytes.len().to_string().as_bytes());
                out.extend_from_slice(bytes);
                out.extend_from_slice(b"\r\n");
            }
            Reply::Array(items) => {
                line(out, b'*', items.len().to_string().as_bytes());
                for item in items {
                    item.write_resp2(out);
                }
            }
        }
    }
}

fn line(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

impl From<i64> for Reply {
    fn from(n: i64) -> Self {
        Reply::Integer(n)
    }
}

impl From<bool> for Reply {
    fn from(yes: bool) -> Self {
        Reply::Integer(i64::from(yes))
    }
}

#[cfg(test)]
mod tests {
    use super::Reply;

    #[test]
    fn every_kind_has_its_resp2_bytes() {
        let reply = Reply::Array(vec![
            Reply::Nil,
            Reply::NilArray,
            Reply::Integer(-3),
            Reply::ok(),
            Reply::bulk(&b"a\r\n"[..]),
            Reply::Array(vec![]),
            Reply::Error("ERR no".to_owned()),
        ]);
        assert_eq!(
            reply.to_resp2(),
            b"*7\r\n$-1\r\n*-1\r\n:-3\r\n+OK\r\n$3\r\na\r\n\r\n*0\r\n-ERR no\r\n"
        );
    }
}
