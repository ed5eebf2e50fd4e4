//! The server: what callers and tests hold.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::client::{Client, ClientId};
use crate::clock::{Clock, ScriptTime, Time};
use crate::condition::Condition;
use crate::dispatch;
use crate::dump::Entry;
use crate::keyspace::Keyspace;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::script::{Engine, PlannedFailure};
use crate::shape::Protocol;
use crate::state::{Profile, State};
use crate::waiting;

/// How to start a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whose rules to follow where versions of Redis differ.
    pub profile: Profile,
    /// Where the time comes from.
    pub clock: Clock,
}

/// The keys of a database at one moment.
#[derive(Debug, Clone)]
pub struct Saved(Keyspace);

/// A Redis in this process.
///
/// [`Server::execute`] runs a command and answers it, and is all that most tests need. For
/// several connections, with transactions, blocking commands and subscriptions of their own,
/// there are [`Server::connect`], [`Server::call`] and [`Server::take_replies`].
///
/// A Lua state is dear to make. A server gets one for its first script, if it can that of a server
/// that was dropped; [`Server::reset`] keeps it.
pub struct Server {
    pub(crate) state: State,
    engine: Engine,
}

impl Server {
    /// Starts an empty server.
    pub fn new(options: Options) -> Self {
        Server {
            state: State::new(options.profile, Time::new(options.clock)),
            engine: Engine::new(options.profile),
        }
    }

    /// Runs one command of a client that is always there and never waits: a blocking command
    /// that finds nothing answers as if its time were up.
    ///
    /// Whatever is asked for, the answer is a reply; what this model lacks is an error that says
    /// so, and is remembered in [`Server::unsupported`].
    pub fn execute(&mut self, argv: &[&[u8]]) -> Reply {
        let answer = self.answer(ClientId::OWN, argv);
        self.settle();
        let reply = self.state.reply(answer);
        self.state.clients.get_mut(ClientId::OWN).hear_last(reply)
    }

    /// Adds a client.
    pub fn connect(&mut self) -> ClientId {
        self.connect_from("")
    }

    /// Adds a client with the address that `CLIENT LIST` shows, such as `127.0.0.1:50000`.
    pub fn connect_from(&mut self, address: &str) -> ClientId {
        self.state.clients.add(Client {
            address: address.to_owned(),
            connected_at_ms: self.state.time.now_ms(),
            authenticated: self.state.password.is_none(),
            ..Client::default()
        })
    }

    /// Removes a client, with whatever it waited for, watched or was about to execute.
    pub fn disconnect(&mut self, client: ClientId) {
        if client != ClientId::OWN {
            self.state.clients.remove(client);
        }
    }

    /// Whether a client is there and may go on. `QUIT` and `CLIENT KILL` end that: what it was
    /// answered before is still to be sent, then its connection is to be closed.
    pub fn is_connected(&self, client: ClientId) -> bool {
        let client = self.state.clients.find(client);
        client.is_some_and(|client| !client.closing)
    }

    /// The clients whose connections are to be closed since the last call, because of `QUIT` or
    /// `CLIENT KILL`. They are gone with this: no [`Server::disconnect`] is needed.
    pub fn take_closed(&mut self) -> Vec<ClientId> {
        self.state.clients.take_closed()
    }

    /// Whether a client waits for a key. What it asks for meanwhile is not to be run before it
    /// has got its answer.
    pub fn is_waiting(&self, client: ClientId) -> bool {
        let client = self.state.clients.find(client);
        client.is_some_and(|client| client.waiting.is_some())
    }

    /// Whether a client has said what password is wanted, if one is.
    pub fn is_authenticated(&self, client: ClientId) -> bool {
        self.state.clients.get(client).authenticated
    }

    /// Which protocol a client has chosen, to send its replies with [`Reply::to_bytes`].
    pub fn protocol(&self, client: ClientId) -> Protocol {
        self.state.clients.get(client).protocol
    }

    /// Runs one command of a client. `None` means that it gets no answer now: it waits, or wanted
    /// no replies, or is not connected any more.
    ///
    /// What anybody gets besides is left for [`Server::take_replies`].
    pub fn call(&mut self, client: ClientId, argv: &[&[u8]]) -> Option<Reply> {
        self.submit(client, argv);
        let last = self.state.outbox.iter().rposition(|(id, _)| *id == client);
        last.map(|last| self.state.outbox.remove(last).1)
    }

