//! Reading requests from bytes as they come.
//!
//! A codec for RESP reads any value of the protocol. A request is less, an array of bulk strings,
//! and more, a line of words; and what is neither has to be answered in Redis' words. So this is
//! a reader of requests alone, which holds its place between two reads and makes room for nothing
//! that has not come.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use super::protocol_error::ProtocolError;
use crate::number;
use crate::words::words;

/// How long a line may be: an inline request, a count, a length.
const LINE_LIMIT: usize = 64 * 1024;

/// How long an argument may be: Redis' `proto-max-bulk-len`.
const ARGUMENT_LIMIT: i64 = 512 * 1024 * 1024;

/// What a client may send before it has given its password.
const STRANGERS_COUNT: i64 = 10;
const STRANGERS_LENGTH: i64 = 16 * 1024;

/// The requests of one connection.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// What has come and belongs to no finished request.
    buffer: BytesMut,
    /// How much of it has been read.
    position: usize,
    /// How many arguments of the current request are still to be read.
    missing: usize,
    /// Where those are that have been read.
    arguments: Vec<Range<usize>>,
    /// The length of the argument that is being read.
    length: Option<usize>,
}

impl Requests {
    /// Where to put what comes.
    pub(super) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// How much has come that belongs to no finished request.
    pub(super) fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// The next request if all of it has come, its command first. Never an empty one.
    pub(super) fn next(&mut self, stranger: bool) -> Result<Option<Vec<Bytes>>, ProtocolError> {
        loop {
            if self.missing == 0 {
                match self.buffer.first() {
                    None => return Ok(None),
                    Some(b'*') => {
                        if !self.read_count(stranger)? {
                            return Ok(None);
                        }
                    }
                    Some(_) => match self.read_line()? {
                        None => return Ok(None),
                        Some(words) if words.is_empty() => {}
                        words => return Ok(words),
                    },
                }
                continue;
            }
            while self.missing > 0 {
                if !self.read_argument(stranger)? {
                    return Ok(None);
                }
            }
            let request = self.buffer.split_to(self.position).freeze();
            self.position = 0;
            let words = self.arguments.drain(..);
            return Ok(Some(words.map(|range| request.slice(range)).collect()));
        }
    }

    /// A request in one line.
    fn read_line(&mut self) -> Result<Option<Vec<Bytes>>, ProtocolError> {
        let end = self
            .buffer
            .iter()
            .position(|byte| matches!(byte, b'\n' | 0));
        // A NUL hides what comes after it, the end of the line too.
        let Some(end) = end.filter(|end| self.buffer[*end] == b'\n') else {
            return match self.buffer.len() > LINE_LIMIT {
                true => Err(ProtocolError::InlineTooLong),
                false => Ok(None),
            };
        };
        let line = self.buffer.split_to(end + 1);
        let line = &line[..end];
        let words = words(line.strip_suffix(b"\r").unwrap_or(line))
            .ok_or(ProtocolError::UnbalancedQuotes)?;
        Ok(Some(words.into_iter().map(Bytes::from).collect()))
    }

    /// Reads how many arguments come. False if that has not come yet.
    fn read_count(&mut self, stranger: bool) -> Result<bool, ProtocolError> {
        let Some(line) = self.header(ProtocolError::CountTooLong)? else {
            return Ok(false);
        };
        let count = number::parse_integer(&self.buffer[line.start + 1..line.end])
            .filter(|count| *count <= i32::MAX.into())
            .ok_or(ProtocolError::Count)?;
        if stranger && count > STRANGERS_COUNT {
            return Err(ProtocolError::UnauthenticatedCount);
        }
        match usize::try_from(count) {
            Ok(count) if count > 0 => {
                self.missing = count;
                self.position = line.end + 2;
            }
            // Nothing is asked for.
            _ => drop(self.buffer.split_to(line.end + 2)),
        }
        Ok(true)
    }

