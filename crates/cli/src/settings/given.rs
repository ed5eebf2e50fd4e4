//! Where a setting comes from.

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Where a setting comes from; the later of two wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    File,
    Environment,
    CommandLine,
}

/// What the command line and the environment say.
pub(crate) struct Given<'a>(&'a ArgMatches);

impl<'a> Given<'a> {
    /// Of a whole parsed command line.
    pub(crate) fn new(matches: &'a ArgMatches) -> Self {
        // Options of every command are among those of each.
        Self(matches.subcommand().map_or(matches, |(_, matches)| matches))
    }

    /// Where the setting `name` of this command comes from. `None`: it is not set at all.
    pub(crate) fn source(&self, name: &str, is_in_file: bool) -> Option<Source> {
        match self.0.value_source(name) {
            Some(ValueSource::CommandLine) => Some(Source::CommandLine),
            Some(ValueSource::EnvVariable) => Some(Source::Environment),
            _ => is_in_file.then_some(Source::File),
        }
    }
}
