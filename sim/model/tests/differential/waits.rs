//! Clients that wait for streams, on both servers side by side.

use leaseline_redis_model::{ClientId, Protocol, Reply, Server};

use crate::random::Random;
use crate::real_server::RealServer;
use crate::wire::Wire;

/// One client of both servers.
struct Client {
    model: ClientId,
    real: Wire,
    protocol: Protocol,
    waits: bool,
    /// Calls of a transaction that are still to come.
    planned: Vec<Vec<String>>,
}

/// Some clients, some of which wait.
pub(crate) struct Waits {
    clients: Vec<Client>,
}

impl Waits {
    pub(crate) fn new(model: &mut Server, real: &RealServer, random: &mut Random) -> Self {
        let mut clients: Vec<_> = (0..4)
            .map(|_| Client {
                model: model.connect(),
                real: real.connect().expect("another connection"),
                protocol: Protocol::Resp2,
                waits: false,
                planned: Vec::new(),
            })
            .collect();
        for client in clients.iter_mut().filter(|_| random.one_in(3)) {
            let hello: [&[u8]; 2] = [b"HELLO", b"3"];
            model.call(client.model, &hello);
            client.real.call(&hello).expect("the real server's answer");
            client.protocol = Protocol::Resp3;
        }
        Waits { clients }
    }

    /// Lets a client that does not wait make a call, and compares what every client gets.
    pub(crate) fn step(
        &mut self,
        model: &mut Server,
        real: &mut RealServer,
        random: &mut Random,
        context: &str,
    ) {
        // The last one never waits, so that there is always somebody to go on.
        let last = self.clients.len() - 1;
        let chosen = random.below(self.clients.len());
        let chosen = match self.clients[chosen].waits {
            true => last,
            false => chosen,
        };
        let client = &mut self.clients[chosen];
        let words = match client.planned.pop() {
            Some(words) => words,
            None if chosen != last && random.one_in(2) => reading(random),
            None if random.one_in(6) => {
                client.planned.push(vec!["EXEC".to_owned()]);
                for _ in 0..=random.below(3) {
                    client.planned.push(writing(random));
                }
                vec!["MULTI".to_owned()]
            }
            None => writing(random),
        };
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        client.real.send(&argv).expect("a call");
        model.submit(client.model, &argv);
        client.waits = true;
        let mut replies = model.take_replies();
        // The first may be answered in the same round of the server as the call; by the time of
        // the second, everybody has been.
        real.execute(&[b"PING"]);
        real.execute(&[b"PING"]);
        for (number, client) in self.clients.iter_mut().enumerate() {
            let of_client = |(id, _): &(ClientId, Reply)| *id == client.model;
            let model = replies.iter().position(of_client);
            let model = model.map(|at| replies.remove(at).1);
            let real = client
                .real
                .reply_if_any()
                .expect("the real server's answer");
            let bytes =
                |reply: &Option<Reply>| reply.as_ref().map(|reply| reply.to_bytes(client.protocol));
            assert!(
                bytes(&real) == bytes(&model),
                "{context}\n call of client {chosen}: {}\n to client {number}\n real: {real:?}\nmodel: {model:?}",
                words.join(" ")
            );
            client.waits &= real.is_none();
        }
        assert!(replies.is_empty(), "{context}\nmore replies: {replies:?}");
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// A call that may wait.
fn reading(random: &mut Random) -> Vec<String> {
    split(random.pick(&[
        "XREAD BLOCK 0 STREAMS k1 $",
        "XREAD BLOCK 0 COUNT 1 STREAMS k1 $",
        "XREAD BLOCK 0 STREAMS k1 k2 $ $",
        "XREAD BLOCK 0 STREAMS k2 k1 3-0 $",
        "XREAD COUNT 2 BLOCK 0 STREAMS k1 9-1",
        "XREADGROUP GROUP g c BLOCK 0 STREAMS k1 >",
        "XREADGROUP GROUP g d BLOCK 0 COUNT 1 STREAMS k1 >",
        "XREADGROUP GROUP g c BLOCK 0 NOACK STREAMS k1 >",
        "XREADGROUP GROUP g c BLOCK 0 STREAMS k1 k2 > >",
        "XREADGROUP GROUP g d BLOCK 0 STREAMS k2 k1 > >",
        "XREADGROUP GROUP h e BLOCK 0 STREAMS k1 >",
        "XREADGROUP GROUP g c BLOCK 0 STREAMS k1 0",
        "xreadgroup GROUP g c BLOCK 0 STREAMS k2 >",
    ]))
}

/// A call that may serve somebody who waits, or looks at what came of it.
fn writing(random: &mut Random) -> Vec<String> {
    let call = random.pick(&[
        "XADD K 1-* a 1",
        "XADD K 2-* a 1",
        "XADD K 3-* a 1",
        "XADD K 9-* a 1",
        "XADD K 9-* a 2",
        "XADD K MAXLEN 0 9-* a 2",
        "XADD K MAXLEN 2 9-* a 2",
        "XGROUP CREATE K g 0",
        "XGROUP CREATE K g $ MKSTREAM",
        "XGROUP CREATE K h 0 MKSTREAM",
        "XGROUP SETID K g 0",
        "XGROUP SETID K g 9-5",
        "XGROUP SETID K g $",
        "XGROUP DESTROY K g",
        "XGROUP DESTROY K h",
        "XGROUP DELCONSUMER K g c",
        "XGROUP CREATECONSUMER K g c",
        "XDEL K 9-0",
        "XDEL K 9-1 9-2 9-3",
        "XTRIM K MAXLEN 0",
        "XTRIM K MAXLEN 1",
        "XSETID K 9-9",
        "XINFO GROUPS K",
        "XINFO STREAM K",
        "XPENDING K g",
        "XREADGROUP GROUP g c STREAMS K >",
        "XREADGROUP GROUP g d COUNT 1 STREAMS K >",
        "XREADGROUP GROUP h c STREAMS K >",
        "XCLAIM K g d 0 9-1 9-2 LASTID 9-2",
        "EVAL redis.call('XADD',KEYS[1],'9-*','a','3')redis.call('XDEL',KEYS[1],'9-4') 1 K",
        "EVAL redis.call('XADD',KEYS[1],'9-*','a','3')return(redis.call('XADD',KEYS[1],'9-*','a','4')) 1 K",
        "FLUSHALL",
    ]);
    split(&call.replace(" K", random.pick(&[" k1", " k1", " k2"])))
}
