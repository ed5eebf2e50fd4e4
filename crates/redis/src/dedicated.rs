//! A connection that is not shared, and so may block.

use std::fmt;

use leaseline_core::capability::{PipelineReply, Redis, Reply};

use crate::backend::Backend;
use crate::connector::Connector;
use crate::line::Line;
use crate::policy;

/// A connection of its own for commands that block, such as `BLMOVE`. Everything else that
/// [`Connection`](crate::Connection) refuses is refused here too.
///
/// It is dialled by its first call. Calls come one after the other. One without a reply, because
/// its deadline passed, the connection was lost or its caller went away, closes the connection,
/// and the next one dials; nothing waits behind a command that blocks.
///
/// On a cluster it leads to the node that owns the slot of the last call's keys, and moves with the
/// slot: the old owner ends a command that blocks with `MOVED`.
pub struct Dedicated {
    backend: Backend<Line>,
}

impl Dedicated {
    pub(crate) fn new(connector: Connector, name: &'static str) -> Self {
        let open = move |connector, endpoint| Line::new(connector, endpoint, name);
        Self {
            backend: Backend::new(connector, Box::new(open), 1),
        }
    }
}

impl Redis for Dedicated {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        policy::check_dedicated(argv)?;
        self.backend.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        commands
            .iter()
            .try_for_each(|argv| policy::check_dedicated(argv))?;
        self.backend.pipeline(commands, timeout_ms).await
    }
}

impl fmt::Debug for Dedicated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dedicated")
            .field(self.backend.connector())
            .finish()
    }
}