    /// Runs one command of a client and leaves everything that anybody gets, its own answer too,
    /// for [`Server::take_replies`].
    pub fn submit(&mut self, client: ClientId, argv: &[&[u8]]) {
        if !self.is_connected(client) || self.is_waiting(client) {
            return;
        }
        self.give_up_late_waits();
        match self.answer(client, argv) {
            Err(Refusal::Wait(wait)) => {
                self.state.clients.wait(client, *wait);
                self.state.record_changes(true);
            }
            answer => {
                let reply = self.state.reply(answer);
                self.state.send_last(client, reply);
            }
        }
        self.settle();
    }

    /// What clients got since the last call, in order: answers, and messages of subscriptions.
    pub fn take_replies(&mut self) -> Vec<(ClientId, Reply)> {
        std::mem::take(&mut self.state.outbox)
    }

    /// When the first client that waits gives up, in milliseconds since 1970. A server on the
    /// machine's clock is to be called then, with [`Server::give_up_late_waits`].
    pub fn next_deadline_ms(&self) -> Option<i64> {
        waiting::next_deadline_ms(&self.state)
    }

    /// Answers those clients whose waiting time is up.
    pub fn give_up_late_waits(&mut self) {
        if self.next_deadline_ms().is_some() {
            waiting::give_up(&mut self.state);
        }
    }

    fn answer(&mut self, client: ClientId, argv: &[&[u8]]) -> Answer {
        if argv.is_empty() {
            return Err(Refusal::unsupported("a call without a command"));
        }
        self.state.look_at_the_clock();
        let left = self.state.enter(client);
        let answer = dispatch::call(&mut self.engine, &mut self.state, argv);
        self.state.leave(left);
        answer
    }

    fn settle(&mut self) {
        if self.state.is_recording() {
            waiting::settle_changes(&mut self.engine, &mut self.state);
        }
    }

    /// Every living key of the first database.
    pub fn dump(&self) -> BTreeMap<Vec<u8>, Entry> {
        self.dump_database(0)
    }

    /// Every living key of a database.
    pub fn dump_database(&self, number: usize) -> BTreeMap<Vec<u8>, Entry> {
        let now_ms = self.state.time.now_ms();
        let slots = self.state.database(number).into_iter();
        slots
            .flat_map(|keys| keys.iter())
            .filter(|(_, slot)| slot.expires_at_ms.is_none_or(|when| now_ms <= when))
            .map(|(key, slot)| (key.to_vec(), Entry::from(slot)))
            .collect()
    }

    /// A living key of the first database.
    pub fn entry(&self, key: &[u8]) -> Option<Entry> {
        let keys = self.state.database(0)?;
        keys.peek(key, self.state.time.now_ms()).map(Entry::from)
    }

    /// Remembers from now on which keys of the selected database are written, for
    /// [`Server::take_written`]. [`Server::reset`] ends that.
    pub fn note_writes(&mut self) {
        self.state.keys.note_writes();
    }

    /// The keys that were written since the last call, as often as they were written. Keys whose
    /// time is up are among them only once somebody met them.
    pub fn take_written(&mut self) -> Vec<Vec<u8>> {
        self.state.keys.take_written()
    }

    /// The keys of the selected database as they are now, for [`Server::load`].
    pub fn save(&self) -> Saved {
        Saved(self.state.keys.clone())
    }

    /// Goes back to what [`Server::save`] gave: this is what a restart finds on its disk, or what
    /// a replica knew when it took over. Clock, clients and scripts stay as they are.
    pub fn load(&mut self, saved: &Saved) {
        self.state.keys = saved.0.clone();
        self.state.look_at_the_clock();
    }

    /// Makes the server as [`Server::new`] would, with another clock, and keeps what is dear: the
    /// Lua state and the compiled scripts. Clients see an empty script cache all the same.
    pub fn reset(&mut self, clock: Clock) {
        self.reset_state(clock);
        self.engine.reset();
    }

