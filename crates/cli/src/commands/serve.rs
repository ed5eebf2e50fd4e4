//! `serve`: the model of Redis on a TCP port.

use std::net::{IpAddr, SocketAddr};

use leaseline_redis_model::{Clock, Listener, Options, Profile, Server};
use serde::Serialize;

use crate::arguments::{RedisVersion, Serve};
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::signals::Signals;
use crate::status::Status;

/// The JSON form.
#[derive(Serialize)]
struct Object<'a> {
    url: &'a str,
}

pub(crate) async fn run(
    serve: Serve,
    output: &mut Output,
    messages: &Messages,
) -> Result<Status, Failure> {
    let mut signals = Signals::catch()?;
    let mut server = Server::new(Options {
        profile: match serve.profile {
            RedisVersion::Redis70 => Profile::Redis70,
            RedisVersion::Redis72 => Profile::Redis72,
        },
        clock: Clock::Wall,
    });
    server.set_password(serve.password.as_deref().map(str::as_bytes));
    let wanted = SocketAddr::new(serve.bind, serve.port);
    let listener = Listener::bind(wanted, server)
        .await
        .map_err(|error| Failure::io(format!("cannot listen on {wanted}: {error}")))?;
    let address = listener
        .address()
        .map_err(|error| Failure::io(format!("cannot tell the port: {error}")))?;
    messages.note(
        "this is a model of Redis for tests, never for production: all it holds ends with it",
    );
    let url = format!("redis://{}/", reachable(address));
    output.result(&Object { url: &url }, &url)?;
    output.flush()?;
    listener.run(signals.next()).await;
    Ok(Status::Done)
}

/// An address of this machine that reaches a port open on all of them.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => std::net::Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => std::net::Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
