//! The queue of outgoing messages, in order. The connection writes them.

use futures::task::AtomicWaker;
use rawr_protocol::Notification;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

/// Above this size, the client counts as not reading and gets no notifications until it reads again.
const NOTIFICATION_LIMIT: usize = 8 << 20;

fn notification<N: Notification>(params: &N::Params) -> Box<[u8]> {
    let message = serde_json::json!({ "jsonrpc": "2.0", "method": N::METHOD, "params": params });
    message.to_string().into_bytes().into()
}

#[derive(Debug, Clone, Default)]
pub struct Outbox {
    shared: Arc<OutboxState>,
}

#[derive(Debug, Default)]
struct OutboxState {
    queue: Mutex<MessageQueue>,
    /// The connection, while it waits. While it is busy, it looks by itself.
    connection: AtomicWaker,
}

#[derive(Debug, Default)]
struct MessageQueue {
    messages: VecDeque<Box<[u8]>>,
    bytes: usize,
    dropped: u64,
}

impl Outbox {
    /// For answers: each request gets one in any case.
    pub fn send(&self, message: Box<[u8]>) {
        let mut queue = self.queue();
        queue.bytes += message.len();
        queue.messages.push_back(message);
        drop(queue);
        self.shared.connection.wake();
    }

    /// A client that does not read loses notifications, but never answers or orders. It can ask for the state with a
    /// request.
    pub fn notify<N: Notification>(&self, params: &N::Params) {
        self.notify_raw(notification::<N>(params));
    }

    /// Sends a notification that the client must act on and that is not repeated. It is never dropped. There are few,
    /// because each follows from something that the client sent.
    pub fn order<N: Notification>(&self, params: &N::Params) {
        self.send(notification::<N>(params));
    }

    fn notify_raw(&self, message: Box<[u8]>) {
        if self.queue().bytes > NOTIFICATION_LIMIT {
            self.queue().dropped += 1;
            return;
        }
        self.send(message);
    }

    /// Sends a request to the client. The connection gets its answer.
    pub fn ask(&self, id: &str, method: &str, params: &serde_json::Value) {
        let mut message = serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            message["params"] = params.clone();
        }
        self.send(message.to_string().into_bytes().into());
    }

    /// Sends a notification of LSP, whose payload is not of our protocol.
    pub fn notify_lsp(&self, method: &str, params: &serde_json::Value) {
        let message = serde_json::json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.notify_raw(message.to_string().into_bytes().into());
    }

    pub fn take(&self) -> Option<Box<[u8]>> {
        let mut queue = self.queue();
        let message = queue.messages.pop_front()?;
        queue.bytes -= message.len();
        if queue.messages.is_empty() && queue.dropped > 0 {
            tracing::warn!(
                dropped = queue.dropped,
                "dropped notifications because the client does not read"
            );
            queue.dropped = 0;
        }
        Some(message)
    }

    /// The number of bytes that wait to be written.
    pub fn backlog(&self) -> usize {
        self.queue().bytes
    }

    /// Resolves once there is a message. Other threads add messages too, so one may have come since the last look.
    pub async fn filled(&self) {
        poll_fn(|context| {
            self.shared.connection.register(context.waker());
            if self.queue().messages.is_empty() { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    /// Called when the connection is busy again.
    pub fn stop_waking(&self) {
        drop(self.shared.connection.take());
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, MessageQueue> {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn a_message_is_noticed_whether_it_comes_before_or_while_it_is_waited_for() {
        let outbox = Outbox::default();
        outbox.send(Box::from(*b"before"));
        assert!(outbox.filled().now_or_never().is_some());
        outbox.take();
        let other = outbox.clone();
        let (filled, ()) = tokio::join!(
            tokio::time::timeout(std::time::Duration::from_secs(30), outbox.filled()),
            async move {
                tokio::task::yield_now().await;
                std::thread::spawn(move || other.send(Box::from(*b"meanwhile"))).join().unwrap();
            }
        );
        assert!(filled.is_ok());
    }
}
