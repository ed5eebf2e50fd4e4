//! The model and a real server, to which the same things happen.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write as _};
use std::thread::sleep;
use std::time::Duration;

use leaseline_redis_model::{ClientId, Clock, Options, Profile, Protocol, Reply, Server};

use crate::keys;
use crate::real_server::RealServer;
use crate::steps::{Difference, Played, Step};
use crate::times;
use crate::wire::Wire;

/// How long [`Step::Pause`] takes.
const PAUSE: Duration = Duration::from_millis(15);

/// The databases whose keys are compared.
const DATABASES: usize = 2;

/// Both servers, and what was done to them since they were empty.
pub(crate) struct Pair {
    model: Server,
    real: RealServer,
    clients: Vec<Client>,
    steps: Vec<Step>,
}

/// A client of both servers.
struct Client {
    /// Its number with the model. The first client has none: it is the one that never waits.
    id: Option<ClientId>,
    wire: Wire,
}

impl Pair {
    /// Starts both, or reports that there is nothing to compare with.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let missing = match RealServer::start() {
            Ok(mut real) => {
                let version = real.version();
                if version.starts_with("7.0.") {
                    let model = Server::new(Options {
                        profile: Profile::Redis70,
                        clock: Clock::Wall,
                    });
                    return Some(Pair {
                        model,
                        real,
                        clients: Vec::new(),
                        steps: Vec::new(),
                    });
                }
                format!("redis-server is {version}, not 7.0")
            }
            Err(missing) => missing,
        };
        // Not through `eprintln`, which the test harness would swallow.
        let _ = writeln!(std::io::stderr(), "{test} DID NOT RUN: {missing}");
        None
    }

    /// Makes the model make a mistake from now on.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn plant(&mut self, fault: leaseline_redis_model::Fault) {
        self.model.plant(fault);
    }

    /// Empties both and lets all clients go.
    pub(crate) fn clear(&mut self) {
        self.clients.clear();
        self.steps.clear();
        self.model.reset(Clock::Wall);
        self.real.clear();
    }

    /// What was done since both were empty.
    pub(crate) fn take_steps(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    /// Does again what was done before.
    pub(crate) fn repeat(&mut self, step: &Step) -> Played {
        match step {
            Step::Pause => self.pause(),
            Step::Call { client, argv } => {
                let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
                self.call_as(*client, &argv)?;
            }
        }
        Ok(())
    }

    /// Lets times to live end.
    pub(crate) fn pause(&mut self) {
        self.steps.push(Step::Pause);
        sleep(PAUSE);
    }

    /// Makes a client change to the newer protocol.
    pub(crate) fn speak_resp3(&mut self, client: usize) -> Played {
        self.call_as(client, &[b"HELLO", b"3"])?;
        Ok(())
    }

    /// Runs a call of the first client, for which blocking commands do not wait.
    pub(crate) fn call(&mut self, argv: &[&[u8]]) -> Result<Reply, Difference> {
        let reply = self.call_as(0, argv)?;
        Ok(reply.expect("the first client never waits"))
    }

    /// Runs a call whose words are text.
    pub(crate) fn call_words(&mut self, words: &[String]) -> Result<Reply, Difference> {
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.call(&argv)
    }

    /// Runs a call of a client, and compares what anybody gets by it. Does nothing while the
    /// client waits.
    pub(crate) fn call_as(
        &mut self,
        client: usize,
        argv: &[&[u8]],
    ) -> Result<Option<Reply>, Difference> {
        self.connect_up_to(client);
        let id = self.clients[client].id;
        if id.is_some_and(|id| self.model.is_waiting(id)) {
            return Ok(None);
        }
        self.steps.push(Step::call(client, argv)); if std::env::var("ZZ").is_ok() { std::fs::write("/tmp/lua/last", format!("{}", Step::call(client, argv))).unwrap(); }
        let sent = self.clients[client].wire.send(argv);
        sent.map_err(|error| Difference::new(format!("the real server hung up: {error}")))?;
        let mut replies = Vec::new();
        match id {
            None => replies.push((client, self.model.execute(argv))),
            Some(id) => self.model.submit(id, argv),
        }
        for (id, reply) in self.model.take_replies() {
            replies.extend(self.number_of(id).map(|number| (number, reply)));
        }
        self.refuse_gaps()?;
        let mut own = None;
        for (number, reply) in replies {
            self.compare_reply(number, argv, &reply)?;
            if number == client {
                own = Some(reply);
            }
        }
        Ok(own)
    }

    fn number_of(&self, id: ClientId) -> Option<usize> {
        let mut clients = self.clients.iter();
        clients.position(|client| client.id == Some(id))
    }

    fn connect_up_to(&mut self, client: usize) {
        while self.clients.len() <= client {
            let id = (!self.clients.is_empty()).then(|| self.model.connect());
            self.clients.push(Client {
                id,
                wire: self.real.connect(),
            });
        }
    }

    /// Compares what the model answers a client with what the real server sends it.
    fn compare_reply(&mut self, client: usize, argv: &[&[u8]], reply: &Reply) -> Played {
        let Client { id, wire } = &mut self.clients[client];
        let greeting = argv[0].eq_ignore_ascii_case(b"HELLO") && reply.error().is_none();
        if greeting {
            wire.protocol = match argv.get(1).copied() {
                Some(b"3") => Protocol::Resp3,
                _ => Protocol::Resp2,
            };
        } else if let Some(id) = *id {
            wire.protocol = self.model.protocol(id);
        }
        let model = reply.to_bytes(wire.protocol);
        let real = match wire.receive() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::WouldBlock => b"(nothing)".to_vec(),
            Err(error) => format!("({error})").into_bytes(),
        };
        // A greeting tells the number of the connection.
        if greeting || times::same_reply(argv, wire.protocol, &real, &model) {
            return Ok(());
        }
        Err(Difference::between("different replies", &real, &model))
    }

    fn refuse_gaps(&self) -> Played {
        match self.model.unsupported().first() {
            None => Ok(()),
            Some(gap) => Err(Difference {
                what: format!("the model does not support {gap}"),
                is_gap: true,
            }),
        }
    }

    /// Compares all keys, and that no client got more than the model gave it.
    pub(crate) fn compare_keys(&mut self) -> Played {
        for database in 0..DATABASES {
            let (real, model) = (self.real.dump(database), self.model.dump_database(database));
            let names: BTreeSet<_> = real.keys().chain(model.keys()).collect();
            for name in names {
                keys::compare(name, real.get(name), model.get(name))?;
            }
        }
        for client in &mut self.clients {
            match client.wire.unasked() {
                Ok([]) => {}
                Ok(more) => return Err(Difference::between("an unasked reply", more, b"")),
                Err(error) => {
                    return Err(Difference::new(format!("the real server hung up: {error}")));
                }
            }
        }
        Ok(())
    }
}
