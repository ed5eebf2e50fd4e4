//! Finding mistakes in a command before a message is claimed for it. A failed message is gone, so
//! a mistyped command must not get to fail a whole queue.

use std::ffi::OsStr;
use std::process::Stdio;

use tokio::process::Command;

use crate::failure::Failure;

/// Refuses a command that is blank, that the shell cannot parse, or whose first word names
/// nothing that could be run.
pub(super) async fn check(command: &OsStr) -> Result<(), Failure> {
    if command.as_encoded_bytes().trim_ascii().is_empty() {
        return Err(Failure::usage(
            "--exec names no command; give one such as 'cat >> FILE'",
        ));
    }
    check_syntax(command).await?;
    match first_word(command) {
        Some(word) => check_existence(word).await,
        None => Ok(()),
    }
}

async fn check_syntax(command: &OsStr) -> Result<(), Failure> {
    let checked = Command::new("sh")
        .arg("-n")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|error| {
            Failure::usage(format!(
                "--exec needs the shell sh, which cannot be run: {error}; install one or correct PATH"
            ))
        })?;
    if checked.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&checked.stderr);
    let said = said.lines().next().unwrap_or("syntax error");
    Err(Failure::usage(format!(
        "--exec is not a shell command: {said}; correct it"
    )))
}

/// Asks the shell, which knows its own words and the PATH.
async fn check_existence(word: &str) -> Result<(), Failure> {
    let found = Command::new("sh")
        // A path that is no executable file is found by some shells.
        .args([
            "-c",
            "command -v -- \"$1\" >/dev/null && case $1 in */*) test -f \"$1\" && test -x \"$1\";; esac",
            "sh",
            word,
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .await;
    match found {
        Ok(status) if status.success() => Ok(()),
        // An address or a login in the place of a command may hold a password.
        _ if word.contains(':') => Err(Failure::usage(
            "--exec cannot run: its first word looks like an address, which is no command; correct the command",
        )),
        _ => Err(Failure::usage(format!(
            "--exec cannot run: '{word}' is not found or not executable; correct the command or PATH"
        ))),
    }
}

/// The first word, if it is plainly the name of what is run: no quotes, variables, assignments,
/// patterns or function definitions.
fn first_word(command: &OsStr) -> Option<&str> {
    let command = command.to_str()?.trim_start();
    let end = command
        .find(|c: char| !(c.is_ascii_alphanumeric() || "_./+-:@%,".contains(c)))
        .unwrap_or(command.len());
    let (word, rest) = command.split_at(end);
    let separated = rest
        .chars()
        .next()
        .is_none_or(|c| c.is_ascii_whitespace() || ";|&<>".contains(c));
    let defined = rest.trim_start().starts_with('(');
    // 2>file: a number before a redirection is no command.
    let descriptor = word.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(['<', '>']);
    (!word.is_empty() && separated && !defined && !descriptor).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(command: &str) -> Option<&str> {
        first_word(OsStr::new(command))
    }

    #[test]
    fn the_first_word_is_taken_where_it_is_plain() {
        for (command, expected) in [
            ("cat >> f", "cat"),
            ("  ./run.sh -v", "./run.sh"),
            ("cat>f", "cat"),
            ("true;false", "true"),
            ("if true; then :; fi", "if"),
            ("python3.12 x", "python3.12"),
            (":", ":"),
            ("g++ x", "g++"),
        ] {
            assert_eq!(word(command), Some(expected), "{command}");
        }
    }

    #[test]
    fn other_commands_are_left_to_the_shell() {
        for command in [
            "\"$X\" y",
            "'a b'",
            "X=1 cat",
            "$X",
            "f() { :; }; f",
            "f () { :; }",
            "(cat)",
            "{ cat; }",
            "! cat",
            ">f cat",
            "2>f cat",
            "~/bin/x",
            "c\\at",
            "a*b",
            "",
        ] {
            assert_eq!(word(command), None, "{command}");
        }
    }

    #[tokio::test]
    async fn mistakes_are_found() {
        for command in [
            "",
            "  \n",
            "no-such-command-here",
            "no-such-command-here --flag | cat",
            "/no/such/file",
            "/",
            "/etc/passwd",
            "if true",
            "echo 'unclosed",
        ] {
            assert!(check(OsStr::new(command)).await.is_err(), "{command}");
        }
        for command in [
            "cat",
            "/bin/cat",
            "exit 3",
            ": > /dev/null",
            "if true; then false; fi",
            "while read -r line; do :; done",
            "{ cat; }",
            "X=1 no-such-command-here",
        ] {
            assert!(check(OsStr::new(command)).await.is_ok(), "{command}");
        }
    }
}
