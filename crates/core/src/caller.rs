//! Sending scripts: by hash first, with the full text when the server does not know the hash,
//! and again after failures that may pass.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::capability::{Clock, Entropy, Redis, RedisError, ServerError, Value};
use crate::config::Config;
use crate::error::{self, Error, ErrorKind};
use crate::retry::RetryPolicy;
use crate::script::Invocation;

/// The most commands in one pipeline.
const MAX_PIPELINE: usize = 128;

/// A pipeline takes no further command once it has this many bytes of arguments.
const MAX_PIPELINE_BYTES: usize = 1024 * 1024;

/// The answer of one attempt at one script.
pub(crate) type Answer = Result<Vec<Value>, RedisError>;

/// The answer of a script after its retries.
pub(crate) struct Called {
    pub(crate) answer: Result<Vec<Value>, Error>,
    /// An attempt before the last one may have run on the server, or may still run.
    pub(crate) ambiguous: bool,
}

/// A Redis, a clock and entropy, with the rules for using them.
pub(crate) struct Caller<R, C, E> {
    pub(crate) redis: R,
    pub(crate) clock: C,
    pub(crate) entropy: E,
    pub(crate) retry: RetryPolicy,
    timeout_ms: u32,
}

impl<R: Redis, C: Clock, E: Entropy> Caller<R, C, E> {
    pub(crate) fn new(config: &Config, redis: R, clock: C, entropy: E) -> Self {
        Self {
            redis,
            clock,
            entropy,
            retry: RetryPolicy::new(config),
            timeout_ms: config.command_timeout_ms,
        }
    }

    /// Runs scripts in order, each retried under its own operation id until it is answered or
    /// the budget is spent. Only for scripts that answer a repeated id as they did at first.
    pub(crate) async fn call(&self, calls: &[Invocation<'_>]) -> Vec<Called> {
        let started = self.clock.now_ms();
        let mut called = Vec::with_capacity(calls.len());
        let mut rest = calls;
        while !rest.is_empty() {
            let mut bytes = 0;
            // One script only: a server that knows one of two would run their calls out of order.
            let script = rest[0].script.name;
            let fits = rest.iter().take(MAX_PIPELINE).take_while(|call| {
                let before = bytes;
                bytes += call.bytes();
                before < MAX_PIPELINE_BYTES && call.script.name == script
            });
            let (chunk, behind) = rest.split_at(fits.count());
            called.extend(self.call_chunk(chunk, started).await);
            rest = behind;
        }
        called
    }

    /// The budget began at `started`.
    async fn call_chunk(&self, calls: &[Invocation<'_>], started: u64) -> Vec<Called> {
        let mut ambiguous = vec![false; calls.len()];
        let mut done: Vec<Option<Called>> = calls.iter().map(|_| None).collect();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let waiting: Vec<usize> = (0..calls.len()).filter(|&at| done[at].is_none()).collect();
            let pending: Vec<&Invocation<'_>> = waiting.iter().map(|&at| &calls[at]).collect();
            let answers = self.attempt(&pending).await;
            let reached = answers
                .iter()
                .any(|answer| !matches!(answer, Err(RedisError::NotSent(_))));
            let spent = self
                .retry
                .is_spent(self.clock.now_ms().saturating_sub(started));
            for (at, answer) in waiting.into_iter().zip(answers) {
                let again = matches!(&answer, Err(error) if error::is_transient(error)) && !spent;
                if !again {
                    done[at] = Some(Called {
                        answer: answer.map_err(|error| give_up(error, ambiguous[at], attempt)),
                        ambiguous: ambiguous[at],
                    });
                } else if matches!(&answer, Err(error) if error::is_ambiguous(error)) {
                    ambiguous[at] = true;
                }
            }
            if done.iter().all(Option::is_some) {
                return done.into_iter().flatten().collect();
            }
            let delay_ms = self.retry.delay_ms(attempt, reached, &self.entropy);
            self.clock.sleep_ms(delay_ms).await;
        }
    }

    /// Runs scripts in order, once. A server that does not know a script has run nothing of it,
    /// so sending its text is not a retry.
    pub(crate) async fn attempt(&self, calls: &[&Invocation<'_>]) -> Vec<Answer> {
        #[cfg(test)]
        calls.iter().for_each(|call| crate::contract::check(call));
        let mut answers = self
            .send(calls.iter().map(|call| call.argv(false)).collect())
            .await;
        let unknown: Vec<usize> = (0..calls.len())
            .filter(|&at| is_noscript(&answers[at]))
            .collect();
        if unknown.is_empty() {
            return answers;
        }
        // One text is enough: they are calls of one script, and the pipeline runs in order.
        let commands = unknown
            .iter()
            .enumerate()
            .map(|(order, &at)| calls[at].argv(order == 0))
            .collect();
        for (at, answer) in unknown.into_iter().zip(self.send(commands).await) {
            answers[at] = answer;
        }
        answers
    }

    /// Sends commands in one go.
    pub(crate) async fn send(&self, commands: Vec<Vec<&[u8]>>) -> Vec<Answer> {
        if let [command] = commands.as_slice() {
            return vec![self.redis.execute(command, self.timeout_ms).await];
        }
        let borrowed: Vec<&[&[u8]]> = commands.iter().map(Vec::as_slice).collect();
        match self.redis.pipeline(&borrowed, self.timeout_ms).await {
            Ok(replies) if replies.len() == commands.len() => replies
                .into_iter()
                .map(|reply| reply.map_err(RedisError::Server))
                .collect(),
            Ok(replies) => {
                let error = RedisError::UnsupportedReply(format!(
                    "{} replies to {} commands",
                    replies.len(),
                    commands.len()
                ));
                commands.iter().map(|_| Err(error.clone())).collect()
            }
            Err(error) => commands.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    /// Deletes keys that expire anyway. Failures do not matter.
    pub(crate) async fn delete(&self, keys: &[&[u8]]) {
        if !keys.is_empty() {
            let command = core::iter::once(b"DEL".as_slice())
                .chain(keys.iter().copied())
                .collect();
            let _ = self.send(vec![command]).await;
        }
    }
}

/// The error of a call that is not tried again.
fn give_up(error: RedisError, ambiguous: bool, attempts: u32) -> Error {
    if ambiguous {
        return Error::new(
            ErrorKind::OutcomeUnknown,
            format!(
                "no answer in {attempts} attempts, the last one: {error}; the call may have taken effect, look before you repeat it"
            ),
        );
    }
    error.into()
}

fn is_noscript(answer: &Answer) -> bool {
    matches!(answer, Err(RedisError::Server(ServerError { code, .. })) if code == "NOSCRIPT")
}
