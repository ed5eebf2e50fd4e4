//! Commands in the form that redis-rs sends.

use redis::{Cmd, Pipeline};

pub(crate) fn pack(argv: &[&[u8]]) -> Cmd {
    let size = argv.iter().map(|argument| argument.len()).sum();
    let mut command = Cmd::with_capacity(argv.len(), size);
    for argument in argv {
        command.arg(argument);
    }
    command
}

pub(crate) fn pack_all(commands: &[&[&[u8]]]) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(commands.len());
    for argv in commands {
        pipeline.add_command(pack(argv));
    }
    pipeline
}
