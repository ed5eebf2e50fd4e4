//! The scripts that the server runs: the shipped ones, or others in their place.

use std::path::Path;
use std::sync::Arc;

use leaseline_core::script;
use sha1::{Digest, Sha1};

/// One of the scripts: what clients ask for, and what runs.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) name: &'static str,
    /// Its place among all.
    pub(crate) number: u32,
    /// What clients send with EVALSHA and EVAL.
    asked_sha: &'static str,
    asked_source: &'static str,
    /// What runs instead, if it differs, with its hash.
    pub(crate) instead: Option<(String, String)>,
}

/// The scripts of a run. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Scripts(Arc<Vec<Running>>);

impl Default for Scripts {
    fn default() -> Self {
        Self::shipped()
    }
}

impl Scripts {
    /// Those of `lua/`, byte for byte.
    pub fn shipped() -> Self {
        let running = |(number, script): (u32, &&'static script::Script)| Running {
            name: script.name,
            number,
            asked_sha: script.sha1,
            asked_source: script.source,
            instead: None,
        };
        Self(Arc::new((0..).zip(script::ALL).map(running).collect()))
    }

    /// The same with another text for one of them, by its name without `.lua`.
    ///
    /// # Errors
    ///
    /// If there is no script of that name.
    pub fn with(&self, name: &str, source: impl Into<String>) -> Result<Self, String> {
        let mut scripts = self.0.as_ref().clone();
        let found = scripts.iter_mut().find(|script| script.name == name);
        let source = source.into();
        let sha = hex::encode(Sha1::digest(source.as_bytes()));
        found
            .ok_or_else(|| format!("there is no script '{name}'"))?
            .instead = Some((sha, source));
        Ok(Self(Arc::new(scripts)))
    }

    /// The same with a part of one of them replaced, which must be there exactly once.
    ///
    /// # Errors
    ///
    /// If there is no such script, or the part is not there once.
    pub fn edited(&self, name: &str, part: &str, by: &str) -> Result<Self, String> {
        let source = self
            .source(name)
            .ok_or_else(|| format!("there is no script '{name}'"))?;
        match source.matches(part).count() {
            1 => self.with(name, source.replace(part, by)),
            count => Err(format!("'{part}' is {count} times in {name}.lua, not once")),
        }
    }

    /// Those of a folder: one file for each of our scripts, `NAME.lua`.
    ///
    /// # Errors
    ///
    /// If one is missing or cannot be read, with its path.
    pub fn from_folder(folder: &Path) -> Result<Self, String> {
        let mut scripts = Self::shipped();
        for name in Self::shipped().names() {
            let path = folder.join(format!("{name}.lua"));
            let source = std::fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            scripts = scripts.with(name, source)?;
        }
        Ok(scripts)
    }

    /// The text that runs for a script.
    pub fn source(&self, name: &str) -> Option<&str> {
        let script = self.0.iter().find(|script| script.name == name)?;
        let instead = script.instead.as_ref().map(|(_, source)| source.as_str());
        Some(instead.unwrap_or(script.asked_source))
    }

    /// The names of the scripts.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|script| script.name)
    }

    /// The script that a command asks for by hash.
    pub(crate) fn by_sha(&self, sha: &[u8]) -> Option<&Running> {
        self.0
            .iter()
            .find(|script| script.asked_sha.as_bytes() == sha)
    }

    /// The script that a command asks for with its text.
    pub(crate) fn by_source(&self, source: &[u8]) -> Option<&Running> {
        self.0
            .iter()
            .find(|script| script.asked_source.as_bytes() == source)
    }
}
