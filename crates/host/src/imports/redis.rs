//! `leaseline:redis/client` over [`Ctx`](crate::Ctx)'s connections.
//!
//! Numbers and sizes that come from the guest are bounded here, and so are replies on their way
//! to it. Which commands a connection carries is the capability's own matter.

use leaseline_core::capability::{Redis as _, RedisError, Value};
use wasmtime::component::Resource;

use crate::bindings::leaseline::redis::client::{self, Error, Host, HostConnection, ServerError};
use crate::connection::Connection;
use crate::convert::reply::{self, shortened};
use crate::ctx::CtxView;
use crate::limits::Limits;

impl Host for CtxView<'_> {}

impl HostConnection for CtxView<'_> {
    fn open(&mut self, label: String) -> wasmtime::Result<Result<Resource<Connection>, Error>> {
        self.ctx.count_host_call()?;
        let Some(connection) = self.ctx.connections.get(&label) else {
            let why = format!("no connection is called {:?} here", shortened(&label));
            return Ok(Err(Error::Denied(why)));
        };
        Ok(Ok(self.table.push(connection.clone())?))
    }

    async fn execute(
        &mut self,
        connection: Resource<Connection>,
        argv: Vec<Vec<u8>>,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<Vec<client::Value>, Error>> {
        self.ctx.count_host_call()?;
        let limits = &self.ctx.limits;
        if let Err(refusal) = check_arguments(argv.len(), limits) {
            return Ok(Err(refusal));
        }
        let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let timeout_ms = timeout_ms.min(limits.command_timeout_ms);
        let connection = self.table.get(&connection)?;
        let reply = connection.execute(&argv, timeout_ms).await;
        Ok(reply
            .and_then(|values| check_size(size(&values), limits).map(|()| values))
            .map(reply::values)
            .map_err(reply::error))
    }

    async fn pipeline(
        &mut self,
        connection: Resource<Connection>,
        commands: Vec<Vec<Vec<u8>>>,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<Vec<Result<Vec<client::Value>, ServerError>>, Error>> {
        self.ctx.count_host_call()?;
        let limits = &self.ctx.limits;
        // A command without arguments counts too.
        let arguments = commands.iter().map(|argv| argv.len().max(1)).sum();
        if let Err(refusal) = check_arguments(arguments, limits) {
            return Ok(Err(refusal));
        }
        let commands: Vec<Vec<&[u8]>> = commands
            .iter()
            .map(|argv| argv.iter().map(Vec::as_slice).collect())
            .collect();
        let commands: Vec<&[&[u8]]> = commands.iter().map(Vec::as_slice).collect();
        let timeout_ms = timeout_ms.min(limits.command_timeout_ms);
        let connection = self.table.get(&connection)?;
        let replies = connection.pipeline(&commands, timeout_ms).await;
        Ok(replies
            .and_then(|replies| {
                let sizes = replies
                    .iter()
                    .map(|reply| reply.as_deref().map_or(VALUE_BYTES, size));
                check_size(sizes.sum(), limits).map(|()| replies)
            })
            .map(|replies| replies.into_iter().map(reply::pipelined).collect())
            .map_err(reply::error))
    }

    fn drop(&mut self, connection: Resource<Connection>) -> wasmtime::Result<()> {
        self.table.delete(connection)?;
        Ok(())
    }
}

/// What a value costs in the guest's memory beside its text or bytes.
const VALUE_BYTES: u64 = 32;

fn check_arguments(arguments: usize, limits: &Limits) -> Result<(), Error> {
    if arguments > limits.arguments {
        let why = format!("{arguments} arguments; the limit is {}", limits.arguments);
        return Err(Error::Denied(why));
    }
    Ok(())
}

fn check_size(bytes: u64, limits: &Limits) -> Result<(), RedisError> {
    if bytes > limits.reply_bytes {
        Err(RedisError::TooLarge(bytes))
    } else {
        Ok(())
    }
}

/// What a reply costs in the guest's memory.
fn size(values: &[Value]) -> u64 {
    let contents = |value: &Value| match value {
        Value::Nil | Value::Int(_) => 0,
        Value::Status(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
    };
    VALUE_BYTES
        + values
            .iter()
            .map(|value| VALUE_BYTES + contents(value))
            .sum::<u64>()
}
