//! Starting and stopping `redis-server`.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const START_LIMIT: Duration = Duration::from_secs(20);

/// Another process may take a free port before the server does.
const PORT_ATTEMPTS: usize = 5;

/// A port of 127.0.0.1 on which nothing listened a moment ago.
///
/// # Panics
///
/// If the system has none.
pub fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port on 127.0.0.1")
        .port()
}

/// How to start a [`RedisServer`].
#[derive(Clone, Debug, Default)]
pub struct RedisServerBuilder {
    password: Option<String>,
    config: Vec<String>,
    durable: bool,
}

impl RedisServerBuilder {
    /// Requires this password of the default user.
    #[must_use]
    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self
    }

    /// Adds a configuration directive with its value, such as `maxmemory` and `2mb`.
    #[must_use]
    pub fn config(mut self, name: &str, value: &str) -> Self {
        self.config.extend([format!("--{name}"), value.to_owned()]);
        self
    }

    /// Writes every command to disk before its reply, so that data survives
    /// [`kill9`](RedisServer::kill9). Without this a restarted server is empty.
    #[must_use]
    pub fn durable(mut self) -> Self {
        self.durable = true;
        self
    }

    /// Starts the server and waits until it answers.
    ///
    /// # Panics
    ///
    /// If `redis-server` is not installed or does not start.
    pub fn start(self) -> RedisServer {
        let directory = TempDir::new().expect("a temporary directory");
        let mut server = RedisServer {
            builder: self,
            directory,
            port: 0,
            child: None,
        };
        for _ in 0..PORT_ATTEMPTS {
            server.port = free_port();
            if server.spawn() {
                return server;
            }
        }
        panic!(
            "redis-server did not start on any of {PORT_ATTEMPTS} ports:\n{}",
            server.log()
        );
    }
}

/// A `redis-server` process of its own, on a free port of 127.0.0.1 and with its files in a
/// temporary directory. It is killed when this is dropped.
#[derive(Debug)]
pub struct RedisServer {
    builder: RedisServerBuilder,
    directory: TempDir,
    port: u16,
    child: Option<Child>,
}

impl RedisServer {
    /// Starts an empty server without password or persistence.
    ///
    /// # Panics
    ///
    /// If `redis-server` is not installed or does not start.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A server with options.
    pub fn builder() -> RedisServerBuilder {
        RedisServerBuilder::default()
    }

    /// Its TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address, with the password if it has one.
    pub fn url(&self) -> String {
        let login = self
            .builder
            .password
            .as_ref()
            .map(|password| format!(":{password}@"));
        format!(
            "redis://{}127.0.0.1:{}/0",
            login.unwrap_or_default(),
            self.port
        )
    }

    /// Its socket file.
    pub fn unix_socket(&self) -> PathBuf {
        self.directory.path().join("redis.sock")
    }

    /// Kills the process in the hardest way (SIGKILL) and waits until it is gone.
    pub fn kill9(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Both fail only if the process is gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts the server again on the same port, with the same directory, killing it first if it
    /// runs. Its data is there again only if it is [`durable`](RedisServerBuilder::durable).
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn restart(&mut self) {
        self.kill9();
        assert!(
            self.spawn(),
            "redis-server did not start again:\n{}",
            self.log()
        );
    }

    /// Stops the process without closing anything (SIGSTOP): connections stay, nothing answers.
    ///
    /// # Panics
    ///
    /// If the process does not run.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets a frozen process go on.
    ///
    /// # Panics
    ///
    /// If the process does not run.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let child = self.child.as_ref().expect("the server runs");
        let status = Command::new("kill")
            .arg(signal)
            .arg(child.id().to_string())
            .status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "kill {signal} failed"
        );
    }

    /// Whether it runs and answers in the end; a taken port is the usual reason why not.
    fn spawn(&mut self) -> bool {
        let log = std::fs::File::create(self.directory.path().join("log")).expect("a log file");
        let mut command = Command::new("redis-server");
        command
            .args(["--bind", "127.0.0.1", "--save", ""])
            .args(["--port", &self.port.to_string()])
            .args([
                "--appendonly",
                if self.builder.durable { "yes" } else { "no" },
            ])
            .args(["--appendfsync", "always"])
            .arg("--dir")
            .arg(self.directory.path())
            .arg("--unixsocket")
            .arg(self.unix_socket())
            .args(&self.builder.config)
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("a log file"))
            .stdout(log);
        if let Some(password) = &self.builder.password {
            command.args(["--requirepass", password]);
        }
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("cannot start redis-server ({error}); it must be on the PATH: run `make setup`")
        });
        let limit = Instant::now() + START_LIMIT;
        while Instant::now() < limit && matches!(child.try_wait(), Ok(None)) {
            if self.answers() {
                self.child = Some(child);
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let _ = child.wait();
        false
    }

    /// Any reply to PING will do (it may be NOAUTH), except that it is still loading.
    fn answers(&self) -> bool {
        let ask = || -> std::io::Result<[u8; 5]> {
            let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            socket.set_read_timeout(Some(Duration::from_secs(1)))?;
            socket.write_all(b"PING\r\n")?;
            let mut reply = [0; 5];
            socket.read_exact(&mut reply)?;
            Ok(reply)
        };
        ask().is_ok_and(|reply| &reply == b"+PONG" || &reply == b"-NOAU")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill9();
    }
}
