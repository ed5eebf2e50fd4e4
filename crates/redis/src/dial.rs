//! Making a connection: the socket, TLS, the Redis handshake, and whether it leads to what the
//! address says.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::capability::ServerError;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, Value};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Instant, timeout_at};

use crate::address::{Credentials, Endpoint, Target};
use crate::connector::Connector;
use crate::error::{OpenError, describe_io};
use crate::link::Link;
use crate::reply;
use crate::sentinel;
use crate::tls;

/// The kernel drops a connection whose peer acknowledges nothing for about this long, so that
/// even a connection that nobody uses is found dead.
const PEER_SILENCE_LIMIT: Duration = Duration::from_secs(30);

/// Connects and logs in, within the connector's timeout. `name` is for `CLIENT LIST`.
pub(crate) async fn dial(
    connector: &Connector,
    endpoint: &Endpoint,
    name: &str,
) -> Result<Arc<Link>, OpenError> {
    let limit = connector.connect_timeout;
    let login = Login {
        credentials: connector.address.credentials.as_ref(),
        database: connector.address.database,
        name,
    };
    let link = match endpoint {
        Endpoint::Alone(target) => {
            let dial = Dial::new(connector, target, limit);
            let link = dial.connect(&login).await?;
            dial.refuse_cluster(&link).await?;
            link
        }
        Endpoint::Member(target) => {
            let dial = Dial::new(connector, target, limit);
            dial.connect(&login).await?
        }
        Endpoint::Master(sentinels) => sentinel::dial_master(connector, sentinels, &login).await?,
    };
    tracing::debug!(address = %endpoint, "connected to Redis");
    Ok(Arc::new(link))
}

/// Who we say we are.
pub(crate) struct Login<'a> {
    pub(crate) credentials: Option<&'a Credentials>,
    pub(crate) database: i64,
    /// What `CLIENT LIST` shows.
    pub(crate) name: &'a str,
}

const SOCKET: &str = "for the connection";
const TLS: &str = "for the TLS handshake (a plain port needs redis://)";
const LOGIN: &str = "for the server's first answer";

/// One attempt.
pub(crate) struct Dial<'a> {
    connector: &'a Connector,
    target: &'a Target,
    address: String,
    limit: Duration,
    deadline: Instant,
}

impl<'a> Dial<'a> {
    /// Everything together may take until `limit` from now.
    pub(crate) fn new(connector: &'a Connector, target: &'a Target, limit: Duration) -> Self {
        Self {
            connector,
            target,
            address: target.to_string(),
            limit,
            deadline: Instant::now() + limit,
        }
    }

    /// Connects and logs in.
    pub(crate) async fn connect(&self, login: &Login<'_>) -> Result<Link, OpenError> {
        let link = match self.target {
            Target::Tcp { host, port } => self.start(self.tcp(host, *port).await?).await?,
            Target::Tls { host, port } => {
                let socket = self.tcp(host, *port).await?;
                let handshake = tls::handshake(socket, host, self.connector.roots(), &self.address);
                self.start(self.in_time(TLS, handshake).await?).await?
            }
            Target::Unix(path) => {
                let connect = async {
                    UnixStream::connect(path)
                        .await
                        .map_err(|e| self.unreachable(&e))
                };
                self.start(self.in_time(SOCKET, connect).await?).await?
            }
        };
        self.in_time(LOGIN, self.log_in(&link, login)).await?;
        Ok(link)
    }

    /// A node of a cluster answers the keys of other nodes with errors, and its place may change.
    async fn refuse_cluster(&self, link: &Link) -> Result<(), OpenError> {
        let mut command = redis::cmd("INFO");
        command.arg("cluster");
        let text = match self.question(link, &command).await? {
            Ok(Value::BulkString(text)) => text,
            Ok(Value::VerbatimString { text, .. }) => text.into_bytes(),
            Ok(_) => return Ok(()),
            Err(error) => {
                tracing::warn!(
                    address = self.address,
                    %error,
                    "the server does not say whether it is part of a cluster"
                );
                return Ok(());
            }
        };
        if String::from_utf8_lossy(&text).contains("cluster_enabled:1") {
            return Err(OpenError::ClusterNode {
                address: self.address.clone(),
            });
        }
        Ok(())
    }

    /// One more command of the handshake.
    pub(crate) async fn question(
        &self,
        link: &Link,
        command: &Cmd,
    ) -> Result<Result<Value, ServerError>, OpenError> {
        self.in_time(LOGIN, ask(link, command, &self.address)).await
    }

    async fn in_time<T>(
        &self,
        stage: &'static str,
        step: impl Future<Output = Result<T, OpenError>>,
    ) -> Result<T, OpenError> {
        timeout_at(self.deadline, step).await.unwrap_or_else(|_| {
            Err(OpenError::ConnectTimeout {
                address: self.address.clone(),
                after: self.limit,
                stage,
            })
        })
    }

