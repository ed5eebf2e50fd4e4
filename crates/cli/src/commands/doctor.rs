//! `doctor`: look for what loses messages, holds them up or delivers them twice.
//!
//! It reads and writes nothing but what `PING` and `INFO` write.

mod finding;
mod keys;
mod server;
mod settings;

use leaseline::Error;

use self::finding::{Finding, Verdict};
use self::server::Server;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::status::Status;
use crate::target::Target;

pub(crate) async fn run(
    target: &Target,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    if target.is_embedded() {
        return Err(Failure::usage(
            "the doctor looks at a server; name one with --redis or LEASELINE_REDIS",
        ));
    }
    let queue = target.open(target.queue(), |_| (), messages).await?;
    let connection = target.connection().await?;
    let pending = queue.config().keys().pending;
    let server = Server::examine(&connection, &pending).await;
    let server = server.map_err(Error::from)?;
    let mut findings = settings::judge(&server);
    findings.extend(keys::judge(&connection, &queue).await?);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
    for finding in &findings {
        print(finding, output)?;
    }
    match findings.first().map(|finding| finding.verdict) {
        Some(Verdict::Problem) => Ok(Status::Failed),
        _ => Ok(Status::Done),
    }
}

fn print(finding: &Finding, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.object(finding);
    }
    output.line(format_args!(
        "{:<8} {}: {}",
        finding.verdict.name(),
        finding.check,
        crate::printable::line(&finding.found)
    ))?;
    match &finding.advice {
        Some(advice) => output.line(format_args!("         {advice}")),
        None => Ok(()),
    }
}
