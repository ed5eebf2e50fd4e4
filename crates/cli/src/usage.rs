//! Command lines that cannot be parsed.

use std::env;
use std::ffi::OsStr;

use clap::error::ErrorKind;

use crate::failure::Failure;
use crate::messages::Messages;
use crate::status::Status;

/// Prints what clap has to say: help as it is, an error on one line like every other error.
pub(crate) fn refuse(error: &clap::Error) -> Status {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Whoever closes the pipe has read enough.
            let _ = error.print();
            Status::Done
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !wants_json() => {
            let _ = error.print();
            Status::Usage
        }
        _ => {
            let failure = Failure::usage(one_line(&error.render().to_string()));
            Messages::new(wants_json()).failure(&failure);
            Status::Usage
        }
    }
}

/// Whether `--json` stands among the arguments, for errors that come before they are parsed.
fn wants_json() -> bool {
    env::args_os()
        .skip(1)
        .take_while(|argument| argument != OsStr::new("--"))
        .any(|argument| argument == OsStr::new("--json"))
}

/// The first paragraph and the tips of clap's message.
fn one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let (first, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut words: Vec<&str> = first.split_whitespace().collect();
    let tips: Vec<String> = rest
        .lines()
        .filter_map(|line| line.trim().strip_prefix("tip: "))
        .map(|tip| format!("; {tip}"))
        .collect();
    if words.is_empty() {
        words.push("the arguments are incomplete");
    }
    format!("{}{}; try --help", words.join(" "), tips.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_become_one_line() {
        let text = "error: the following arguments were not provided:\n  --exec <CMD>\n\n  tip: add it\n\nUsage: x\n\nFor more\n";
        assert_eq!(
            one_line(text),
            "the following arguments were not provided: --exec <CMD>; add it; try --help"
        );
        assert_eq!(one_line(""), "the arguments are incomplete; try --help");
    }
}
