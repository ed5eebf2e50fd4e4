//! One proxied connection.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::types::BytesFrame;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::broadcast;

use super::proxy::{Order, Shared};
use super::rule::{Cut, Fault};

/// After a FIN the client gets this long to close its side; closing ours with unread bytes would
/// turn the FIN into a RST.
const FIN_PATIENCE: Duration = Duration::from_secs(5);

/// Room for each read.
const CHUNK: usize = 64 * 1024;

/// What to do when the next reply is due.
enum Due {
    Deliver,
    DeliverAfter(Duration),
    Swallow,
    Cut(Cut),
    Stall,
}

/// How a connection ends.
enum End {
    Closed,
    Cut(Cut),
    Stall,
}

pub(crate) struct Tunnel {
    client: TcpStream,
    server: TcpStream,
    requests: BytesMut,
    replies: BytesMut,
    due: VecDeque<Due>,
    /// Set when the fate of the connection is decided: no more requests are taken.
    deaf: bool,
    shared: Arc<Shared>,
}

impl Tunnel {
    pub(crate) fn new(client: TcpStream, server: TcpStream, shared: Arc<Shared>) -> Self {
        // Failing to set an option costs a delay only.
        let _ = client.set_nodelay(true);
        let _ = server.set_nodelay(true);
        let (requests, replies) = (BytesMut::new(), BytesMut::new());
        Self {
            client,
            server,
            requests,
            replies,
            due: VecDeque::new(),
            deaf: false,
            shared,
        }
    }

    pub(crate) async fn run(mut self, mut orders: broadcast::Receiver<Order>, silent: bool) {
        let end = if silent {
            End::Stall
        } else {
            self.forward(&mut orders)
                .await
                .unwrap_or(End::Cut(Cut::Reset))
        };
        match end {
            End::Closed => {}
            End::Cut(cut) => self.cut(cut).await,
            End::Stall => self.stall(&mut orders).await,
        }
    }

    async fn forward(&mut self, orders: &mut broadcast::Receiver<Order>) -> io::Result<End> {
        loop {
            match self.due.front() {
                Some(Due::Cut(cut)) => return Ok(End::Cut(*cut)),
                Some(Due::Stall) => return Ok(End::Stall),
                _ => {}
            }
            self.requests.reserve(CHUNK);
            self.replies.reserve(CHUNK);
            tokio::select! {
                order = orders.recv() => match order {
                    Ok(Order::Cut(cut)) => return Ok(End::Cut(cut)),
                    Ok(Order::Stall) => return Ok(End::Stall),
                    Err(_) => return Ok(End::Closed),
                },
                count = self.client.read_buf(&mut self.requests), if !self.deaf => {
                    if count? == 0 {
                        return Ok(End::Closed);
                    }
                    self.gather_requests();
                    self.take_requests().await?;
                }
                count = self.server.read_buf(&mut self.replies) => {
                    if count? == 0 {
                        return Ok(End::Cut(Cut::Finish));
                    }
                    self.take_replies().await?;
                }
            }
        }
    }

    /// Takes what else has arrived, so that "the requests behind it" are those that were sent in
    /// one go with it.
    fn gather_requests(&mut self) {
        loop {
            self.requests.reserve(CHUNK);
            // An end or an error shows again at the next awaited read.
            if !matches!(self.client.try_read_buf(&mut self.requests), Ok(1..)) {
                return;
            }
        }
    }

