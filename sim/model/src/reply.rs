//! What a command answers, and its bytes on a connection.

use std::borrow::Cow;

use crate::shape::Protocol;

/// A reply of the server.
///
/// Some kinds come only to a client that has chosen RESP3 with `HELLO 3`, or from a script that
/// makes them; the last two only to one that subscribes or uses `CLIENT REPLY`.
///
/// Texts are bytes: scripts and quoted arguments put into them what they like.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// The missing value, `$-1`.
    Nil,
    /// The missing list, `*-1`: only the counted pops of a missing key answer it.
    NilArray,
    /// An integer, `:n`.
    Integer(i64),
    /// A status, `+text`.
    Status(Vec<u8>),
    /// A string of any bytes, `$n`.
    Bulk(Vec<u8>),
    /// A list, `*n`.
    Array(Vec<Reply>),
    /// An error: the whole line without the leading `-`, code first.
    Error(Vec<u8>),
    /// Keys and values, `%n`.
    Map(Vec<(Reply, Reply)>),
    /// A set, `~n`.
    Set(Vec<Reply>),
    /// A double by its text, `,text`.
    Double(String),
    /// `#t` or `#f`.
    Boolean(bool),
    /// An integer of any length by its digits, `(digits`.
    BigNumber(Vec<u8>),
    /// A text for people, `=n`.
    Verbatim {
        /// The name of its format: `txt`, or what a script says.
        format: [u8; 3],
        /// The text.
        text: Vec<u8>,
    },
    /// A message that is not the answer of a command, `>n`, or an array to a client of RESP2.
    Push(Vec<Reply>),
    /// Several replies one after the other, or none. In an array they count as one, as in Redis,
    /// which says at the start of `EXEC` how many commands it will answer.
    Series(Vec<Reply>),
}

impl Reply {
    pub(crate) fn ok() -> Self {
        Reply::Status(b"OK".to_vec())
    }

    pub(crate) fn bulk(bytes: impl Into<Vec<u8>>) -> Self {
        Reply::Bulk(bytes.into())
    }

    pub(crate) fn bulk_or_nil(bytes: Option<Vec<u8>>) -> Self {
        bytes.map_or(Reply::Nil, Reply::Bulk)
    }

    /// All of these, one after the other.
    pub(crate) fn series(mut replies: Vec<Reply>) -> Self {
        match replies.len() {
            1 => replies.remove(0),
            _ => Reply::Series(replies),
        }
    }

    /// A length or a count. No collection of this process reaches 2^63.
    pub(crate) fn count(n: usize) -> Self {
        Reply::Integer(n as i64)
    }

    pub(crate) fn bulks<T: Into<Vec<u8>>>(items: impl IntoIterator<Item = T>) -> Self {
        Reply::Array(items.into_iter().map(Reply::bulk).collect())
    }

    /// The text of an error reply, to be read: what is not UTF-8 is replaced.
    pub fn error(&self) -> Option<Cow<'_, str>> {
        match self {
            Reply::Error(line) => Some(String::from_utf8_lossy(line)),
            _ => None,
        }
    }

    /// The reply as a server sends it to a client of RESP2.
    pub fn to_resp2(&self) -> Vec<u8> {
        self.to_bytes(Protocol::Resp2)
    }

    /// The reply as a server sends it.
    pub fn to_bytes(&self, protocol: Protocol) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out, protocol);
        out
    }

    fn write(&self, out: &mut Vec<u8>, protocol: Protocol) {
        let new = protocol == Protocol::Resp3;
        match self {
            Reply::Nil | Reply::NilArray if new => out.extend_from_slice(b"_\r\n"),
            Reply::Nil => out.extend_from_slice(b"$-1\r\n"),
            Reply::NilArray => out.extend_from_slice(b"*-1\r\n"),
            Reply::Integer(n) => line(out, b':', n.to_string().as_bytes()),
            Reply::Status(text) => line(out, b'+', text),
            Reply::Error(text) => line(out, b'-', text),
            Reply::Bulk(bytes) => bulk(out, bytes),
            Reply::Array(items) => list(out, b'*', items, protocol),
            Reply::Set(items) => list(out, if new { b'~' } else { b'*' }, items, protocol),
            Reply::Series(replies) => {
                for reply in replies {
                    reply.write(out, protocol);
                }
            }
            Reply::Push(items) => list(out, if new { b'>' } else { b'*' }, items, protocol),
            Reply::Map(pairs) => {
                let (kind, length) = if new {
                    (b'%', pairs.len())
                } else {
                    (b'*', 2 * pairs.len())
                };
                line(out, kind, length.to_string().as_bytes());
                for (key, value) in pairs {
                    key.write(out, protocol);
                    value.write(out, protocol);
                }
            }
            Reply::Double(text) if new => line(out, b',', text.as_bytes()),
            Reply::BigNumber(digits) if new => line(out, b'(', digits),
            Reply::Double(text) => bulk(out, text.as_bytes()),
            Reply::BigNumber(digits) => bulk(out, digits),
            Reply::Boolean(yes) if new => line(out, b'#', if *yes { b"t" } else { b"f" }),
            Reply::Boolean(yes) => line(out, b':', if *yes { b"1" } else { b"0" }),
            Reply::Verbatim { format, text } if new => {
                line(out, b'=', (text.len() + 4).to_string().as_bytes());
                out.extend_from_slice(format);
                out.push(b':');
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            Reply::Verbatim { text, .. } => bulk(out, text),
        }
    }
}

fn list(out: &mut Vec<u8>, kind: u8, items: &[Reply], protocol: Protocol) {
    line(out, kind, items.len().to_string().as_bytes());
    for item in items {
        item.write(out, protocol);
    }
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    line(out, b'$', bytes.len().to_string().as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
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
    use super::{Protocol, Reply};

    #[test]
    fn resp3_has_kinds_of_its_own() {
        let reply = Reply::Push(vec![
            Reply::Nil,
            Reply::NilArray,
            Reply::Map(vec![(Reply::bulk("a"), Reply::Double("1.5".to_owned()))]),
            Reply::Set(vec![Reply::Boolean(true)]),
            Reply::BigNumber(b"12".to_vec()),
            Reply::Verbatim {
                format: *b"txt",
                text: b"x".to_vec(),
            },
        ]);
        assert_eq!(
            String::from_utf8_lossy(&reply.to_bytes(Protocol::Resp3)),
            ">6\r\n_\r\n_\r\n%1\r\n$1\r\na\r\n,1.5\r\n~1\r\n#t\r\n(12\r\n=5\r\ntxt:x\r\n"
        );
        assert_eq!(
            String::from_utf8_lossy(&reply.to_resp2()),
            "*6\r\n$-1\r\n*-1\r\n*2\r\n$1\r\na\r\n$3\r\n1.5\r\n*1\r\n:1\r\n$2\r\n12\r\n$1\r\nx\r\n"
        );
    }

    #[test]
    fn every_kind_has_its_resp2_bytes() {
        let reply = Reply::Array(vec![
            Reply::Nil,
            Reply::NilArray,
            Reply::Integer(-3),
            Reply::ok(),
            Reply::bulk(&b"a\r\n"[..]),
            Reply::Array(vec![]),
            Reply::Error(b"ERR no".to_vec()),
        ]);
        assert_eq!(
            reply.to_resp2(),
            b"*7\r\n$-1\r\n*-1\r\n:-3\r\n+OK\r\n$3\r\na\r\n\r\n*0\r\n-ERR no\r\n"
        );
    }
}
