//! `publish`: messages from arguments, files and lines.

mod publisher;
mod tally;

use std::io::{self, Read};
use std::path::Path;

use leaseline::{Error, ErrorKind};

use crate::arguments::Publish;
use crate::commands::publish::publisher::{Origin, Publisher};
use crate::duration::milliseconds;
use crate::failure::Failure;
use crate::lines::{Lines, MAX_MESSAGE_BYTES, open_file};
use crate::messages::Messages;
use crate::output::Output;
use crate::status::Status;
use crate::target::Target;

pub(crate) async fn run(
    target: &Target,
    publish: Publish,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    check(&publish)?;
    let mut lines = match &publish.lines {
        Some(path) => Some(Lines::open(path).map_err(|error| unreadable(path, &error))?),
        None => None,
    };
    let queue = target
        .open(
            target.queue(),
            |config| publish.publishing.apply(config),
            messages,
        )
        .await?;

    let mut publisher = Publisher::new(queue, output, publish.publishing.batch());
    if publish.json_payload {
        publisher.expect_json();
    }
    if let Some(key) = publish.dedup_key {
        publisher.deduplicate(key.into_encoded_bytes());
    }
    publisher.delay(milliseconds(publish.delay));
    let mut number = 0;
    for payload in publish.payloads {
        number += 1;
        publisher
            .push(payload.into_encoded_bytes(), Origin::Message(number))
            .await?;
    }
    for path in &publish.files {
        number += 1;
        let payload = read_file(path).map_err(|error| unreadable(path, &error))?;
        publisher.push(payload, Origin::Message(number)).await?;
    }
    if let Some(lines) = &mut lines {
        publisher.summarize();
        publish_lines(lines, &mut publisher)
            .await
            .map_err(|error| match error {
                LineError::Read(error) => {
                    let path = publish.lines.as_deref().unwrap_or(Path::new("-"));
                    unreadable(path, &error)
                }
                LineError::Publish(failure) => failure,
            })?;
    }
    publisher.finish().await?;
    Ok(Status::Done)
}

enum LineError {
    Read(io::Error),
    Publish(Failure),
}

/// Publishes lines as they arrive: in full batches while they come fast, at once when they do not.
async fn publish_lines(lines: &mut Lines, publisher: &mut Publisher<'_>) -> Result<(), LineError> {
    let mut number = 0;
    let mut ready = None;
    loop {
        let chunk = match ready.take() {
            Some(chunk) => Some(chunk),
            None => lines.next().await,
        };
        let chunk = match chunk {
            None => return Ok(()),
            Some(Ok(chunk)) => chunk,
            Some(Err(error)) => {
                // What came before the error is published, as it would have been line by line.
                publisher.flush().await.map_err(LineError::Publish)?;
                publisher.report().map_err(LineError::Publish)?;
                return Err(LineError::Read(error));
            }
        };
        for line in chunk {
            number += 1;
            publisher
                .push(line, Origin::Line(number))
                .await
                .map_err(LineError::Publish)?;
        }
        ready = lines.next_ready();
        if ready.is_none() {
            publisher.flush().await.map_err(LineError::Publish)?;
        }
    }
}

/// Refuses what can be refused before anything is sent.
fn check(publish: &Publish) -> Result<(), Failure> {
    let single = publish.payloads.len() + publish.files.len();
    if single == 0 && publish.lines.is_none() {
        return Err(Failure::usage(
            "there is nothing to publish; give a payload, --file FILE or --lines FILE",
        ));
    }
    if publish.payloads.iter().any(|payload| payload == "-") {
        return Err(Failure::usage(
            "the message '-' is only a dash; for standard input use --file -, which takes a dash too: printf - | leaseline publish --file -",
        ));
    }
    if publish.dedup_key.is_some() && (single != 1 || publish.lines.is_some()) {
        return Err(Failure::usage(
            "--dedup-key is for a single message; publish messages with different keys one by one",
        ));
    }
    if publish.dedup_key.is_some() && publish.publishing.drops_oldest() {
        return Err(Failure::usage(
            "drop-oldest would remove a message and keep its deduplication key; publish without a key, or use raise or block",
        ));
    }
    let standard_input = publish.files.iter().chain(&publish.lines);
    if standard_input
        .filter(|path| path.as_os_str() == "-")
        .count()
        > 1
    {
        return Err(Failure::usage(
            "standard input can be read only once; name - in one place",
        ));
    }
    for path in publish.files.iter().filter(|path| path.as_os_str() != "-") {
        let metadata = path.metadata().map_err(|error| unreadable(path, &error))?;
        // Opening a pipe only to close it would end whoever writes to it.
        if metadata.is_file() || metadata.is_dir() {
            open_file(path).map_err(|error| unreadable(path, &error))?;
        }
        if metadata.len() > MAX_MESSAGE_BYTES as u64 {
            return Err(unreadable(path, &io::ErrorKind::FileTooLarge.into()));
        }
    }
    Ok(())
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    let limit = MAX_MESSAGE_BYTES as u64 + 1;
    if path.as_os_str() == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut payload)?;
    } else {
        open_file(path)?.take(limit).read_to_end(&mut payload)?;
    }
    if payload.len() > MAX_MESSAGE_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(payload)
}

/// Why an input cannot be published.
fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = match path.as_os_str().as_encoded_bytes() {
        b"-" => "standard input".into(),
        _ => path.display().to_string(),
    };
    if error.kind() == io::ErrorKind::FileTooLarge {
        let reason = format!(
            "{name} has a message of more than {MAX_MESSAGE_BYTES} bytes; publish a reference to it"
        );
        return Error::new(ErrorKind::PayloadTooLarge, reason).into();
    }
    Failure::usage(format!("cannot read {name}: {error}; correct the file"))
}
