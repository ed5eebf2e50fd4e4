//! The core's tests of the scripts, run on other scripts: they read the folder that `LEASELINE_LUA`
//! names.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use leaseline_sim::Scripts;

/// A run takes ten seconds; a mistake may make it endless.
const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) struct ScriptTests {
    executable: PathBuf,
    folder: PathBuf,
}

impl ScriptTests {
    /// Builds them.
    pub(crate) fn build(root: &Path) -> Result<Self, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .current_dir(root)
            .args(["test", "--quiet", "--locked", "--release", "--no-run"])
            .args(["--package", "leaseline-core", "--test", "scripts"])
            .arg("--message-format=json")
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cargo cannot be started: {error}"))?;
        let text = String::from_utf8_lossy(&built.stdout);
        let executable = text.lines().rev().find_map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(PathBuf::from(message.get("executable")?.as_str()?))
        });
        let folder = std::env::temp_dir().join(format!("leaseline-mutants-{}", std::process::id()));
        Ok(Self {
            executable: executable.ok_or("the tests of the scripts do not build")?,
            folder,
        })
    }

    /// Whether they notice: the name of the first test that fails.
    pub(crate) fn notice(
        &self,
        number: usize,
        scripts: &Scripts,
    ) -> Result<Option<String>, String> {
        let folder = self.folder.join(number.to_string());
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(failed)?;
        for name in scripts.names() {
            let source = scripts.source(name).unwrap_or_default();
            std::fs::write(folder.join(format!("{name}.lua")), source).map_err(failed)?;
        }
        let printed = folder.join("printed");
        let mut child = Command::new(&self.executable)
            .env("LEASELINE_LUA", &folder)
            .env("RUST_BACKTRACE", "0")
            .args(["--test-threads", "1"])
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&printed).map_err(failed)?)
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let began = Instant::now();
        let noticed = loop {
            match child.try_wait().map_err(failed)? {
                Some(status) if status.success() => break None,
                Some(_) => {
                    let printed = std::fs::read_to_string(&printed).unwrap_or_default();
                    let mut lines = printed.lines();
                    let name = lines
                        .find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
                    break Some(name.unwrap_or("a test that ended the process").to_owned());
                }
                None if began.elapsed() > PATIENCE => {
                    child.kill().and_then(|()| child.wait()).map_err(failed)?;
                    break Some("no end".into());
                }
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        std::fs::remove_dir_all(&folder).map_err(failed)?;
        Ok(noticed)
    }
}

impl Drop for ScriptTests {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
