//! Files with settings.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

/// A file with settings, which is gone when this is dropped.
pub(crate) struct Settings {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Settings {
    pub(crate) fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leaseline.toml");
        fs::write(&path, text).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    pub(crate) fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}
