//! Which commands a connection cannot carry.
//!
//! All callers share one connection: a command that blocks stalls everybody's replies, one that
//! changes the connection's state changes it for everybody, and one that answers with any other
//! number of replies than one puts every later reply in the wrong place.

use leaseline_core::capability::RedisError;

/// Refuses an empty command and every command that would stall or change a shared connection.
pub(crate) fn check(argv: &[&[u8]]) -> Result<(), RedisError> {
    let (name, arguments) = parts(argv)?;
    let reason = match name.as_slice() {
        b"BLPOP" | b"BRPOP" | b"BLMOVE" | b"BRPOPLPUSH" | b"BLMPOP" | b"BZPOPMIN" | b"BZPOPMAX"
        | b"BZMPOP" | b"WAIT" | b"WAITAOF" => "it blocks the shared connection",
        b"XREAD" | b"XREADGROUP" if has_block_option(arguments) => {
            "with BLOCK it blocks the shared connection"
        }
        _ => return check_dedicated(argv),
    };
    Err(denied(&name, reason))
}

/// Refuses an empty command and every command that would change a connection; one that blocks may
/// pass.
pub(crate) fn check_dedicated(argv: &[&[u8]]) -> Result<(), RedisError> {
    let (name, arguments) = parts(argv)?;
    let reason = match name.as_slice() {
        b"SUBSCRIBE" | b"PSUBSCRIBE" | b"SSUBSCRIBE" | b"UNSUBSCRIBE" | b"PUNSUBSCRIBE"
        | b"SUNSUBSCRIBE" | b"MONITOR" | b"SYNC" | b"PSYNC" | b"REPLCONF" => {
            "it turns the shared connection into a stream"
        }
        b"MULTI" | b"EXEC" | b"DISCARD" | b"WATCH" | b"UNWATCH" => {
            "other callers' commands would join the transaction (use a script)"
        }
        b"SELECT" | b"AUTH" | b"HELLO" | b"RESET" | b"QUIT" | b"ASKING" | b"READONLY"
        | b"READWRITE" => "it changes the shared connection",
        b"CLIENT" if !is_harmless_client_command(arguments) => {
            "it changes or stalls shared connections"
        }
        b"SCRIPT"
            if arguments
                .first()
                .is_some_and(|word| word.eq_ignore_ascii_case(b"DEBUG")) =>
        {
            "DEBUG turns the shared connection into a debugger"
        }
        b"SHUTDOWN" => "it stops the server, and a success has no reply",
        _ => return Ok(()),
    };
    Err(denied(&name, reason))
}

/// The name in upper case, and the arguments.
fn parts<'a>(argv: &'a [&'a [u8]]) -> Result<(Vec<u8>, &'a [&'a [u8]]), RedisError> {
    match argv.split_first() {
        Some((name, arguments)) => Ok((name.to_ascii_uppercase(), arguments)),
        None => Err(RedisError::Denied("an empty command".into())),
    }
}

fn denied(name: &[u8], reason: &str) -> RedisError {
    let name = String::from_utf8_lossy(name);
    RedisError::Denied(format!("{name}: {reason}"))
}

/// An allow list, because each Redis release adds subcommands that change the connection.
fn is_harmless_client_command(arguments: &[&[u8]]) -> bool {
    arguments.first().is_some_and(|subcommand| {
        [&b"ID"[..], b"INFO", b"LIST", b"GETNAME", b"HELP"]
            .iter()
            .any(|harmless| subcommand.eq_ignore_ascii_case(harmless))
    })
}

/// Whether `BLOCK` stands among the options, which end at `STREAMS`. Groups, consumers and keys
/// may be called "block", so the words that take arguments are stepped over.
fn has_block_option(arguments: &[&[u8]]) -> bool {
    let mut rest = arguments;
    while let [word, after @ ..] = rest {
        let taken = match word.to_ascii_uppercase().as_slice() {
            b"BLOCK" => return true,
            b"STREAMS" => return false,
            b"GROUP" => 2,
            b"COUNT" => 1,
            _ => 0,
        };
        rest = after.get(taken..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(command: &str) -> bool {
        let argv: Vec<&[u8]> = command.split_whitespace().map(str::as_bytes).collect();
        check(&argv).is_ok()
    }

    #[test]
    fn refused() {
        let commands = "BLPOP k 0;blpop k 0;BRPOP k 0;BLMOVE a b LEFT LEFT 0;BRPOPLPUSH a b 0;\
            BLMPOP 0 1 k LEFT;BZPOPMIN k 0;BZPOPMAX k 0;BZMPOP 0 1 k MIN;WAIT 1 0;WAITAOF 1 0 0;\
            XREAD BLOCK 0 STREAMS s $;xread count 1 block 0 streams s $;\
            XREADGROUP GROUP g c BLOCK 0 STREAMS s >;XREADGROUP GROUP block c NOACK BLOCK 0;\
            SUBSCRIBE c;PSUBSCRIBE c;SSUBSCRIBE c;UNSUBSCRIBE;PUNSUBSCRIBE;SUNSUBSCRIBE;MONITOR;\
            MULTI;EXEC;DISCARD;WATCH k;UNWATCH;SELECT 1;AUTH p;HELLO 3;RESET;QUIT;CLIENT REPLY OFF;\
            client kill x;CLIENT;CLIENT PAUSE 1;CLIENT TRACKING ON;CLIENT SETNAME x;SYNC;\
            PSYNC ? -1;SCRIPT debug YES;SHUTDOWN NOSAVE";
        for command in commands.split(';') {
            assert!(!allowed(command), "{command}");
        }
        assert!(check(&[]).is_err());
    }

    #[test]
    fn a_connection_of_its_own_may_block_and_nothing_else() {
        let check = |command: &str| {
            let argv: Vec<&[u8]> = command.split_whitespace().map(str::as_bytes).collect();
            check_dedicated(&argv).is_ok()
        };
        for command in [
            "BLMOVE a b LEFT LEFT 0",
            "blpop k 0",
            "XREAD BLOCK 0 STREAMS s $",
            "GET k",
        ] {
            assert!(check(command), "{command}");
        }
        for command in [
            "SUBSCRIBE c",
            "MULTI",
            "SELECT 1",
            "CLIENT REPLY OFF",
            "SHUTDOWN",
            "",
        ] {
            assert!(!check(command), "{command}");
        }
    }

    #[test]
    fn allowed_ones_pass() {
        let commands = "GET k;EVALSHA x 0;EVAL x 0;LMOVE a b LEFT LEFT;XREAD STREAMS s 0;\
            XREAD COUNT 1 STREAMS block block 0 0;XREADGROUP GROUP block block STREAMS s >;\
            XREADGROUP GROUP STREAMS c COUNT 1 STREAMS s >;CLIENT ID;client list;SCRIPT;SCRIPT FLUSH;\
            CONFIG GET x;INFO;BLOCK;XREAD";
        for command in commands.split(';') {
            assert!(allowed(command), "{command}");
        }
    }
}
