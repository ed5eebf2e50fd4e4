//! `demo`: a tour of the queue that checks everything it shows.

mod checks;
mod lost_reply;
mod stage;
mod story;

use std::time::Instant;

use leaseline::Engine;
use serde_json::json;

use crate::commands::demo::checks::Checks;
use crate::commands::demo::stage::Stage;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::signals::Signals;
use crate::status::Status;
use crate::target::Target;

pub(crate) async fn run(
    target: &Target,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let started = Instant::now();
    let mut signals = Signals::catch()?;
    let engine = describe_engine(target)?;
    let stage = Stage::set(target).await?;
    if !output.is_json() {
        output.line(format_args!("{engine}"))?;
        output.line(format_args!("queue {} on {}", stage.name(), stage.place()))?;
        output.line("")?;
    }

    let mut checks = Checks::new(output);
    let told = tokio::select! {
        told = story::tell(&stage, &mut checks) => told,
        () = signals.next() => Err(Failure::io("interrupted")),
    };
    // The keys go whatever happened, also when nobody reads the output any more.
    let removed = stage.clear().await;
    if let Err(failure) = told {
        checks.that("the demo runs to its end", false)?;
        checks.print()?;
        return Err(failure);
    }
    checks.that("the demo's keys are removed", removed? == 0)?;

    let (held, failed) = checks.counts();
    checks.print()?;
    let seconds = started.elapsed().as_secs_f64();
    if output.is_json() {
        output.object(&json!({
            "held": held,
            "failed": failed,
            "engine": engine.name,
            "component_bytes": engine.component_bytes,
            "component_sources": engine.component_sources,
            "seconds": seconds,
        }))?;
    } else {
        output.line("")?;
        output.line(format_args!(
            "{held} of {} held in {seconds:.1} s; {engine}",
            held + failed
        ))?;
    }
    if failed == 0 {
        Ok(Status::Done)
    } else {
        messages.warning("not everything held; please report this with the output above");
        Ok(Status::Failed)
    }
}

/// What runs the queue logic.
struct EngineLine {
    name: &'static str,
    component_bytes: Option<usize>,
    component_sources: Option<String>,
}

impl std::fmt::Display for EngineLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "engine: {}", self.name)?;
        if let (Some(bytes), Some(digest)) = (self.component_bytes, &self.component_sources) {
            let short = digest.get(..16).unwrap_or(digest);
            write!(f, ", {bytes} bytes, source digest {short}")?;
        }
        Ok(())
    }
}

fn describe_engine(target: &Target) -> Result<EngineLine, Failure> {
    if target.engine() == Engine::Native {
        return Ok(EngineLine {
            name: "native",
            component_bytes: None,
            component_sources: None,
        });
    }
    let own = target.component()?;
    let bytes = own.as_deref().unwrap_or(leaseline_component::COMPONENT);
    Ok(EngineLine {
        name: "component",
        component_bytes: Some(bytes.len()),
        component_sources: leaseline_component::source_digest(bytes).map(Into::into),
    })
}
