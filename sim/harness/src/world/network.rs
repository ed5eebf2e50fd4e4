//! The way of a request: to the server, and its answer back.

use leaseline_core::capability::{RedisError, ServerError, Value};

use super::World;
use super::agenda::Event;
use crate::case::Op;
use crate::fault;

/// How the client of a request learns what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answering {
    /// It gets the replies.
    Reply,
    /// It hears nothing before its deadline.
    Never,
    /// Its connection is reset when the request has run, or would have.
    Reset,
    /// Its connection is reset at once.
    ResetAtOnce,
    /// It could not send the request.
    NotSent,
}

/// What will become of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// How long it takes to the server; none: it does not get there.
    pub(crate) arrives_us: Option<u64>,
    /// How many of its commands the server gets.
    pub(crate) first: usize,
    /// Whether it runs a first time whose answer nobody hears.
    pub(crate) first_copy: bool,
    /// Whether it is the copy of one that ran before.
    is_copy: bool,
    /// How long after the first copy the other one runs.
    pub(crate) again_us: u64,
    pub(crate) answering: Answering,
    /// How long the answer takes.
    pub(crate) reply_us: u64,
    /// The client does not live to hear of it.
    pub(crate) kill: bool,
}

/// What a client hears of a request.
pub(crate) type Heard = Result<Vec<Result<Vec<Value>, ServerError>>, RedisError>;

/// A request on its way.
#[derive(Debug)]
pub(crate) struct Request {
    client: usize,
    commands: Vec<Vec<Vec<u8>>>,
    ticket: Option<usize>,
    plan: Plan,
}

/// What a client waits for: an answer, or the end of a pause.
#[derive(Debug)]
pub(crate) struct Ticket {
    client: usize,
    pub(crate) state: TicketState,
}

#[derive(Debug)]
pub(crate) enum TicketState {
    Open,
    /// On its way to the client.
    Coming(Heard),
    Here(Heard),
    /// Taken, or given up.
    Closed,
}

/// Where a request stands after it was sent.
#[derive(Debug)]
pub(crate) enum Sent {
    Heard(Heard),
    Wait(usize),
}

impl World {
    /// Sends commands in one go.
    pub(crate) fn send(&mut self, client: usize, commands: &[&[&[u8]]], timeout_ms: u32) -> Sent {
        let latency = u64::from(self.settings.latency_us);
        let Some(op) = self.meets(client) else {
            if latency == 0 {
                let replies = self.run_all(client, commands.iter().copied());
                return Sent::Heard(Ok(replies));
            }
            let plan = Plan::smooth(latency);
            return Sent::Wait(self.dispatch(client, commands, timeout_ms, plan));
        };
        let mut plan = Plan::smooth(latency);
        fault::disturb(&op, &mut plan, &self.settings);
        self.tell(|| format!("      network  {op} meets {}", first_word(commands)));
        if let Some(timeline) = &mut self.timeline {
            timeline.fault(self.now_us, format!("{op} meets {}", first_word(commands)));
        }
        self.coverage.faults += 1;
        if plan.kill {
            self.clients[client].killed = true;
        }
        if plan.answering == Answering::NotSent {
            return Sent::Heard(Err(RedisError::NotSent("no connection".into())));
        }
        Sent::Wait(self.dispatch(client, commands, timeout_ms, plan))
    }

    /// The armed fault that the next request of a client meets.
    fn meets(&mut self, client: usize) -> Option<Op> {
        let armed = &mut self.clients[client].armed;
        if armed.is_empty() {
            return None;
        }
        let due = armed.iter().position(|(after, _)| *after == 0);
        for (after, _) in armed.iter_mut() {
            *after = after.saturating_sub(1);
        }
        due.map(|at| armed.remove(at).1)
    }

    /// Whether a client is killed in the pause that begins.
    pub(crate) fn dies_in_a_pause(&mut self, client: usize) -> bool {
        let side = &mut self.clients[client];
        let kills = |(after, op): &(u32, Op)| *after == 0 && matches!(op, Op::Kill { .. });
        let Some(at) = side.armed.iter().position(kills) else {
            return false;
        };
        side.armed.remove(at);
        side.killed = true;
        true
    }

