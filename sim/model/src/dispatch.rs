//! What happens to a call before its command runs: the checks of Redis, in its order.

use crate::client::Transaction;
use crate::commands::table::Flags;
use crate::commands::{self, Command, Run, scripting};
use crate::condition::{BUSY, Condition, LOADING, MASTER_DOWN};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::script::Engine;
use crate::state::State;

/// Checks a call of the current client, and runs it or keeps it for `EXEC`.
pub(crate) fn call(engine: &mut Engine, state: &mut State, argv: &[&[u8]]) -> Answer {
    let command = commands::find(state.profile, argv);
    let checked = command.and_then(|command| {
        if !command.accepts(argv.len()) {
            return Err(Refusal::Arity(command.name.to_owned()));
        }
        let flags = scripting::flags(engine, command, argv);
        check(state, command, flags)?;
        Ok((command, flags))
    });
    let (command, flags) = match checked {
        Ok(checked) => checked,
        Err(refusal) => return Err(reject(state, argv, refusal)),
    };
    let client = state.clients.get_mut(state.client);
    client.last_command = command.name;
    if let Some(transaction) = &mut client.transaction
        && !ends_queueing(command)
    {
        // A gap of this model is found now, and not after half of a transaction.
        command.run()?;
        queue(transaction, flags, argv);
        return Ok(Reply::Status(b"QUEUED".to_vec()));
    }
    run(engine, state, command, argv)
}

/// Runs a call that has been checked.
pub(crate) fn run(
    engine: &mut Engine,
    state: &mut State,
    command: &Command,
    argv: &[&[u8]],
) -> Answer {
    match command.run()? {
        Run::Data(run) => run(state, argv),
        Run::Scripting(run) => run(engine, state, argv),
    }
}

/// The commands that are not kept for `EXEC` but mean the transaction itself.
fn ends_queueing(command: &Command) -> bool {
    ["exec", "discard", "multi", "watch", "quit", "reset"].contains(&command.name)
}

fn queue(transaction: &mut Transaction, flags: Flags, argv: &[&[u8]]) {
    transaction.writes |= flags.write;
    transaction.needs_memory |= flags.deny_oom;
    let call = argv.iter().map(|word| word.to_vec()).collect();
    transaction.calls.push(call);
}

/// A refused call spoils the transaction, and a refused `EXEC` ends it, if there is one.
fn reject(state: &mut State, argv: &[&[u8]], refusal: Refusal) -> Refusal {
    let client = state.clients.get_mut(state.client);
    if argv[0].eq_ignore_ascii_case(b"exec") {
        client.end_transaction();
        return Refusal::line(&[
            &"EXECABORT Transaction discarded because of: ",
            &refusal.without_code(),
        ]);
    }
    if let Some(transaction) = &mut client.transaction {
        transaction.failed = true;
    }
    refusal
}

fn check(state: &State, command: &Command, mut flags: Flags) -> Result<(), Refusal> {
    let client = state.clients.get(state.client);
    if !client.authenticated && !flags.no_auth {
        return Err(Refusal::Text("NOAUTH Authentication required."));
    }
    let in_transaction = client.transaction.is_some();
    if in_transaction && flags.no_multi {
        return Err(Refusal::Text(
            "ERR Command not allowed inside a transaction",
        ));
    }
    if state.conditions.none() && !client.only_listens() {
        return Ok(());
    }
    if let Some(transaction) = &client.transaction
        && command.name == "exec"
    {
        flags.write |= transaction.writes;
        flags.deny_oom |= transaction.needs_memory;
    }
    let conditions = &state.conditions;
    if conditions.holds(Condition::OutOfMemory)
        && (flags.deny_oom || in_transaction && !passes_when_full(command))
    {
        return Err(Refusal::OutOfMemory);
    }
    if flags.write || command.name == "ping" {
        conditions.refuse_snapshot()?;
    }
    if flags.write {
        conditions.refuse_write()?;
    }
    if client.only_listens() && !is_for_listeners(command) {
        return Err(Refusal::line(&[
            &"ERR Can't execute '",
            &command.name,
            &"': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this \
              context",
        ]));
    }
    for (condition, passes, text) in [
        (Condition::MasterLinkDown, flags.stale, MASTER_DOWN),
        (Condition::Loading, flags.loading, LOADING),
        (Condition::Busy, flags.allow_busy, BUSY),
    ] {
        if conditions.holds(condition) && !passes {
            return Err(Refusal::Text(text));
        }
    }
    Ok(())
}

/// In a transaction everything else is refused when memory is full, reads too.
fn passes_when_full(command: &Command) -> bool {
    ["exec", "discard", "quit", "reset"].contains(&command.name)
}

fn is_for_listeners(command: &Command) -> bool {
    [
        "ping",
        "subscribe",
        "ssubscribe",
        "psubscribe",
        "unsubscribe",
        "sunsubscribe",
        "punsubscribe",
        "quit",
        "reset",
    ]
    .contains(&command.name)
}
