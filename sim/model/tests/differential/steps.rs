//! What was done to both servers, to be done again and to be read.

use std::fmt;

/// Something done to both servers.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A call of a client.
    Call { client: usize, argv: Vec<Vec<u8>> },
    /// A call of the first client in a transaction of its own.
    Transaction { argv: Vec<Vec<u8>> },
    /// Time passes, enough for a time to live of a millisecond to end.
    Pause,
}

impl Step {
    pub(crate) fn call(client: usize, argv: &[&[u8]]) -> Self {
        let argv = argv.iter().map(|word| word.to_vec()).collect();
        Step::Call { client, argv }
    }

    pub(crate) fn transaction(argv: &[&[u8]]) -> Self {
        let argv = argv.iter().map(|word| word.to_vec()).collect();
        Step::Transaction { argv }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Pause => write!(formatter, "(pause)"),
            Step::Call { client, argv } => {
                if *client > 0 {
                    write!(formatter, "{client}")?;
                }
                write!(formatter, ">{}", Words(argv))
            }
            Step::Transaction { argv } => {
                write!(formatter, "> MULTI\n>{}\n> EXEC", Words(argv))
            }
        }
    }
}

/// A call as one may type it.
struct Words<'a>(&'a [Vec<u8>]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A script is found in its file, and a sequence can be repeated.
        const SHOWN: usize = 1000;
        for word in self.0 {
            let (word, more) = word.split_at(word.len().min(SHOWN));
            let plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"'\\".contains(byte);
            match word.iter().all(plain) && !word.is_empty() {
                true => write!(formatter, " {}", word.escape_ascii())?,
                false => write!(formatter, " \"{}\"", word.escape_ascii())?,
            }
            if !more.is_empty() {
                write!(formatter, "… ({} bytes more)", more.len())?;
            }
        }
        Ok(())
    }
}

/// How the servers differ.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) what: String,
    /// Whether it is only that the model lacks something.
    pub(crate) is_gap: bool,
}

/// How a sequence went.
pub(crate) type Played = Result<(), Difference>;

impl Difference {
    pub(crate) fn new(what: String) -> Self {
        Difference {
            what,
            is_gap: false,
        }
    }

    /// Two replies, or two contents of a key.
    pub(crate) fn between(what: &str, real: &[u8], model: &[u8]) -> Self {
        Difference::new(format!(
            "{what}\n   real: {}\n  model: {}",
            real.escape_ascii(),
            model.escape_ascii()
        ))
    }
}
