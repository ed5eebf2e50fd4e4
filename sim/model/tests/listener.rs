//! The server over TCP, byte by byte, as clients and vandals use it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use leaseline_redis_model::{Clock, Condition, Handle, Listener, Options, Profile, Server};
use tokio::sync::oneshot;

/// A listener on a free port, until it goes.
struct Service {
    address: SocketAddr,
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Service {
    fn start() -> Self {
        let server = Server::new(Options {
            profile: Profile::Redis70,
            clock: Clock::Wall,
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime
            .block_on(Listener::bind("127.0.0.1:0", server))
            .expect("a free port");
        let address = listener.address().expect("an address");
        let handle = listener.handle();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            runtime.block_on(listener.run(async move {
                let _ = stopped.await;
            }));
        });
        Service {
            address,
            handle,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn connect(&self) -> Peer {
        let socket = TcpStream::connect(self.address).expect("a connection");
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("a timeout");
        Peer(socket)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the listener ends well");
        }
    }
}

/// A client that sends what it likes.
struct Peer(TcpStream);

impl Peer {
    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).expect("a listener");
    }

    /// Reads exactly this.
    fn expect(&mut self, reply: &str) {
        let mut bytes = vec![0; reply.len()];
        self.0.read_exact(&mut bytes).expect(reply);
        assert_eq!(String::from_utf8_lossy(&bytes), reply);
    }

    /// Reads this and then the end of the connection.
    fn expect_last(&mut self, reply: &str) {
        let mut bytes = Vec::new();
        // What was sent and not read makes the end a rough one.
        let _ = self.0.read_to_end(&mut bytes);
        assert_eq!(String::from_utf8_lossy(&bytes), reply);
    }

    /// Asks again and again until the reply, a bulk string, ends like this.
    fn ask_until(&mut self, line: &str, end: &str) {
        let mut socket = BufReader::new(self.0.try_clone().expect("the same socket"));
        loop {
            self.send(format!("{line}\r\n"));
            let mut length = String::new();
            socket.read_line(&mut length).expect("a length");
            let length: usize = length[1..].trim_end().parse().expect("a length");
            let mut bytes = vec![0; length + 2];
            socket.read_exact(&mut bytes).expect("a bulk string");
            if bytes.ends_with(end.as_bytes()) {
                return;
            }
        }
    }

    fn ask(&mut self, line: &str, reply: &str) {
        self.send(format!("{line}\r\n"));
        self.expect(reply);
    }
}

#[test]
fn requests_are_answered_in_order() {
    let service = Service::start();
    let mut peer = service.connect();
    peer.send(
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING\r\n\r\n",
    );
    peer.expect("+OK\r\n$1\r\nv\r\n+PONG\r\n");
    for byte in b"*1\r\n$4\r\nPING\r\n" {
        peer.send([*byte]);
    }
    peer.expect("+PONG\r\n");
    peer.ask("QUIT", "+OK\r\n");
    peer.expect_last("");
}

/// Many requests before the first reply is read: more than sockets hold.
#[test]
fn a_long_pipeline_gets_through() {
    const REQUESTS: usize = 20_000;
    let service = Service::start();
    let mut peer = service.connect();
    let text = "x".repeat(1000);
    let request = format!("*2\r\n$4\r\nECHO\r\n$1000\r\n{text}\r\n");
    peer.send(request.repeat(REQUESTS));
    let reply = format!("$1000\r\n{text}\r\n");
    for _ in 0..REQUESTS {
        peer.expect(&reply);
    }
}

#[test]
fn vandals_are_told_and_cut_off_alone() {
    let service = Service::start();
    let mut bystander = service.connect();
    let long = "1".repeat(70_000);
    for (bytes, reply) in [
        ("*1\r\n:5\r\n", "expected '$', got ':'"),
        ("*1\r\n\r\n", "expected '$', got ' '"),
        ("*2\r\n$4\r\nECHO\r\n*1\r\n", "expected '$', got '*'"),
        ("*x\r\n", "invalid multibulk length"),
        ("*99999999999\r\n", "invalid multibulk length"),
        ("*1\r\n$-1\r\n", "invalid bulk length"),
        ("*1\r\n$999999999999\r\n", "invalid bulk length"),
        ("GET \"a\r\n", "unbalanced quotes in request"),
        (&*long, "too big inline request"),
        (&*format!("*{long}"), "too big mbulk count string"),
        (&*format!("*1\r\n${long}"), "too big bulk count string"),
    ] {
        let mut vandal = service.connect();
        vandal.send(bytes);
        vandal.expect_last(&format!("-ERR Protocol error: {reply}\r\n"));
        bystander.ask("PING", "+PONG\r\n");
    }
    // What came whole before the garbage counts.
    let mut late = service.connect();
    late.send("SET k v\r\n*1\r\n$x\r\nSET k w\r\n");
    late.expect_last("+OK\r\n-ERR Protocol error: invalid bulk length\r\n");
    bystander.ask("GET k", "$1\r\nv\r\n");
}