    fn dispatch(
        &mut self,
        client: usize,
        commands: &[&[&[u8]]],
        timeout_ms: u32,
        plan: Plan,
    ) -> usize {
        let ticket = self.open_ticket(client);
        let deadline = self.now_us + u64::from(timeout_ms) * 1000;
        if plan.answering == Answering::ResetAtOnce
            || plan.arrives_us.is_none() && plan.answering == Answering::Reset
        {
            self.answer_later(ticket, 0, Err(reset()));
        } else {
            self.agenda.add(deadline, Event::Deadline { ticket });
        }
        if let Some(arrives) = plan.arrives_us {
            let owned = |argv: &&[&[u8]]| argv.iter().map(|word| word.to_vec()).collect();
            self.requests.push(Some(Request {
                client,
                commands: commands.iter().take(plan.first).map(owned).collect(),
                ticket: Some(ticket),
                plan,
            }));
            let request = self.requests.len() - 1;
            match arrives {
                0 => self.arrive(request),
                arrives => self
                    .agenda
                    .add(self.now_us + arrives, Event::Arrive { request }),
            }
        }
        ticket
    }

    /// A request reaches the server.
    pub(crate) fn arrive(&mut self, at: usize) {
        let Some(mut request) = self.requests[at].take() else {
            return;
        };
        let commands: Vec<Vec<&[u8]>> = request
            .commands
            .iter()
            .map(|argv| argv.iter().map(Vec::as_slice).collect())
            .collect();
        let replies = self.run_all(request.client, commands.iter().map(Vec::as_slice));
        let plan = request.plan;
        if plan.first_copy {
            request.plan.first_copy = false;
            request.plan.is_copy = true;
            self.requests[at] = Some(request);
            self.agenda
                .add(self.now_us + plan.again_us, Event::Arrive { request: at });
            return;
        }
        let Some(ticket) = request.ticket else {
            return;
        };
        match plan.answering {
            // Who sent it twice cannot tell what a refusal of the second means.
            Answering::Reply if plan.is_copy && replies.iter().any(Result::is_err) => {
                self.answer_later(ticket, plan.reply_us, Err(reset()));
            }
            Answering::Reply => self.answer_later(ticket, plan.reply_us, Ok(replies)),
            Answering::Reset => self.answer_later(ticket, 0, Err(reset())),
            Answering::Never | Answering::ResetAtOnce | Answering::NotSent => {}
        }
    }

    pub(crate) fn open_ticket(&mut self, client: usize) -> usize {
        self.tickets.push(Ticket {
            client,
            state: TicketState::Open,
        });
        self.tickets.len() - 1
    }

    fn answer_later(&mut self, ticket: usize, after_us: u64, heard: Heard) {
        if !matches!(self.tickets[ticket].state, TicketState::Open) {
            return;
        }
        self.tickets[ticket].state = TicketState::Coming(heard);
        self.agenda
            .add(self.now_us + after_us, Event::Answer { ticket });
    }

    /// An answer reaches its client, if it still waits.
    pub(crate) fn answer(&mut self, ticket: usize) {
        let waiting = &mut self.tickets[ticket];
        match std::mem::replace(&mut waiting.state, TicketState::Closed) {
            TicketState::Coming(heard) => {
                waiting.state = TicketState::Here(heard);
                self.ready.push(waiting.client);
            }
            other => waiting.state = other,
        }
    }

    /// A client gives a request up, if it still waits; or a pause is over.
    pub(crate) fn time_is_up(&mut self, ticket: usize) {
        let waiting = &mut self.tickets[ticket];
        if matches!(waiting.state, TicketState::Open | TicketState::Coming(_)) {
            waiting.state = TicketState::Here(Err(RedisError::Timeout));
            self.ready.push(waiting.client);
        }
    }

    /// All connections break. What is on its way is gone.
    pub(crate) fn reset_connections(&mut self) {
        for request in &mut self.requests {
            if let Some(ticket) = request.take().and_then(|request| request.ticket)
                && let waiting = &mut self.tickets[ticket]
                && matches!(waiting.state, TicketState::Open)
            {
                // Without leases nobody may come back for what this one settles or takes.
                self.orphans = true;
                waiting.state = TicketState::Here(Err(reset()));
                self.ready.push(waiting.client);
            }
        }
    }
}

impl Plan {
    fn smooth(latency: u64) -> Self {
        Self {
            arrives_us: Some(latency),
            first: usize::MAX,
            first_copy: false,
            is_copy: false,
            again_us: 0,
            answering: Answering::Reply,
            reply_us: latency,
            kill: false,
        }
    }
}

fn reset() -> RedisError {
    RedisError::Unknown("the connection was reset".into())
}

fn first_word(commands: &[&[&[u8]]]) -> String {
    let word = commands.first().and_then(|argv| argv.first());
    String::from_utf8_lossy(word.copied().unwrap_or_default()).into_owned()
}
