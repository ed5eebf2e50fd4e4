//! Everything a command other than `EVAL` may touch.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::time::Duration;

use crate::client::{ClientId, Clients};
use crate::clock::{ScriptTime, Time};
use crate::condition::Conditions;
use crate::keyspace::{Change, Keyspace};
use crate::number;
use crate::random::Random;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::shape::{Protocol, Shape};

/// The Redis whose rules apply where versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Redis 7.0.15 as Debian 12 ships it, which is what the recorded answers come from.
    #[default]
    Redis70,
    /// Redis 7.2: shortest text of doubles, `CLIENT SETINFO`.
    Redis72,
}

impl Profile {
    pub(crate) fn version(self) -> &'static str {
        match self {
            Profile::Redis70 => "7.0.15",
            Profile::Redis72 => "7.2.6",
        }
    }

    /// `redis.REDIS_VERSION_NUM`: a byte each for major, minor and patch.
    pub(crate) fn version_number(self) -> u32 {
        match self {
            Profile::Redis70 => 0x0007_000f,
            Profile::Redis72 => 0x0007_0206,
        }
    }

    /// What scripts see of time.
    pub(crate) fn script_time(self) -> ScriptTime {
        match self {
            Profile::Redis70 => ScriptTime::Live {
                per_call: Duration::ZERO,
            },
            Profile::Redis72 => ScriptTime::Frozen,
        }
    }

    /// The text of a score, and of a number that a script passes to `redis.call`.
    pub(crate) fn format_double(self, value: f64) -> String {
        match self {
            Profile::Redis70 => number::format_g(value, 17),
            Profile::Redis72 => number::format_shortest(value),
        }
    }
}

/// How many databases there are.
pub(crate) const DATABASES: usize = 16;

/// The server's data and settings.
#[derive(Debug)]
pub(crate) struct State {
    /// The selected database.
    pub(crate) keys: Keyspace,
    selected: usize,
    /// The other databases that were ever selected.
    parked: BTreeMap<usize, Keyspace>,
    pub(crate) time: Time,
    pub(crate) profile: Profile,
    pub(crate) conditions: Conditions,
    /// Lower-case names of commands that the access rules refuse to scripts.
    pub(crate) denied: BTreeSet<String>,
    /// What clients have to say before anything else.
    pub(crate) password: Option<Vec<u8>>,
    pub(crate) clients: Clients,
    /// Whose command runs.
    pub(crate) client: ClientId,
    /// The protocol of the client, or script, whose command runs.
    pub(crate) protocol: Protocol,
    /// Whether the one whose command runs may be made to wait.
    pub(crate) may_wait: bool,
    /// Whether a script runs it.
    pub(crate) in_script: bool,
    /// What clients are to get, in order, apart from the answer of the command that runs.
    pub(crate) outbox: Vec<(ClientId, Reply)>,
    /// Whether changes of keys are remembered, in `changes`.
    recording: bool,
    changes: Vec<(usize, Vec<u8>, Change)>,
    /// What chooses where Redis chooses at random. The same in every server that was just started.
    pub(crate) random: Random,
    /// What was asked for and could not be modelled, in order.
    pub(crate) unsupported: Vec<String>,
    /// The mistake that is made.
    #[cfg(feature = "planted-faults")]
    pub(crate) fault: Option<crate::fault::Fault>,
}

impl State {
    pub(crate) fn new(profile: Profile, time: Time) -> Self {
        State {
            keys: Keyspace::default(),
            selected: 0,
            parked: BTreeMap::new(),
            time,
            profile,
            conditions: Conditions::default(),
            denied: BTreeSet::new(),
            password: None,
            clients: Clients::default(),
            client: ClientId::OWN,
            protocol: Protocol::default(),
            may_wait: false,
            in_script: false,
            outbox: Vec::new(),
            recording: false,
            changes: Vec::new(),
            random: Random::default(),
            unsupported: Vec::new(),
            #[cfg(feature = "planted-faults")]
            fault: None,
        }
    }