/// What came in one piece with such a word has run, and is not answered any more.
#[test]
fn browsers_are_cut_off_without_a_word() {
    let service = Service::start();
    for request in [
        "POST / HTTP/1.1\r\n",
        "post\r\n",
        "*1\r\n$5\r\nhost:\r\n",
        "MULTI\r\nHost: x\r\nEXEC\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "SET k v\r\nPOST x\r\nSET k w\r\n",
    ] {
        let mut browser = service.connect();
        browser.send(request);
        browser.expect_last("");
    }
    let mut slow = service.connect();
    slow.ask(
        "GET / HTTP/1.1",
        "-ERR wrong number of arguments for 'get' command\r\n",
    );
    slow.send("Host: localhost\r\n");
    slow.expect_last("");
    let mut other = service.connect();
    other.ask("GET k", "$1\r\nv\r\n");
    other.ask(
        "HOST:x",
        "-ERR unknown command 'HOST:x', with args beginning with: \r\n",
    );
}

#[test]
fn half_a_request_does_nothing() {
    let service = Service::start();
    let mut peer = service.connect();
    for half in [
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv",
        "*2147483647\r\n$3\r\nSET\r\n",
        "SET k v",
    ] {
        service.connect().send(half);
        peer.ask("EXISTS k", ":0\r\n");
    }
}

#[test]
fn what_a_waiting_client_sends_waits_too() {
    let service = Service::start();
    let mut peer = service.connect();
    peer.send("WAIT 1 30\r\nPING\r\n");
    peer.expect(":0\r\n+PONG\r\n");
    peer.send("WAIT 1 0\r\nPING\r\n");
    let mut other = service.connect();
    other.ask_until("INFO clients", "blocked_clients:1\r\n\r\n");
    other.ask("CLIENT UNBLOCK 2 ERROR", ":1\r\n");
    peer.expect("-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n+PONG\r\n");
}

#[test]
fn a_client_that_left_waits_for_nothing() {
    let service = Service::start();
    let mut waiting = service.connect();
    waiting.send("WAIT 1 0\r\n");
    drop(waiting);
    let mut other = service.connect();
    other.ask_until(
        "INFO clients",
        "connected_clients:1\r\nblocked_clients:0\r\n\r\n",
    );
}

/// Reading goes on while a client waits, however much it sends.
#[test]
fn a_client_that_left_much_unread_waits_for_nothing() {
    let service = Service::start();
    let mut waiting = service.connect();
    waiting.send("BLPOP q 0\r\n");
    waiting.send("RPUSH ran x\r\n".repeat(400_000));
    drop(waiting);
    let mut other = service.connect();
    other.ask_until(
        "INFO clients",
        "connected_clients:1\r\nblocked_clients:0\r\n\r\n",
    );
    other.ask("RPUSH q x", ":1\r\n");
    other.ask("LLEN q", ":1\r\n");
    other.ask("EXISTS ran", ":0\r\n");
}

#[test]
fn messages_go_to_those_who_listen() {
    let service = Service::start();
    let (mut one, mut two) = (service.connect(), service.connect());
    one.ask("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    two.ask("PUBLISH c hi", ":1\r\n");
    one.expect("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n");
    two.ask("CLIENT KILL TYPE pubsub", ":1\r\n");
    one.expect_last("");
}

#[test]
fn strangers_may_not_send_much() {
    let service = Service::start();
    service
        .handle
        .with(|server| server.set_password(Some(b"secret")));
    let mut peer = service.connect();
    peer.ask("GET k", "-NOAUTH Authentication required.\r\n");
    peer.ask("AUTH secret", "+OK\r\n");
    peer.ask("GET k", "$-1\r\n");
    let mut stranger = service.connect();
    stranger.send("*11\r\n");
    stranger.expect_last("-ERR Protocol error: unauthenticated multibulk length\r\n");
}

#[test]
fn a_test_can_put_the_server_into_trouble() {
    let service = Service::start();
    let mut peer = service.connect();
    service
        .handle
        .with(|server| server.impose(Condition::ReadOnly));
    peer.ask(
        "SET k v",
        "-READONLY You can't write against a read only replica.\r\n",
    );
    service
        .handle
        .with(|server| server.lift(Condition::ReadOnly));
    peer.ask("SET k v", "+OK\r\n");
}
