//! The reply of every script call lost in turn, between the command and a real server: nobody
//! notices.

use leaseline_redis::testing::{Cut, Fault, FaultProxy, Rule};
use tokio::runtime::Runtime;

use crate::engines;
use crate::stage::{Finished, Stage, finish};

/// The most script calls of one command: by hash, with the text, and again.
const CALLS: u64 = 3;

/// A proxy in front of the stage's server.
pub(crate) struct Line<'a> {
    stage: &'a Stage,
    pub(crate) proxy: FaultProxy,
    /// Runs the proxy.
    _runtime: Runtime,
}

impl<'a> Line<'a> {
    pub(crate) fn new(stage: &'a Stage) -> Self {
        let runtime = Runtime::new().unwrap();
        let proxy = runtime.block_on(FaultProxy::start(stage.server.port()));
        Self {
            stage,
            proxy,
            _runtime: runtime,
        }
    }

    /// Runs a command that loses its `call`-th script reply.
    fn run(&self, call: u64, arguments: &[&str]) -> Finished {
        self.proxy.clear();
        let lost = Fault::LoseReply(Cut::Reset);
        self.proxy
            .inject(Rule::nth(call, lost).of(["EVALSHA", "EVAL"]));
        let mut command = self.stage.command(arguments);
        command.env("LEASELINE_REDIS", self.proxy.url());
        finish(command, b"").ok()
    }
}

engines! {
    fn nobody_notices(stage: Stage) {
        let line = Line::new(stage);
        for call in 1..=CALLS {
            // With a server that does not know the scripts, and with one that does.
            let _: () = stage.redis(&[b"FLUSHALL"]);
            let _: () = stage.redis(&[b"SCRIPT", b"FLUSH"]);
            let first = line.run(call, &["publish", "--json", "a"]);
            let second = line.run(call, &["publish", "--json", "--dedup-key", "k", "b"]);
            for published in [first, second] {
                assert_eq!(published.field("outcome"), ["published"], "{call}");
            }
            assert_eq!(stage.length("jobs::pending"), 2);

            let claimed = line.run(call, &["claim", "--max", "2", "--json"]);
            assert_eq!(claimed.field("payload"), ["a", "b"], "{call}");
            let granted: String = stage.redis(&[b"GET", b"jobs::processing:lease_token_counter"]);
            assert_eq!(granted, "2", "{call}");
            for (object, settle) in claimed.objects().iter().zip(["ack", "fail"]) {
                let lease = object.to_string();
                for command in ["renew", settle] {
                    let finished = line.run(call, &[command, "--json", "--lease", &lease]);
                    assert_eq!(finished.field("outcome"), ["done"], "{command} {call}");
                }
            }
            assert_eq!((stage.length("jobs::pending"), stage.length("jobs::processing")), (0, 0));

            let _: u8 = stage.redis(&[b"LPUSH", b"jobs::dlq", b"letter"]);
            let moved = line.run(call, &["redrive", "--json"]);
            assert_eq!(moved.objects()[0]["moved"], 1, "{call}");
            assert_eq!((stage.length("jobs::pending"), stage.length("jobs::dlq")), (1, 0));
            let worked = line.run(call, &["work", "--exec", "cat", "--until-empty"]);
            assert_eq!((worked.text(), worked.stderr.as_str()), ("letter", "acked 1, failed 0\n"));
        }
        assert!(line.proxy.fired() > 10);
    }
}