    /// Reads an argument. False if it has not come yet.
    fn read_argument(&mut self, stranger: bool) -> Result<bool, ProtocolError> {
        let length = match self.length {
            Some(length) => length,
            None => {
                let Some(line) = self.header(ProtocolError::LengthTooLong)? else {
                    return Ok(false);
                };
                match self.buffer[line.start] {
                    b'$' => {}
                    b'\r' => return Err(ProtocolError::NotBulk(' ')),
                    other => return Err(ProtocolError::NotBulk(char::from(other))),
                }
                let length = number::parse_integer(&self.buffer[line.start + 1..line.end])
                    .filter(|length| (0..=ARGUMENT_LIMIT).contains(length))
                    .ok_or(ProtocolError::Length)?;
                if stranger && length > STRANGERS_LENGTH {
                    return Err(ProtocolError::UnauthenticatedLength);
                }
                self.position = line.end + 2;
                *self.length.insert(length as usize)
            }
        };
        // What ends the argument is passed over unseen, as in Redis.
        if self.buffer.len() < self.position + length + 2 {
            return Ok(false);
        }
        self.arguments.push(self.position..self.position + length);
        self.position += length + 2;
        self.length = None;
        self.missing -= 1;
        Ok(true)
    }

    /// The line at the current position, without its end, once that has come.
    fn header(&self, too_long: ProtocolError) -> Result<Option<Range<usize>>, ProtocolError> {
        let rest = &self.buffer[self.position..];
        match rest
            .iter()
            .take(LINE_LIMIT + 1)
            .position(|byte| *byte == b'\r')
        {
            None if rest.len() > LINE_LIMIT => Err(too_long),
            Some(end) if end + 2 <= rest.len() => Ok(Some(self.position..self.position + end)),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]], stranger: bool) -> (Vec<Vec<Vec<u8>>>, Option<ProtocolError>) {
        let (mut requests, mut found) = (Requests::default(), Vec::new());
        for chunk in chunks {
            requests.buffer().extend_from_slice(chunk);
            loop {
                match requests.next(stranger) {
                    Ok(Some(words)) => {
                        found.push(words.iter().map(|word| word.to_vec()).collect());
                    }
                    Ok(None) => break,
                    Err(error) => return (found, Some(error)),
                }
            }
        }
        (found, None)
    }

    #[test]
    fn requests_come_in_any_pieces() {
        let text = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n\r\nPING x\r\n*0\r\n*-1\r\n*1\r\n$0\r\n\r\n";
        let expected: Vec<Vec<Vec<u8>>> = vec![
            vec![b"GET".to_vec(), b"k".to_vec()],
            vec![b"PING".to_vec(), b"x".to_vec()],
            vec![vec![]],
        ];
        assert_eq!(read(&[text], false), (expected.clone(), None));
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(read(&bytes, false), (expected, None));
    }

    #[test]
    fn what_is_no_request_is_refused_as_redis_does() {
        let long = vec![b'1'; LINE_LIMIT + 100];
        let after = |start: &[u8]| [start, &long].concat();
        for (bytes, error) in [
            (b"*1\r\n:5\r\n".to_vec(), ProtocolError::NotBulk(':')),
            (b"*1\r\n\r\n".to_vec(), ProtocolError::NotBulk(' ')),
            (b"*x\r\n".to_vec(), ProtocolError::Count),
            (b"*\r\n".to_vec(), ProtocolError::Count),
            (b"*01\r\n".to_vec(), ProtocolError::Count),
            (b"*2147483648\r\n".to_vec(), ProtocolError::Count),
            (b"*1\r\n$x\r\n".to_vec(), ProtocolError::Length),
            (b"*1\r\n$-1\r\n".to_vec(), ProtocolError::Length),
            (b"*1\r\n$536870913\r\n".to_vec(), ProtocolError::Length),
            (b"set \"a\r\n".to_vec(), ProtocolError::UnbalancedQuotes),
            (long.clone(), ProtocolError::InlineTooLong),
            (after(b"*"), ProtocolError::CountTooLong),
            (after(b"*1\r\n$"), ProtocolError::LengthTooLong),
        ] {
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(20)]).into_owned();
            assert_eq!(read(&[&bytes], false), (vec![], Some(error)), "{shown}");
        }
        for half in [
            &b"*2147483647\r\n"[..],
            b"*1\r\n$536870912\r\n",
            b"*1\r\n$4\r\nPING",
            b"*1\n$4\n",
            b"PI\0NG\r\n",
        ] {
            assert_eq!(read(&[half], false), (vec![], None));
        }
    }

    #[test]
    fn strangers_may_send_little() {
        let error = |bytes: &[u8]| read(&[bytes], true).1;
        assert_eq!(error(b"*11\r\n"), Some(ProtocolError::UnauthenticatedCount));
        assert_eq!(error(b"*10\r\n$16384\r\n"), None);
        assert_eq!(
            error(b"*1\r\n$16385\r\n"),
            Some(ProtocolError::UnauthenticatedLength)
        );
    }
}
