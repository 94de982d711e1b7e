//! The messages that wait: those that the sidecar holds, and those that were typed into the host and not looked at yet.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::typed::{HoldReply, HoldReplySender, SenderState, TypedMessage};

/// Interval of the replies that keep a message held.
pub(super) const HOLD_RENEWAL: Duration = Duration::from_secs(1);

/// Prefix of an input id. The time follows.
const INPUT: &str = "input-";

/// A held user message.
#[derive(Debug)]
pub(super) struct HeldMessage {
    pub(super) input_id: String,
    pub(super) text: String,
    /// Present if its sender holds it.
    pub(super) sender: Option<HoldReplySender>,
}

/// The messages of a session that wait for something.
#[derive(Debug, Default)]
pub(super) struct HeldMessages {
    /// Messages that the sidecar holds and will deliver, in order.
    held: Vec<HeldMessage>,
    /// Messages that arrived. They are handled after all earlier events of the host.
    typed: VecDeque<TypedMessage>,
    /// When the senders were last told to keep holding.
    renewed_at: Option<Instant>,
    /// Messages that were delivered without the sidecar. If it asks for their delivery later, they are skipped.
    delivered: HashSet<String>,
    submitted: u64,
}

impl HeldMessages {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(super) fn hold(&mut self, message: HeldMessage) {
        self.held.push(message);
    }

    /// Holds it before all others, because its delivery is tried again.
    pub(super) fn hold_first(&mut self, message: HeldMessage) {
        self.held.insert(0, message);
    }

    pub(super) fn has(&self, input_id: &str) -> bool {
        self.held.iter().any(|held| held.input_id == input_id)
    }

    pub(super) fn remove(&mut self, input_id: &str) -> Option<HeldMessage> {
        let at = self.held.iter().position(|held| held.input_id == input_id)?;
        Some(self.held.remove(at))
    }

    /// Removes it if its sender holds it.
    pub(super) fn remove_from_sender(&mut self, input_id: &str) -> Option<HeldMessage> {
        self.adopt_orphans();
        let is_its = |held: &HeldMessage| held.input_id == input_id && held.sender.is_some();
        let at = self.held.iter().position(is_its)?;
        Some(self.held.remove(at))
    }

    pub(super) fn take_all(&mut self) -> Vec<HeldMessage> {
        std::mem::take(&mut self.held)
    }

    pub(super) fn clear(&mut self) {
        self.held.clear();
    }

    /// Whether a sender holds one, and needs signs of life.
    pub(super) fn are_held_by_senders(&self) -> bool {
        self.held.iter().any(|held| held.sender.is_some())
    }

    /// Takes the messages that their senders hold.
    pub(super) fn take_from_senders(&mut self) -> Vec<HeldMessage> {
        self.adopt_orphans();
        self.held.extract_if(.., |held| held.sender.is_some()).collect()
    }

    /// From here on the driver holds the messages whose senders ended with the user's screen.
    fn adopt_orphans(&mut self) {
        for held in &mut self.held {
            held.sender.take_if(|sender| sender.sender() == SenderState::Orphaned);
        }
    }

    /// Renews the holds of the senders, once per second. Returns the messages that must be released: their senders
    /// released them, or they wait `in_vain`.
    pub(super) fn renew(&mut self, now: Instant, in_vain: bool) -> Vec<HeldMessage> {
        let is_due = self.renewed_at.is_none_or(|at| now.duration_since(at) >= HOLD_RENEWAL);
        if is_due {
            self.renewed_at = Some(now);
        }
        self.adopt_orphans();
        let must_go = |held: &mut HeldMessage| match &held.sender {
            Some(sender) if in_vain || sender.sender() != SenderState::Holds => true,
            Some(sender) => {
                if is_due {
                    sender.reply(HoldReply::StillHeld);
                }
                false
            }
            None => false,
        };
        self.held.extract_if(.., must_go).collect()
    }

    pub(super) fn arrived(&mut self, message: TypedMessage) {
        self.typed.push_back(message);
    }

    pub(super) fn has_typed(&self) -> bool {
        !self.typed.is_empty()
    }

    pub(super) fn next_typed(&mut self) -> Option<TypedMessage> {
        self.typed.pop_front()
    }

    /// Takes the texts of messages that only the driver has, and releases the others.
    pub(super) fn take_typed_orphans(&mut self) -> Vec<String> {
        let is_orphan = |message: &TypedMessage| message.answer.sender() == SenderState::Orphaned;
        self.typed.drain(..).filter(is_orphan).map(|message| message.text).collect()
    }

    pub(super) fn note_delivered(&mut self, input_id: String) {
        self.delivered.insert(input_id);
    }

    pub(super) fn is_delivered(&self, input_id: &str) -> bool {
        self.delivered.contains(input_id)
    }

    /// An id for a message that is submitted now.
    pub(super) fn next_id(&mut self, unix_ms: u64) -> String {
        self.submitted += 1;
        format!("{INPUT}{unix_ms:x}-{}", self.submitted)
    }
}

/// When a message was submitted, read from its id.
pub(super) fn submitted_at_ms(input_id: &str) -> Option<i64> {
    let (at, _) = input_id.strip_prefix(INPUT)?.split_once('-')?;
    i64::from_str_radix(at, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::super::typed::hold_channel;
    use super::*;

    fn message(messages: &mut HeldMessages) -> (String, super::super::typed::HoldReplies) {
        let (sender, replies) = hold_channel();
        let input_id = messages.next_id(7);
        messages.hold(HeldMessage {
            input_id: input_id.clone(),
            text: input_id.clone(),
            sender: Some(sender),
        });
        (input_id, replies)
    }

    fn ids(messages: Vec<HeldMessage>) -> Vec<String> {
        messages.into_iter().map(|held| held.input_id).collect()
    }

    #[tokio::test]
    async fn a_hold_is_renewed_once_a_second() {
        let mut messages = HeldMessages::default();
        let (_, mut replies) = message(&mut messages);
        let start = Instant::now();
        for milliseconds in [0, 400, 999, 1_000, 1_500, 2_000] {
            assert!(messages.renew(start + Duration::from_millis(milliseconds), false).is_empty());
        }
        drop(messages);
        let mut renewals = 0;
        while replies.next().await == Some(HoldReply::StillHeld) {
            renewals += 1;
        }
        assert_eq!(renewals, 3);
    }

    #[test]
    fn a_message_goes_where_its_sender_let_it_go_or_where_it_waits_in_vain() {
        let mut messages = HeldMessages::default();
        let (first, replies) = message(&mut messages);
        let (second, _held) = message(&mut messages);
        drop(replies);
        assert_eq!(ids(messages.renew(Instant::now(), false)), [first]);
        assert_eq!(ids(messages.renew(Instant::now(), true)), [second]);
        assert!(messages.is_empty());
    }

    #[test]
    fn a_message_whose_screen_ended_stays_with_the_driver() {
        let mut messages = HeldMessages::default();
        let (id, replies) = message(&mut messages);
        replies.orphan();
        assert!(messages.renew(Instant::now(), true).is_empty());
        assert!(!messages.are_held_by_senders());
        assert!(messages.remove_from_sender(&id).is_none());
        assert_eq!(messages.remove(&id).unwrap().text, id);
    }

    #[test]
    fn an_id_tells_when_its_message_was_submitted() {
        let mut messages = HeldMessages::default();
        assert_eq!(messages.next_id(0x1a2b), "input-1a2b-1");
        assert_eq!(submitted_at_ms("input-1a2b-1"), Some(0x1a2b));
        assert_eq!(submitted_at_ms("1a2b"), None);
    }
}
