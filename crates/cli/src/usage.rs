//! Command lines that cannot be parsed.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::failure::Failure;
use crate::messages::Messages;
use crate::status::Status;

/// Prints what clap has to say: help as it is, an error on one line like every other error.
pub(crate) fn refuse(error: &clap::Error) -> Status {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => print(error, Status::Done),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !wants_json() => {
            print(error, Status::Usage)
        }
        _ => {
            let text = without_addresses(error.render().to_string(), env::args_os().skip(1));
            let mut text = one_line(&text);
            if let Some(variable) = variable(error) {
                text = format!("{text}; the value is that of {variable}");
            }
            let failure = Failure::usage(text);
            Messages::new(wants_json()).failure(&failure);
            Status::Usage
        }
    }
}

/// The environment variable that has the value which the error is about, if it is one.
fn variable(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    };
    let (argument, value) = (
        text(ContextKind::InvalidArg)?,
        text(ContextKind::InvalidValue)?,
    );
    // Names are those of `--visibility-timeout <SECONDS>`.
    let flag = argument.split([' ', '[']).next()?;
    let on_the_command_line = |given: OsString| {
        let given = given.to_string_lossy();
        given == flag || given.split_once('=').is_some_and(|(name, _)| name == flag)
    };
    if env::args_os().any(on_the_command_line) {
        return None;
    }
    let name = flag.strip_prefix("--")?.replace('-', "_").to_uppercase();
    let name = format!("LEASELINE_{name}");
    (env::var_os(&name)?.to_string_lossy() == value.as_str()).then_some(name)
}

/// Prints what is to be seen as it is. Whoever closes the pipe has read enough.
fn print(error: &clap::Error, status: Status) -> Status {
    match error.print() {
        Err(reason) if !error.use_stderr() && reason.kind() != io::ErrorKind::BrokenPipe => {
            let failure = Failure::output(&reason);
            Messages::new(wants_json()).failure(&failure);
            failure.status()
        }
        _ => status,
    }
}

/// Clap quotes the argument that it cannot use. One that looks like an address or a login may hold
/// a password, whatever characters that has, so it is not shown at all.
fn without_addresses(mut text: String, arguments: impl Iterator<Item = OsString>) -> String {
    for argument in arguments {
        let argument = argument.to_string_lossy();
        let value = argument.split_once('=').map_or("", |(_, value)| value);
        for shown in [value, &argument] {
            let login = shown
                .split_once(':')
                .is_some_and(|(_, rest)| rest.contains('@'));
            if shown.contains("://") || login {
                text = text.replace(shown, "***");
            }
        }
    }
    text
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
    fn addresses_are_not_shown() {
        for argument in [
            "redis://u:pa'sssecret@h",
            "--redi=redis://u:pa sssecret@h",
            "user:hunter2@host:6379",
        ] {
            let text = format!("unexpected argument '{argument}' found");
            let shown = without_addresses(text, std::iter::once(argument.into()));
            assert!(
                !shown.contains("secret") && !shown.contains("hunter2"),
                "{shown}"
            );
        }
    }

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
