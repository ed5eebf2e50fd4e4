//! The model and a real server, to which the same things happen.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write as _};
use std::thread::sleep;
use std::time::{Duration, Instant};

use leaseline_redis_model::{ClientId, Clock, Options, Profile, Protocol, Reply, Server};

use crate::keys;
use crate::real_server::RealServer;
use crate::steps::{Difference, Played, Step};
use crate::times;
use crate::unordered;
use crate::wire::Wire;

/// How long [`Step::Pause`] takes.
const PAUSE: Duration = Duration::from_millis(15);

/// How long a client of the real server may take to wait.
const PATIENCE: Duration = Duration::from_secs(5);

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
            Step::Transaction { argv } => {
                let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
                self.call_in_transaction(&argv)?;
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
        if self.is_waiting(client) {
            return Ok(None);
        }
        self.steps.push(Step::call(client, argv));
        self.run(client, argv)
    }

    /// Runs a call of the first client in a transaction, where blocking commands do not wait.
    pub(crate) fn call_in_transaction(&mut self, argv: &[&[u8]]) -> Played {
        self.connect_up_to(0);
        self.steps.push(Step::transaction(argv));
        for argv in [&[&b"MULTI"[..]][..], argv, &[b"EXEC"]] {
            self.run(0, argv)?;
        }
        Ok(())
    }

    fn run(&mut self, client: usize, argv: &[&[u8]]) -> Result<Option<Reply>, Difference> {
        let id = self.clients[client].id;
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
        if own.is_none() {
            self.wait_for_the_waiting()?;
        }
        Ok(own)
    }

    /// Whether a client waits for a key.
    pub(crate) fn is_waiting(&self, client: usize) -> bool {
        let client = self.clients.get(client);
        let id = client.and_then(|client| client.id);
        id.is_some_and(|id| self.model.is_waiting(id))
    }

    /// Waits until as many clients wait for keys of the real server as of the model: who came
    /// first matters.
    fn wait_for_the_waiting(&mut self) -> Played {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // Time passes for both: a short wait may be over before the other server has looked.
            self.model.give_up_late_waits();
            let ids = self.clients.iter().filter_map(|client| client.id);
            let model = ids.filter(|id| self.model.is_waiting(*id)).count();
            let model = model.to_string();
            let real = self.real.waiting();
            if real == model {
                return Ok(());
            }
            if Instant::now() > deadline {
                let what = "different numbers of clients that wait";
                return Err(Difference::between(what, real.as_bytes(), model.as_bytes()));
            }
        }
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
        let protocol = wire.protocol;
        let replies = (real.as_slice(), model.as_slice());
        let is_in_table = || {
            self.real
                .keeps_in_table(argv.get(1).copied().unwrap_or_default())
        };
        if unordered::same_reply(argv, protocol, replies, is_in_table) {
            if let Some([real, model]) = unordered::popped(argv, protocol, replies) {
                self.follow(argv[1], &real, &model);
            }
            return Ok(());
        }
        Err(Difference::between("different replies", &real, &model))
    }

    /// Takes from the model's set what the real server chose, instead of what the model chose.
    fn follow(&mut self, key: &[u8], real: &[Vec<u8>], model: &[Vec<u8>]) {
        for (name, members) in [(&b"SADD"[..], model), (b"SREM", real)] {
            let members = members.iter().map(Vec::as_slice);
            let argv: Vec<&[u8]> = [name, key].into_iter().chain(members).collect();
            self.model.execute(&argv);
        }
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
        self.real.catch_up();
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