    /// Lets keys expire up to now. Once per command of a client, and once per script.
    pub(crate) fn look_at_the_clock(&mut self) {
        self.keys.set_now(self.time.now_ms());
    }

    pub(crate) fn selected(&self) -> usize {
        self.selected
    }

    /// Makes `keys` another database.
    pub(crate) fn select(&mut self, database: usize) {
        if database == self.selected {
            return;
        }
        self.collect_changes();
        let now_ms = self.keys.now_ms();
        let next = self.parked.remove(&database).unwrap_or_default();
        let previous = mem::replace(&mut self.keys, next);
        self.parked.insert(self.selected, previous);
        self.selected = database;
        self.keys.set_now(now_ms);
        self.keys.record_changes(self.recording);
    }

    /// Does something in another database.
    pub(crate) fn in_database<T>(
        &mut self,
        database: usize,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let here = self.selected;
        self.select(database);
        let done = work(self);
        self.select(here);
        done
    }

    /// Exchanges what two databases hold, with everyone staying where they are.
    pub(crate) fn swap(&mut self, one: usize, two: usize) {
        if one == two {
            return;
        }
        for database in [one, two] {
            self.in_database(database, |state| state.keys.touch_all());
        }
        let here = self.selected;
        // Both are parked while a third is selected, if only for now.
        let elsewhere = (0..DATABASES).find(|number| *number != one && *number != two);
        self.select(elsewhere.unwrap_or(here));
        let (first, second) = (self.parked.remove(&one), self.parked.remove(&two));
        self.parked.extend(first.map(|keys| (two, keys)));
        self.parked.extend(second.map(|keys| (one, keys)));
        for database in [one, two] {
            self.in_database(database, |state| {
                state.keys.touch_all();
                state.keys.announce_all();
            });
        }
        self.select(here);
    }

    /// The numbers of the databases that may hold something.
    pub(crate) fn databases(&self) -> Vec<usize> {
        let mut numbers: Vec<_> = self.parked.keys().copied().collect();
        numbers.push(self.selected);
        numbers.sort_unstable();
        numbers
    }

    /// The keys of a database, if it was ever selected.
    pub(crate) fn database(&self, number: usize) -> Option<&Keyspace> {
        match number == self.selected {
            true => Some(&self.keys),
            false => self.parked.get(&number),
        }
    }

    /// Whether changes of keys are remembered.
    pub(crate) fn is_recording(&self) -> bool {
        self.recording
    }

    /// Starts or stops remembering which keys change.
    pub(crate) fn record_changes(&mut self, on: bool) {
        self.recording = on;
        self.keys.record_changes(on);
        if !on {
            self.changes.clear();
        }
    }

    fn collect_changes(&mut self) {
        let database = self.selected;
        let changes = self.keys.take_changes().into_iter();
        self.changes
            .extend(changes.map(|(key, change)| (database, key, change)));
    }

    /// The keys that changed since the last call, with their databases.
    pub(crate) fn take_changes(&mut self) -> Vec<(usize, Vec<u8>, Change)> {
        self.collect_changes();
        mem::take(&mut self.changes)
    }

    /// What makes replies for the one whose command runs.
    pub(crate) fn shape(&self) -> Shape {
        Shape {
            profile: self.profile,
            protocol: self.protocol,
        }
    }

    /// The reply for an answer. A gap of the model is remembered.
    pub(crate) fn reply(&mut self, answer: Answer) -> Reply {
        answer.unwrap_or_else(|refusal| {
            self.note(&refusal);
            refusal.into()
        })
    }

    /// Leaves what a client hears of the reply that ends its command to be sent.
    pub(crate) fn send_last(&mut self, id: ClientId, reply: Reply) {
        match self.clients.get_mut(id).hear_last(reply) {
            Reply::Series(replies) => {
                let replies = replies.into_iter().map(|reply| (id, reply));
                self.outbox.extend(replies);
            }
            reply => self.outbox.push((id, reply)),
        }
    }

    /// Remembers a gap of the model.
    fn note(&mut self, refusal: &Refusal) {
        if let Refusal::Unsupported(what) = refusal {
            self.unsupported.push(what.clone());
        }
    }
}