    async fn take_requests(&mut self) -> io::Result<()> {
        let mut losing = None;
        while let Some((frame, raw)) = next_frame(&mut self.requests)? {
            if losing.is_some() {
                self.shared.meet(&command_name(&frame));
                self.send(&raw, Due::Swallow).await?;
                continue;
            }
            match self.shared.meet(&command_name(&frame)) {
                None => self.send(&raw, Due::Deliver).await?,
                Some(Fault::DelayReply(delay)) => {
                    self.send(&raw, Due::DeliverAfter(delay)).await?;
                }
                Some(Fault::Repeat) => {
                    self.send(&raw, Due::Deliver).await?;
                    self.send(&raw, Due::Swallow).await?;
                }
                Some(Fault::LoseReply(cut)) => {
                    self.send(&raw, Due::Swallow).await?;
                    losing = Some(cut);
                }
                Some(Fault::LoseReplyAndRest(cut)) => {
                    self.send(&raw, Due::Swallow).await?;
                    return self.finish_with(Due::Cut(cut));
                }
                Some(Fault::CutBefore(cut)) => return self.finish_with(Due::Cut(cut)),
                Some(Fault::CutInside(cut)) => {
                    self.server.write_all(&raw[..raw.len() / 2]).await?;
                    return self.finish_with(Due::Cut(cut));
                }
                Some(Fault::StallBefore) => return self.finish_with(Due::Stall),
                Some(Fault::StallReply) => {
                    self.send(&raw, Due::Swallow).await?;
                    return self.finish_with(Due::Stall);
                }
            }
        }
        if let Some(cut) = losing {
            self.finish_with(Due::Cut(cut))?;
        }
        Ok(())
    }

    async fn send(&mut self, request: &[u8], due: Due) -> io::Result<()> {
        self.due.push_back(due);
        self.server.write_all(request).await
    }

    fn finish_with(&mut self, last: Due) -> io::Result<()> {
        self.due.push_back(last);
        self.deaf = true;
        Ok(())
    }

    async fn take_replies(&mut self) -> io::Result<()> {
        // Replies behind a cut or a stall stay where they are.
        while !matches!(self.due.front(), Some(Due::Cut(_) | Due::Stall)) {
            let Some((_, raw)) = next_frame(&mut self.replies)? else {
                return Ok(());
            };
            match self.due.pop_front() {
                Some(Due::Swallow) => continue,
                Some(Due::DeliverAfter(delay)) => tokio::time::sleep(delay).await,
                // A reply nobody asked for (too many clients) is delivered too.
                _ => {}
            }
            self.client.write_all(&raw).await?;
        }
        Ok(())
    }

    async fn cut(mut self, cut: Cut) {
        drop(self.server);
        match cut {
            Cut::Reset => {
                // Nothing to be done if the client was faster.
                let _ = self.client.set_zero_linger();
            }
            Cut::Finish => {
                let drain = async {
                    self.client.shutdown().await?;
                    while self.client.read_buf(&mut self.requests).await? > 0 {
                        self.requests.clear();
                    }
                    io::Result::Ok(())
                };
                let _ = tokio::time::timeout(FIN_PATIENCE, drain).await;
            }
        }
    }

    /// Takes whatever the client sends and answers nothing, until it goes away.
    async fn stall(mut self, orders: &mut broadcast::Receiver<Order>) {
        loop {
            self.requests.clear();
            tokio::select! {
                count = self.client.read_buf(&mut self.requests) => if !matches!(count, Ok(1..)) {
                    return;
                },
                order = orders.recv() => match order {
                    Ok(Order::Cut(cut)) => return self.cut(cut).await,
                    Ok(Order::Stall) => {}
                    Err(_) => return,
                },
            }
        }
    }
}

/// The next whole frame and its bytes.
fn next_frame(buffer: &mut BytesMut) -> io::Result<Option<(BytesFrame, Bytes)>> {
    match decode_bytes_mut(buffer) {
        Ok(found) => Ok(found.map(|(frame, _, raw)| (frame, raw))),
        Err(error) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            error.to_string(),
        )),
    }
}

/// The command's name in capitals; empty for what is no command.
fn command_name(frame: &BytesFrame) -> String {
    match frame {
        BytesFrame::Array(arguments) => match arguments.first() {
            Some(BytesFrame::BulkString(name)) => {
                String::from_utf8_lossy(name).to_ascii_uppercase()
            }
            _ => String::new(),
        },
        _ => String::new(),
    }
}
