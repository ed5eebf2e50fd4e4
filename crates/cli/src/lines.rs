//! The lines of a file or of standard input, as they arrive.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::thread;

use tokio::sync::mpsc;

/// More than the queue stores in one message, so reading further would be in vain.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// What is read at once. Lines that are there together are handed over together.
const BUFFER_BYTES: usize = 64 << 10;

/// Chunks that are read ahead.
const READ_AHEAD: usize = 2;

/// Lines of one chunk, without their LF.
pub(crate) type Chunk = Vec<Vec<u8>>;

/// Reads lines in a thread of its own: a read of a terminal or a pipe cannot be cut short, and
/// must hold up neither the messages before it nor the end of the process.
pub(crate) struct Lines {
    receiver: mpsc::Receiver<io::Result<Chunk>>,
}

impl Lines {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let source: Box<dyn Read + Send> = if path.as_os_str() == "-" {
            Box::new(io::stdin())
        } else {
            Box::new(open_file(path)?)
        };
        let (sender, receiver) = mpsc::channel(READ_AHEAD);
        thread::Builder::new()
            .name("lines".into())
            .spawn(move || read(source, &sender))?;
        Ok(Self { receiver })
    }

    /// The next lines, when there are any. `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<io::Result<Chunk>> {
        self.receiver.recv().await
    }

    /// The next lines, if they have been read already.
    pub(crate) fn next_ready(&mut self) -> Option<io::Result<Chunk>> {
        self.receiver.try_recv().ok()
    }
}

/// Opens a file for reading; a directory is refused now and not at the first read.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    Ok(file)
}

fn read(source: impl Read, sender: &mpsc::Sender<io::Result<Chunk>>) {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, source);
    let mut unfinished = Vec::new();
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let _ = sender.blocking_send(Err(error));
                return;
            }
        };
        let read = buffer.len();
        let mut chunk = split(buffer, &mut unfinished);
        reader.consume(read);
        if read == 0 && !unfinished.is_empty() {
            chunk.push(std::mem::take(&mut unfinished));
        }
        if unfinished.len() > MAX_MESSAGE_BYTES {
            let _ = sender.blocking_send(Err(io::ErrorKind::FileTooLarge.into()));
            return;
        }
        // An error means that nobody wants the rest.
        if !chunk.is_empty() && sender.blocking_send(Ok(chunk)).is_err() || read == 0 {
            return;
        }
    }
}

/// The lines that end in `buffer`. What follows the last LF is kept in `unfinished`.
fn split(buffer: &[u8], unfinished: &mut Vec<u8>) -> Chunk {
    let mut lines = Vec::new();
    for piece in buffer.split_inclusive(|&byte| byte == b'\n') {
        match piece.strip_suffix(b"\n") {
            Some(end) => {
                let mut line = std::mem::take(unfinished);
                line.extend_from_slice(end);
                lines.push(line);
            }
            None => unfinished.extend_from_slice(piece),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Chunk {
        let (sender, mut receiver) = mpsc::channel(1_000);
        read(input, &sender);
        let mut lines = Vec::new();
        while let Ok(chunk) = receiver.try_recv() {
            lines.extend(chunk.unwrap());
        }
        lines
    }

    #[test]
    fn a_line_ends_at_lf_and_the_last_one_needs_none() {
        let none: [&[u8]; 0] = [];
        assert_eq!(lines(b""), none);
        assert_eq!(lines(b"a"), [b"a"]);
        assert_eq!(lines(b"a\n"), [b"a"]);
        assert_eq!(lines(b"\n\n"), [b"", b""]);
        assert_eq!(lines(b"a\r\nb\r"), [b"a\r", b"b\r"]);
        assert_eq!(lines(b"\xff\0\n\nz"), [&b"\xff\0"[..], b"", b"z"]);
    }

    #[test]
    fn lines_longer_than_the_buffer_are_whole() {
        let long = vec![b'x'; 3 * BUFFER_BYTES + 1];
        let input = [&long[..], b"\n", &long, b"\ny"].concat();
        assert_eq!(lines(&input), [long.clone(), long, b"y".to_vec()]);
    }
}