    async fn tcp(&self, host: &str, port: u16) -> Result<TcpStream, OpenError> {
        let connect = async {
            connect_tcp(host, port)
                .await
                .map_err(|e| self.unreachable(&e))
        };
        self.in_time(SOCKET, connect).await
    }

    async fn start<S>(&self, stream: S) -> Result<Link, OpenError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Link::start(stream)
            .await
            .map_err(|error| handshake_failure(&self.address, &error))
    }

    /// The handshake: AUTH, PING, SELECT and CLIENT SETNAME, one after the other. A server that
    /// refuses (too many clients, protected mode) answers once and closes; in a pipeline its answer
    /// would be lost.
    ///
    /// PING is what proves that the other end is a Redis which answers now. After a call timed out,
    /// this keeps commands away from a server that accepts connections and does nothing: they fail as
    /// not sent instead of as unknown.
    async fn log_in(&self, link: &Link, login: &Login<'_>) -> Result<(), OpenError> {
        let unauthenticated = |error| OpenError::Unauthenticated {
            address: self.address.clone(),
            error,
        };
        let refused = |error| OpenError::Refused {
            address: self.address.clone(),
            error,
        };

        if let Some(credentials) = login.credentials {
            let mut command = redis::cmd("AUTH");
            if let Some(user) = &credentials.user {
                command.arg(user);
            }
            command.arg(&credentials.password);
            ask(link, &command, &self.address).await?.map_err(|error| {
                if is_about_login(&error) {
                    unauthenticated(error)
                } else {
                    refused(error)
                }
            })?;
        }
        if let Err(error) = ask(link, &redis::cmd("PING"), &self.address).await? {
            if error.code == "NOAUTH" {
                return Err(unauthenticated(error));
            }
            if !is_passing(&error) {
                return Err(refused(error));
            }
        }
        if login.database != 0 {
            let mut command = redis::cmd("SELECT");
            command.arg(login.database);
            ask(link, &command, &self.address).await?.map_err(refused)?;
        }
        // A courtesy to whoever reads CLIENT LIST; a server that forbids it is fine.
        let mut command = redis::cmd("CLIENT");
        command.arg("SETNAME").arg(login.name);
        let _named = ask(link, &command, &self.address).await?;
        Ok(())
    }

    fn unreachable(&self, error: &io::Error) -> OpenError {
        OpenError::Unreachable {
            address: self.address.clone(),
            reason: describe_io(error),
        }
    }
}

async fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let socket = TcpStream::connect((host, port)).await?;
    // redis-rs leaves Nagle's algorithm on, which costs a small command behind another one up to
    // 40 ms.
    socket.set_nodelay(true)?;
    let options = SockRef::from(&socket);
    let keepalive = TcpKeepalive::new()
        .with_time(PEER_SILENCE_LIMIT / 2)
        .with_interval(PEER_SILENCE_LIMIT / 6);
    options.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    options.set_tcp_user_timeout(Some(PEER_SILENCE_LIMIT))?;
    Ok(socket)
}

/// Sends one command of the handshake.
async fn ask(
    link: &Link,
    command: &Cmd,
    address: &str,
) -> Result<Result<Value, ServerError>, OpenError> {
    let send = |mut sender: MultiplexedConnection| async move {
        sender.send_packed_command(command).await
    };
    match link.exchange(send).await {
        Ok(Value::ServerError(error)) => Ok(Err(reply::server_error(&error))),
        Ok(reply) => Ok(Ok(reply)),
        Err(error) => Err(match link.refusal() {
            Some(error) => OpenError::Refused {
                address: address.to_owned(),
                error,
            },
            None => handshake_failure(address, &error),
        }),
    }
}

/// Redis 6 and later say `WRONGPASS`; before, and for AUTH without any password configured, the
/// code is `ERR`.
fn is_about_login(error: &ServerError) -> bool {
    let text = error.message.to_ascii_lowercase();
    matches!(error.code.as_str(), "WRONGPASS" | "NOAUTH" | "NOPERM")
        || (error.code == "ERR" && (text.contains("password") || text.contains("auth")))
}

/// Errors of PING that concern commands, not the connection: the commands will hear them too.
fn is_passing(error: &ServerError) -> bool {
    matches!(
        error.code.as_str(),
        "NOPERM" | "LOADING" | "BUSY" | "MASTERDOWN"
    )
}

fn handshake_failure(address: &str, error: &redis::RedisError) -> OpenError {
    let address = address.to_owned();
    if error.kind() == redis::ErrorKind::Parse {
        OpenError::NotRedis { address }
    } else {
        OpenError::Unreachable {
            address,
            reason: "the connection was closed during the handshake".into(),
        }
    }
}
