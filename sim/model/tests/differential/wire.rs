//! A connection to a real server that keeps every difference between replies.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use leaseline_redis_model::Reply;

/// How long a reply may take. Only a server that hangs takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection, of either protocol.
pub(crate) struct Wire(BufReader<UnixStream>);

impl Wire {
    pub(crate) fn open(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Wire(BufReader::new(stream)))
    }

    pub(crate) fn execute(&mut self, argv: &[&[u8]]) -> Reply {
        self.send(argv);
        self.receive()
    }

    pub(crate) fn send(&mut self, argv: &[&[u8]]) {
        let mut bytes = format!("*{}\r\n", argv.len()).into_bytes();
        for word in argv {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        let sent = self.0.get_mut().write_all(&bytes);
        sent.expect("the real server listens");
    }

    pub(crate) fn receive(&mut self) -> Reply {
        self.read().expect("the real server answers")
    }

    /// A reply that has arrived already, or arrives soon.
    pub(crate) fn receive_within(&mut self, patience: Duration) -> Option<Reply> {
        self.wait_at_most(patience);
        let there = match self.0.fill_buf() {
            Ok(bytes) => !bytes.is_empty(),
            Err(error) => {
                let late = [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind());
                assert!(late, "the real server is gone: {error}");
                false
            }
        };
        self.wait_at_most(PATIENCE);
        there.then(|| self.receive())
    }

    fn wait_at_most(&mut self, patience: Duration) {
        let set = self.0.get_ref().set_read_timeout(Some(patience));
        set.expect("a timeout above zero");
    }

    fn read(&mut self) -> io::Result<Reply> {
        let line = self.line()?;
        let (kind, text) = line.split_at_checked(1).ok_or(ErrorKind::InvalidData)?;
        Ok(match kind {
            "+" => Reply::Status(text.to_owned()),
            "-" => Reply::Error(text.to_owned()),
            ":" => Reply::Integer(text.parse().map_err(io::Error::other)?),
            "_" => Reply::Nil,
            "," => Reply::Double(text.to_owned()),
            "#" => Reply::Boolean(text == "t"),
            "(" => Reply::BigNumber(text.to_owned()),
            "$" if text == "-1" => Reply::Nil,
            "*" if text == "-1" => Reply::NilArray,
            "$" => Reply::Bulk(self.bytes(text)?),
            "=" => {
                let text = String::from_utf8_lossy(&self.bytes(text)?).into_owned();
                Reply::Verbatim(text.trim_start_matches("txt:").to_owned())
            }
            "*" => Reply::Array(self.items(text)?),
            "~" => Reply::Set(self.items(text)?),
            ">" => Reply::Push(self.items(text)?),
            "%" => {
                let pairs = 0..length(text)?;
                let pairs = pairs.map(|_| Ok((self.read()?, self.read()?)));
                Reply::Map(pairs.collect::<io::Result<_>>()?)
            }
            _ => return Err(io::Error::other(format!("no kind of reply: {line:?}"))),
        })
    }

    fn items(&mut self, text: &str) -> io::Result<Vec<Reply>> {
        (0..length(text)?).map(|_| self.read()).collect()
    }

    fn bytes(&mut self, text: &str) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length(text)? + 2];
        self.0.read_exact(&mut bytes)?;
        bytes.truncate(bytes.len() - 2);
        Ok(bytes)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line)?;
        let line = line.strip_suffix(b"\r\n").ok_or(ErrorKind::UnexpectedEof)?;
        Ok(String::from_utf8_lossy(line).into_owned())
    }
}

fn length(text: &str) -> io::Result<usize> {
    text.parse().map_err(io::Error::other)
}
