//! Calls and replies on a connection, byte for byte: a client library would hide what kind of nil
//! it was.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use leaseline_redis_model::Reply;

/// A connection to a server.
pub(crate) struct Wire(BufReader<UnixStream>);

impl Wire {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Wire(BufReader::new(stream))
    }

    /// Sends one call and waits for its reply.
    pub(crate) fn call(&mut self, argv: &[&[u8]]) -> io::Result<Reply> {
        self.send(argv)?;
        self.reply()
    }

    pub(crate) fn send(&mut self, argv: &[&[u8]]) -> io::Result<()> {
        let mut bytes = format!("*{}\r\n", argv.len()).into_bytes();
        for word in argv {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        self.0.get_mut().write_all(&bytes)
    }

    /// The next reply, if one has come.
    pub(crate) fn reply_if_any(&mut self) -> io::Result<Option<Reply>> {
        self.0.get_ref().set_nonblocking(true)?;
        let come = self.0.fill_buf().map(|bytes| bytes.len());
        self.0.get_ref().set_nonblocking(false)?;
        match come {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            come => {
                come?;
                self.reply().map(Some)
            }
        }
    }

    fn reply(&mut self) -> io::Result<Reply> {
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line)?;
        let (Some(kind), Some(text)) = (line.first(), line.get(1..line.len().saturating_sub(2)))
        else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let text = String::from_utf8_lossy(text).into_owned();
        Ok(match kind {
            b'+' => Reply::Status(text),
            b'-' => Reply::Error(text),
            b':' => Reply::Integer(number(&text)?),
            b'_' => Reply::Nil,
            b'#' => Reply::Boolean(text == "t"),
            b',' => Reply::Double(text),
            b'(' => Reply::BigNumber(text),
            b'$' if text == "-1" => Reply::Nil,
            b'$' => Reply::Bulk(self.bytes(&text)?),
            b'=' => {
                let bytes = self.bytes(&text)?;
                let text = String::from_utf8_lossy(&bytes);
                Reply::Verbatim(text.trim_start_matches("txt:").to_owned())
            }
            b'*' if text == "-1" => Reply::NilArray,
            b'*' => Reply::Array(self.items(&text)?),
            b'~' => Reply::Set(self.items(&text)?),
            b'>' => Reply::Push(self.items(&text)?),
            b'%' => {
                let pairs = 0..number(&text)?;
                let pairs = pairs.map(|_| Ok((self.reply()?, self.reply()?)));
                Reply::Map(pairs.collect::<io::Result<_>>()?)
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }

    fn items(&mut self, count: &str) -> io::Result<Vec<Reply>> {
        (0..number(count)?).map(|_| self.reply()).collect()
    }

    fn bytes(&mut self, length: &str) -> io::Result<Vec<u8>> {
        let length = usize::try_from(number(length)?).map_err(io::Error::other)?;
        let mut bytes = vec![0; length + 2];
        self.0.read_exact(&mut bytes)?;
        bytes.truncate(length);
        Ok(bytes)
    }
}

fn number(text: &str) -> io::Result<i64> {
    text.parse().map_err(io::Error::other)
}
