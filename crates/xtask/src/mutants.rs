//! Mistakes in the scripts, run against the simulator. The work is in an example of its crate, built
//! with optimisation; this program stays small, because every build of the component builds it.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Runs the tool with what was asked.
pub(crate) fn run(root: &Path, arguments: impl Iterator<Item = String>) -> Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(root)
        .args(["run", "--quiet", "--locked", "--release"])
        .args(["--package", "leaseline-sim", "--example", "mutants", "--"])
        .args(arguments)
        .status()
        .context("cargo cannot be started")?;
    ensure!(
        status.success(),
        "the mutants were not all found; see above"
    );
    Ok(())
}
