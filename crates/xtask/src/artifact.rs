//! The built files, where `leaseline-component` looks for them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::section;

/// The component and the digest of its sources.
pub(crate) struct Artifact {
    directory: PathBuf,
}

impl Artifact {
    /// The artifact of the workspace at `root`.
    pub(crate) fn of(root: &Path) -> Self {
        Self {
            directory: root.join("crates/component/wasm"),
        }
    }

    /// The path of the component.
    pub(crate) fn wasm(&self) -> PathBuf {
        self.directory.join("leaseline.wasm")
    }

    fn digest(&self) -> PathBuf {
        self.directory.join("source.digest")
    }

    /// Whether both files are there and belong to sources with this digest.
    pub(crate) fn is_current(&self, digest: &str) -> bool {
        let recorded = fs::read_to_string(self.digest());
        let wasm = fs::read(self.wasm());
        recorded.is_ok_and(|recorded| recorded.trim() == digest)
            && wasm.is_ok_and(|wasm| {
                section::find(&wasm, section::SOURCE_SECTION) == Some(digest.as_bytes())
            })
    }

    /// Replaces both files. The digest comes last: after a crash in between, the pair does not
    /// match and is built again.
    pub(crate) fn write(&self, component: &[u8], digest: &str) -> Result<()> {
        fs::create_dir_all(&self.directory)
            .with_context(|| format!("cannot create {}", self.directory.display()))?;
        self.replace(&self.wasm(), component)?;
        self.replace(&self.digest(), format!("{digest}\n").as_bytes())
    }

    /// Writes beside the file and renames, so that nobody ever reads half of it.
    fn replace(&self, path: &Path, contents: &[u8]) -> Result<()> {
        // Not a `tempfile`: those are private to their owner, and packages keep the mode.
        let partial = self
            .directory
            .join(format!("partial.{}", std::process::id()));
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&partial)?;
            file.write_all(contents)?;
            file.sync_all()?;
            fs::rename(&partial, path)
        };
        write()
            .inspect_err(|_| drop(fs::remove_file(&partial)))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}
