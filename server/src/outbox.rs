//! The only way out: whole messages, in the order in which they were put in. Writing them is the connection's part.

use rawr_protocol::Notification;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Beyond this a client is taken to have stopped reading; it is told of nothing more until it reads again.
const NOTIFICATION_LIMIT: usize = 8 << 20;

fn notification<N: Notification>(params: &N::Params) -> Box<[u8]> {
    let message = serde_json::json!({ "jsonrpc": "2.0", "method": N::METHOD, "params": params });
    message.to_string().into_bytes().into()
}

#[derive(Debug, Clone, Default)]
pub struct Outbox {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// The connection looks for itself while it is at work; it is woken only where it waits.
    waiting: AtomicBool,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Box<[u8]>>,
    bytes: usize,
    dropped: u64,
}

impl Outbox {
    /// For answers: each request gets one, whatever else.
    pub fn send(&self, message: Box<[u8]>) {
        let mut queue = self.queue();
        queue.bytes += message.len();
        queue.messages.push_back(message);
        drop(queue);
        if self.shared.waiting.swap(false, Ordering::AcqRel) {
            self.shared.filled.notify_one();
        }
    }

    /// A client that does not read loses notifications, never answers or orders: it can ask for the state by request.
    pub fn notify<N: Notification>(&self, params: &N::Params) {
        self.notify_raw(notification::<N>(params));
    }

    /// What the client has to do something about, and is not told again. It waits as long as answers do; there is little
    /// of it, because each follows from something that the client said.
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

    /// Asks the client for something. Its answer comes to the connection.
    pub fn ask(&self, id: &str, method: &str, params: &serde_json::Value) {
        let mut message = serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            message["params"] = params.clone();
        }
        self.send(message.to_string().into_bytes().into());
    }

    /// What a language client is told, whose payloads are not of our protocol.
    pub fn tell(&self, method: &str, params: &serde_json::Value) {
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
                "the client did not read; notifications were dropped"
            );
            queue.dropped = 0;
        }
        Some(message)
    }

    /// Bytes that wait to be written.
    pub fn backlog(&self) -> usize {
        self.queue().bytes
    }

    /// Resolves once something is put in while this is waited for.
    pub async fn filled(&self) {
        self.shared.waiting.store(true, Ordering::Release);
        self.shared.filled.notified().await;
    }

    /// The connection is at work again.
    pub fn stop_waking(&self) {
        self.shared.waiting.store(false, Ordering::Release);
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
