//! Commands in the form that redis-rs sends.

use redis::{Cmd, Pipeline};

/// Commands that are sent in one go, and the number of their replies.
pub(crate) struct Batch {
    pub(crate) pipeline: Pipeline,
    pub(crate) count: usize,
}

impl Batch {
    pub(crate) fn of(commands: &[&[&[u8]]]) -> Self {
        let mut pipeline = Pipeline::with_capacity(commands.len());
        for argv in commands {
            pipeline.add_command(pack(argv));
        }
        Self {
            pipeline,
            count: commands.len(),
        }
    }

    /// Each command behind an `ASKING`, which holds for the next command alone. Redis has two
    /// replies for each then.
    pub(crate) fn asking(commands: &[&[&[u8]]]) -> Self {
        let mut pipeline = Pipeline::with_capacity(2 * commands.len());
        for argv in commands {
            pipeline.add_command(redis::cmd("ASKING"));
            pipeline.add_command(pack(argv));
        }
        Self {
            pipeline,
            count: 2 * commands.len(),
        }
    }
}

fn pack(argv: &[&[u8]]) -> Cmd {
    let size = argv.iter().map(|argument| argument.len()).sum();
    let mut command = Cmd::with_capacity(argv.len(), size);
    for argument in argv {
        command.arg(argument);
    }
    command
}
