//! What this model has of Redis' commands, for people and for tests to read.

use crate::commands::{Command, table};

/// How much of a command the model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// All of it.
    Whole,
    /// All but this.
    Without(&'static str),
    /// Nothing: a call of it is refused, and remembered in
    /// [`Server::unsupported`](crate::Server::unsupported).
    Nothing,
}

/// A command of Redis 7.0 or 7.2, and how much of it the model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSupport {
    /// In lower case; a subcommand is `parent|name`.
    pub name: &'static str,
    /// The categories of Redis' access rules, such as `write,list,fast`.
    pub categories: &'static str,
    /// Whether 7.0 lacks it.
    pub is_newer: bool,
    /// How much of it the model has.
    pub support: Support,
}

/// Every command by name. A command that is nothing without its subcommands is not among them.
pub fn commands() -> impl Iterator<Item = CommandSupport> {
    let commands = table::all().into_values();
    commands
        .filter(|command| command.run.is_some() || !command.container)
        .map(CommandSupport::from)
}

impl From<&Command> for CommandSupport {
    fn from(command: &Command) -> Self {
        CommandSupport {
            name: command.name,
            categories: command.categories,
            is_newer: command.newer,
            support: match (command.run, command.missing) {
                (None, _) => Support::Nothing,
                (Some(_), None) => Support::Whole,
                (Some(_), Some(missing)) => Support::Without(missing),
            },
        }
    }
}
