//! The channel about a message that was typed into a host and waits there for the driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A message typed into the host, which waits for the driver's answer.
#[derive(Debug)]
pub struct TypedMessage {
    /// The message.
    pub text: String,
    /// The channel for the driver's replies.
    pub answer: HoldReplySender,
}

/// The driver's end of the channel about a held message. Dropping it releases the message.
#[derive(Debug)]
pub struct HoldReplySender {
    replies: UnboundedSender<HoldReply>,
    is_orphaned: Arc<AtomicBool>,
}

/// The sender's end of the channel about a held message. Dropping it means that the message went to the agent, or that the
/// user has it back.
#[derive(Debug)]
pub struct HoldReplies {
    replies: UnboundedReceiver<HoldReply>,
    is_orphaned: Arc<AtomicBool>,
}

/// A channel about one message.
pub fn hold_channel() -> (HoldReplySender, HoldReplies) {
    let (send, replies) = unbounded_channel();
    let is_orphaned = Arc::<AtomicBool>::default();
    let sender = HoldReplySender { replies: send, is_orphaned: Arc::clone(&is_orphaned) };
    (sender, HoldReplies { replies, is_orphaned })
}

/// A reply about a held message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReply {
    /// Keep holding it. Sent at least once per second.
    StillHeld,
    /// Release it.
    Go,
}

/// What the sender of a held message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SenderState {
    Holds,
    /// Gave it to the agent, or back to the user.
    Released,
    /// Ended with the user's screen. Only the driver has the message now.
    Orphaned,
}

impl HoldReplySender {
    /// Returns false if the sender no longer holds the message.
    pub(super) fn reply(&self, reply: HoldReply) -> bool {
        self.replies.send(reply).is_ok()
    }

    pub(super) fn sender(&self) -> SenderState {
        match (self.replies.is_closed(), self.is_orphaned.load(Ordering::Acquire)) {
            (false, _) => SenderState::Holds,
            (true, false) => SenderState::Released,
            (true, true) => SenderState::Orphaned,
        }
    }

    /// Waits until the sender holds the message no longer.
    pub(super) async fn released(&self) {
        self.replies.closed().await;
    }
}

impl HoldReplies {
    /// The driver's next reply. `None` if there will be none, which releases the message. Cancel safe.
    pub async fn next(&mut self) -> Option<HoldReply> {
        self.replies.recv().await
    }

    /// Accepts no further reply. Those that were sent can still be read.
    pub fn close(&mut self) {
        self.replies.close();
    }

    /// The user's screen ended, and this message did not reach the agent. The driver keeps it.
    pub fn orphan(self) {
        self.is_orphaned.store(true, Ordering::Release);
    }
}