    /// As [`Server::reset`], as if clients had loaded the scripts again that they had loaded
    /// before, unless there were too many to keep.
    pub fn reset_with_scripts(&mut self, clock: Clock) {
        self.reset_state(clock);
        self.engine.reset_with_scripts();
    }

    fn reset_state(&mut self, clock: Clock) {
        #[cfg(feature = "planted-faults")]
        let fault = self.state.fault;
        self.state = State::new(self.state.profile, Time::new(clock));
        #[cfg(feature = "planted-faults")]
        {
            self.state.fault = fault;
        }
    }

    /// Microseconds since 1970, as `TIME` would answer.
    pub fn time_us(&self) -> u64 {
        self.state.time.now_us()
    }

    /// Moves the clock forward.
    pub fn advance(&mut self, by: Duration) {
        self.state.time.advance(by);
        self.give_up_late_waits();
    }

    /// Sets the clock, backwards too.
    pub fn set_time_us(&mut self, to: u64) {
        self.state.time.set_us(to);
        self.give_up_late_waits();
    }

    /// Chooses what scripts see of time. [`Server::reset`] goes back to the profile's way.
    pub fn set_script_time(&mut self, time: ScriptTime) {
        self.engine.time = time;
    }

    /// Puts the server into a trouble.
    pub fn impose(&mut self, condition: Condition) {
        let new = self.state.conditions.impose(condition);
        if new && condition == Condition::ReadOnly {
            waiting::send_away(&mut self.state);
        }
    }

    /// Ends a trouble.
    pub fn lift(&mut self, condition: Condition) {
        self.state.conditions.lift(condition);
    }

    /// What clients have to say, with `AUTH` or `HELLO`, before anything else. Those that are
    /// connected already may stay.
    pub fn set_password(&mut self, password: Option<&[u8]>) {
        self.state.password = password.map(<[u8]>::to_vec);
    }

    /// Makes the `call`-th call (from 1) of `redis.call` or `redis.pcall` in the next script
    /// answer this error, code first, instead of running. A script with fewer calls uses the
    /// order up.
    pub fn fail_script_call(&mut self, call: u64, error_line: impl Into<String>) {
        self.engine.failure = Some(PlannedFailure {
            call,
            line: error_line.into(),
        });
    }

    /// Makes the access rules refuse a command to scripts, until [`Server::allow_all`].
    pub fn deny_command(&mut self, name: &str) {
        self.state.denied.insert(name.to_ascii_lowercase());
    }

    /// Lets scripts call everything again.
    pub fn allow_all(&mut self) {
        self.state.denied.clear();
    }

    /// How many well-formed calls of `redis.call` and `redis.pcall` the last script made,
    /// refused ones included.
    pub fn script_calls(&self) -> u64 {
        self.engine.report.calls
    }

    /// How many scripts ran so far, failed ones included. One that was refused did not run.
    pub fn scripts_run(&self) -> u64 {
        self.engine.runs
    }

    /// The keys that the last script touched without having them in `KEYS`, in order of their
    /// bytes. A cluster may refuse such a script.
    pub fn undeclared_keys(&self) -> impl Iterator<Item = &[u8]> {
        let keys = self.engine.report.undeclared_keys.iter();
        keys.map(Vec::as_slice)
    }

    /// How many Lua instructions a script may run before it is stopped with an error; counted in
    /// steps of 100,000, with work in the libraries that takes as long. 500,000,000 at first.
    /// Redis has no such limit, but a test has to end. A script that takes 20 seconds all the
    /// same is stopped then.
    pub fn set_instruction_limit(&mut self, limit: u64) {
        self.engine.set_instruction_limit(limit);
    }

    /// How many bytes a script may add to what the Lua state holds before it is stopped with an
    /// error: strings and tables, with the garbage that is not collected yet. 256 MiB at first.
    /// What it writes to keys is not counted.
    pub fn set_script_memory_limit(&mut self, bytes: usize) {
        self.engine.set_memory_limit(bytes);
    }

    /// What was asked for and is not modelled, in order. A test that trusts this model checks
    /// that it is empty.
    pub fn unsupported(&self) -> &[String] {
        &self.state.unsupported
    }
}
