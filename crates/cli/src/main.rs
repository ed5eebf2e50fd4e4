//! The `leaseline` command: publish, work on and look at queues.
//!
//! Results go to standard output, messages for people to standard error. With `--json` both are
//! one JSON object a line. The exit status is 0 for done, 1 for a failed operation, 2 for bad
//! usage or configuration, 3 when nothing was there.

mod arguments;
mod commands;
mod duration;
mod exec;
mod failure;
mod lease;
mod lines;
mod messages;
mod output;
mod payload;
mod printable;
mod progress;
mod settings;
mod signals;
mod status;
mod stdin_file;
mod target;
mod usage;
mod warnings;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::settings::Given;
use crate::status::Status;

fn main() -> ExitCode {
    let matches = match Arguments::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return usage::refuse(&error).into(),
    };
    let mut arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => return usage::refuse(&error).into(),
    };
    let messages = Messages::new(arguments.json);
    let mut output = Output::new(arguments.json);
    let finished = arguments
        .fill(&Given::new(&matches))
        .and_then(|()| start(arguments, &mut output, &messages));
    // Results come before the error, also where they share a pipe.
    let flushed = output.flush();
    let finished = finished.and_then(|status| flushed.map(|()| status));
    finished
        .unwrap_or_else(|failure| {
            messages.failure(&failure);
            failure.status()
        })
        .into()
}

fn start(
    arguments: Arguments,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::io(format!("the runtime does not start: {error}")))?;
    let finished = runtime.block_on(run(arguments, output, messages));
    // A look-up of a name cannot be cut short, and would hold up the end.
    runtime.shutdown_background();
    finished
}

async fn run(
    arguments: Arguments,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let target = arguments.target;
    match arguments.command {
        Command::Demo => commands::demo::run(&target, output, messages).await,
        Command::Publish(publish) => {
            commands::publish::run(&target, publish, output, messages).await
        }
        Command::Work(work) => commands::work::run(&target, work, output, messages).await,
        Command::Claim(claim) => commands::claim::run(&target, claim, output, messages).await,
        Command::Ack(ack) => commands::settle::ack(&target, ack, output, messages).await,
        Command::Fail(fail) => commands::settle::fail(&target, fail, output, messages).await,
        Command::Renew(renew) => commands::renew::run(&target, renew, output, messages).await,
        Command::Release(release) => {
            commands::release::run(&target, release, output, messages).await
        }
        Command::Stats => commands::stats::run(&target, output, messages).await,
        Command::Doctor => commands::doctor::run(&target, output, messages).await,
        Command::Peek(peek) => commands::peek::run(&target, peek, output, messages).await,
        Command::Purge(purge) => commands::purge::run(&target, purge, output, messages).await,
        Command::Redrive(redrive) => {
            commands::redrive::run(&target, redrive, output, messages).await
        }
        Command::Sim(sim) => commands::sim::run(&target, &sim, output, messages),
        Command::Serve(serve) => commands::serve::run(serve, output, messages).await,
    }
}
