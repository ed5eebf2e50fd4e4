//! `sim`: histories of a queue under simulated faults.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use leaseline_sim::{Case, Coverage, Engine, Mark, Runner, Scripts, case_of, failure, one_line};
use serde::Serialize;

use crate::arguments::Sim;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::progress;
use crate::status::Status;
use crate::target::Target;

/// Seeds that are run if nothing says how many.
const SEEDS: u64 = 1000;

/// How a campaign went.
#[derive(Serialize)]
struct Object<'a> {
    profile: &'a str,
    simulations: u64,
    seconds: f64,
    commands: u64,
    faults: u64,
    /// The states worth reaching that no simulation was in.
    never_reached: Vec<String>,
    /// The seed that failed, and its case made short, on one line.
    failed_seed: Option<u64>,
    failed_case: Option<String>,
    violation: Option<String>,
}

pub(crate) fn run(
    target: &Target,
    sim: &Sim,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let runner = runner(sim.lua.as_deref())?.on(engine(target)?);
    if let Some(path) = &sim.case {
        return replay(&runner, &read(path)?, output);
    }
    if let Some(seed) = sim.seed {
        return replay(&runner, &sim.profile.apply(case_of(seed)), output);
    }
    campaign(sim, &runner, output, messages)
}

/// Native unless the component is asked for: it takes several times as long, and shows the same.
fn engine(target: &Target) -> Result<Engine, Failure> {
    if target.named_engine() != Some(leaseline::Engine::Component) {
        return Ok(Engine::Native);
    }
    let engine = match target.component()? {
        None => Engine::bundled(),
        Some(bytes) => Engine::component(&bytes),
    };
    engine.map_err(|error| Failure::usage(error.to_string()))
}

fn runner(folder: Option<&Path>) -> Result<Runner, Failure> {
    let Some(folder) = folder else {
        return Ok(Runner::default());
    };
    let scripts = Scripts::from_folder(folder).map_err(|error| {
        Failure::usage(format!("--lua: {error}; give a folder with all scripts"))
    })?;
    let runner = Runner::new(scripts);
    runner.check().map_err(|violation| {
        Failure::usage(format!("--lua {}: {}", folder.display(), violation.message))
    })?;
    Ok(runner)
}

fn read(path: &Path) -> Result<Case, Failure> {
    let bad = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("--case {}: {error}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
    text.parse().map_err(|error| bad(&error))
}

/// Tells and draws one history.
fn replay(runner: &Runner, case: &Case, output: &mut Output) -> Result<Status, Failure> {
    let (outcome, lines) = runner.tell(case);
    let (_, drawing) = runner.timeline(case);
    if output.is_json() {
        output.object(&serde_json::json!({
            "case": one_line(case),
            "violation": outcome.as_ref().err().map(ToString::to_string),
        }))?;
    } else {
        for line in lines {
            output.line(line)?;
        }
        output.line(format_args!("\n{drawing}"))?;
        match &outcome {
            Ok(reached) => output.line(format_args!(
                "everything holds after {} commands",
                reached.commands
            ))?,
            Err(violation) => output.line(format_args!("does not hold: {violation}"))?,
        }
    }
    Ok(match outcome {
        Ok(_) => Status::Done,
        Err(_) => Status::Failed,
    })
}

fn campaign(
    sim: &Sim,
    runner: &Runner,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let seeds = match (sim.seeds, sim.minutes) {
        (Some(seeds), _) => seeds,
        (None, Some(_)) => u64::MAX,
        (None, None) => SEEDS,
    };
    let most = sim.minutes.map(|minutes| Duration::from_secs(60 * minutes));
    let bar = progress::line();
    let _messages = messages.around(bar.clone());
    let began = Instant::now();
    let (mut reached, mut runs, mut failed) = (Coverage::default(), 0, None);
    for seed in 0..seeds {
        if most.is_some_and(|most| began.elapsed() >= most) {
            break;
        }
        if seed % 64 == 0 {
            let rate = runs as f64 / began.elapsed().as_secs_f64().max(0.001);
            bar.set_message(match (most, seeds) {
                (Some(most), u64::MAX) => format!(
                    "{runs} simulations, {rate:.0}/s, {} of {} s",
                    began.elapsed().as_secs(),
                    most.as_secs()
                ),
                _ => format!("{runs} of {seeds} simulations, {rate:.0}/s"),
            });
        }
        let case = sim.profile.apply(case_of(seed));
        runs += 1;
        match runner.run(&case) {
            Ok(coverage) => reached.add(&coverage),
            Err(violation) => {
                bar.set_message(format!("seed {seed} failed; making it short"));
                failed = Some(failure(runner, seed, case, &violation));
                break;
            }
        }
    }
    bar.finish_and_clear();
    let seconds = began.elapsed().as_secs_f64();
    let missing = reached.marks.missing();
    let object = Object {
        profile: sim.profile.name,
        simulations: runs,
        seconds,
        commands: reached.commands,
        faults: reached.faults,
        never_reached: missing.iter().map(|mark| format!("{mark:?}")).collect(),
        failed_seed: failed.as_ref().map(|failed| failed.seed),
        failed_case: failed.as_ref().map(|failed| one_line(&failed.case)),
        violation: failed.as_ref().map(|failed| failed.violation.to_string()),
    };
    let mut text = String::new();
    if let Some(failed) = &failed {
        let (_, drawing) = runner.timeline(&failed.case);
        let _ = writeln!(
            text,
            "seed {seed}\n{}\n{drawing}\nwhole, as the seed gave it: leaseline sim --profile {} --seed {seed}\n",
            failed.story,
            sim.profile.name,
            seed = failed.seed,
        );
    }
    let _ = write!(
        text,
        "{runs} simulations in {seconds:.1} s, {:.0}/s; {} commands, {} faults of the network; \
         {} of {} states worth reaching were reached",
        runs as f64 / seconds.max(0.001),
        reached.commands,
        reached.faults,
        Mark::ALL.len() - missing.len(),
        Mark::ALL.len()
    );
    if !missing.is_empty() {
        let _ = write!(text, ", never: {}", object.never_reached.join(", "));
    }
    output.result(&object, text)?;
    Ok(match failed {
        Some(_) => Status::Failed,
        None => Status::Done,
    })
}
