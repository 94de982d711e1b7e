//! The state of a handoff in Codex's queue, where it comes before any turn that a goal or a user starts after the compaction.
//! It is queued once the history is rewritten, because a failed compaction would not hold it back. Pure.

use super::message::{CodexItem, CodexNotification};
use crate::host::is_marked;

/// The handoff of the running compaction.
#[derive(Debug, Default)]
pub(super) struct HandoffQueue {
    stand: QueueState,
    /// The text of the last handoff that started from the queue.
    said: Option<String>,
    /// The number of entries so far, for unique names.
    count: u64,
}

#[derive(Debug, Default)]
enum QueueState {
    #[default]
    Nothing,
    /// Prepared for the requested compaction.
    Ready { text: String },
    /// In Codex's queue.
    Queued {
        name: String,
        text: String,
        /// Codex's id of the entry, needed to remove it.
        entry: Option<String>,
    },
    /// The handoff's turn started. Its events are withheld until the driver claims it.
    Begun { turn_id: String },
}

/// An entry for Codex's queue.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueueEntry {
    pub(super) name: String,
    pub(super) text: String,
}

impl HandoffQueue {
    pub(super) fn prepare(&mut self, text: String) {
        self.stand = QueueState::Ready { text };
    }

    /// The history is rewritten. Returns the entry to queue, once.
    pub(super) fn compacted(&mut self) -> Option<QueueEntry> {
        let QueueState::Ready { text } = &mut self.stand else { return None };
        let text = std::mem::take(text);
        self.count += 1;
        let name = format!("rawr-{}-{}", std::process::id(), self.count);
        self.stand = QueueState::Queued { name: name.clone(), text: text.clone(), entry: None };
        Some(QueueEntry { name, text })
    }

    /// Records Codex's id of the entry; `None` if Codex refused it.
    pub(super) fn taken(&mut self, taken: Option<String>) {
        if let QueueState::Queued { entry, .. } = &mut self.stand {
            match taken {
                Some(taken) => *entry = Some(taken),
                None => self.stand = QueueState::Nothing,
            }
        }
    }

    /// Whether this notification starts the turn of the queued handoff.
    pub(super) fn begins(&mut self, note: &CodexNotification) -> bool {
        let CodexNotification::ItemStarted(note) = note else { return false };
        let CodexItem::UserMessage { client_id: Some(client_id), .. } = &note.item else {
            return false;
        };
        let QueueState::Queued { name, text, .. } = &mut self.stand else { return false };
        let is_ours = name == client_id;
        if is_ours {
            self.said = Some(std::mem::take(text));
            self.stand = QueueState::Begun { turn_id: note.turn_id.clone() };
        }
        is_ours
    }

    pub(super) fn is_queued(&self) -> bool {
        matches!(self.stand, QueueState::Queued { .. })
    }

    /// Whether its turn started and is not claimed. Events are withheld meanwhile.
    pub(super) fn has_begun(&self) -> bool {
        matches!(self.stand, QueueState::Begun { .. })
    }

    /// Whether this handoff is queued, or started a turn that is not claimed.
    pub(super) fn holds(&self, text: &str) -> bool {
        match &self.stand {
            QueueState::Queued { text: queued, .. } => is_same_handoff(queued, text),
            QueueState::Begun { .. } => self.has_said(text),
            QueueState::Nothing | QueueState::Ready { .. } => false,
        }
    }

    /// Claims the turn that it started.
    pub(super) fn claim(&mut self) -> Option<String> {
        match std::mem::take(&mut self.stand) {
            QueueState::Begun { turn_id } => Some(turn_id),
            other => {
                self.stand = other;
                None
            }
        }
    }

    /// Whether the queue already delivered this handoff to the agent.
    pub(super) fn has_said(&self, text: &str) -> bool {
        self.said.as_deref().is_some_and(|said| is_same_handoff(said, text))
    }

    /// Codex's id of the queued entry.
    pub(super) fn entry(&self) -> Option<&str> {
        match &self.stand {
            QueueState::Queued { entry, .. } => entry.as_deref(),
            _ => None,
        }
    }

    /// Discards the handoff.
    pub(super) fn forget(&mut self) {
        self.stand = QueueState::Nothing;
    }
}

/// Whether both are the handoff of one sequence. After the text was queued, a message may have come or a directive, so that
/// the sidecar's text is another; the marker in the last line stays.
fn is_same_handoff(queued: &str, text: &str) -> bool {
    let marker = |text: &str| text.trim_end().lines().last().map(str::to_owned);
    queued == text || is_marked(text) && marker(queued) == marker(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(name: &str) -> CodexNotification {
        let item = json!({"type": "userMessage", "id": "u", "clientId": name, "content": []});
        let params = json!({"threadId": "thread", "turnId": "t", "item": item});
        CodexNotification::read("item/started", params).unwrap().unwrap()
    }

    #[test]
    fn it_is_queued_once_and_recognized_by_its_name() {
        let mut line = HandoffQueue::default();
        assert_eq!(line.compacted(), None);
        line.prepare("go on".to_owned());
        assert!(!line.holds("go on"));
        let QueueEntry { name, text } = line.compacted().unwrap();
        assert_eq!(text, "go on");
        assert_eq!(line.compacted(), None);
        line.taken(Some("q1".to_owned()));
        assert!(line.is_queued());
        assert_eq!(line.entry(), Some("q1"));
        assert!(!line.begins(&message("another")));
        assert!(line.holds("go on") && !line.holds("and the docs"));
        assert!(line.begins(&message(&name)) && line.has_begun());
        assert!(line.holds("go on") && !line.holds("and the docs"));
        assert_eq!(line.claim().as_deref(), Some("t"));
        assert!(!line.has_begun() && line.claim().is_none());
        assert!(!line.holds("go on"));
        assert!(line.has_said("go on") && !line.has_said("and the docs"));
    }

    #[test]
    fn a_handoff_whose_text_changed_meanwhile_is_the_same() {
        let mut line = HandoffQueue::default();
        line.prepare("Go on.\n\n[rawr:s1:handoff]".to_owned());
        line.compacted().unwrap();
        assert!(line.holds("The user's next message follows.\n\n[rawr:s1:handoff]"));
        assert!(!line.holds("Go on.\n\n[rawr:s2:handoff]"));
    }

    #[test]
    fn without_a_queue_nothing_is_held() {
        let mut line = HandoffQueue::default();
        line.prepare("go on".to_owned());
        line.compacted().unwrap();
        line.taken(None);
        assert!(!line.is_queued() && line.claim().is_none());
    }
}
