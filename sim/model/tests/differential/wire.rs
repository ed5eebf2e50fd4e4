//! A connection to a server that tells replies byte for byte: a client library would hide which
//! kind of nil it was.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use leaseline_redis_model::{Protocol, Reply};
use redis_protocol::resp2;
use redis_protocol::resp3::{decode::complete, types::OwnedFrame};

use crate::frame;

/// How long a reply may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to a server.
pub(crate) struct Wire {
    socket: UnixStream,
    /// What has come and was not asked for yet.
    received: Vec<u8>,
    pub(crate) protocol: Protocol,
}

impl Wire {
    pub(crate) fn new(socket: UnixStream) -> io::Result<Self> {
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Wire {
            socket,
            received: Vec::new(),
            protocol: Protocol::Resp2,
        })
    }

    /// Sends one call and waits for its reply.
    pub(crate) fn call(&mut self, argv: &[&[u8]]) -> io::Result<Vec<u8>> {
        self.send(argv)?;
        self.receive()
    }

    pub(crate) fn send(&mut self, argv: &[&[u8]]) -> io::Result<()> {
        let mut bytes = format!("*{}\r\n", argv.len()).into_bytes();
        for word in argv {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        self.socket.write_all(&bytes)
    }

    /// The next reply.
    pub(crate) fn receive(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(length) = frame::length(&self.received) {
                return Ok(self.received.drain(..length).collect());
            }
            self.read()?;
        }
    }

    /// What has come besides the replies that were asked for.
    pub(crate) fn unasked(&mut self) -> io::Result<&[u8]> {
        self.socket.set_nonblocking(true)?;
        let read = self.read();
        self.socket.set_nonblocking(false)?;
        match read {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(&self.received),
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; 64 * 1024];
        match self.socket.read(&mut bytes)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            length => {
                self.received.extend_from_slice(&bytes[..length]);
                Ok(())
            }
        }
    }
}

/// The reply that some bytes are, where one has to look into it. It is not all that the bytes
/// say: both kinds of nil are one.
pub(crate) fn reply(bytes: &[u8], protocol: Protocol) -> Option<Reply> {
    let frame = match protocol {
        Protocol::Resp2 => resp2::decode::decode(bytes).ok()??.0.into_resp3(),
        Protocol::Resp3 => complete::decode(bytes).ok()??.0,
    };
    from_frame(frame)
}

fn from_frame(frame: OwnedFrame) -> Option<Reply> {
    let list = |items: Vec<OwnedFrame>| {
        items
            .into_iter()
            .map(from_frame)
            .collect::<Option<Vec<_>>>()
    };
    Some(match frame {
        OwnedFrame::Null => Reply::Nil,
        OwnedFrame::Number { data, .. } => Reply::Integer(data),
        OwnedFrame::BlobString { data, .. } => Reply::Bulk(data),
        OwnedFrame::SimpleString { data, .. } => Reply::Status(data),
        OwnedFrame::SimpleError { data, .. } => Reply::Error(data.into_bytes()),
        OwnedFrame::Boolean { data, .. } => Reply::Boolean(data),
        OwnedFrame::Double { data, .. } => Reply::Double(data.to_string()),
        OwnedFrame::BigNumber { data, .. } => Reply::BigNumber(data),
        OwnedFrame::VerbatimString { data, .. } => Reply::Bulk(data),
        OwnedFrame::Array { data, .. } => Reply::Array(list(data)?),
        OwnedFrame::Push { data, .. } => Reply::Push(list(data)?),
        OwnedFrame::Set { data, .. } => Reply::Set(list(data.into_iter().collect())?),
        OwnedFrame::Map { data, .. } => {
            let pairs = data.into_iter();
            let pairs = pairs.map(|(key, value)| Some((from_frame(key)?, from_frame(value)?)));
            Reply::Map(pairs.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
