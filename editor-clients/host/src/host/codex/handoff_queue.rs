//! A handoff that waits in Codex's own line, so that it comes before whatever a goal or a person starts after a compaction.
//! It is put there once the history is rewritten: a compaction that fails would not hold it back. Sends nothing itself.

use super::message::{Item, Note};

/// The handoff of the compaction that runs.
#[derive(Debug, Default)]
pub(super) struct HandoffQueue {
    stand: QueueState,
    /// What the last turn from the line began with.
    said: Option<String>,
    /// Counts the names of its messages.
    count: u64,
}

#[derive(Debug, Default)]
enum QueueState {
    #[default]
    Nothing,
    /// For the compaction that was asked for.
    Ready { text: String },
    /// In Codex's line.
    Queued {
        name: String,
        text: String,
        /// By which it can be taken out again.
        entry: Option<String>,
    },
    /// Its turn has begun. Nothing of that is told before somebody claims it.
    Begun { turn_id: String },
}

/// What is to be put in line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) text: String,
}

impl HandoffQueue {
    pub(super) fn prepare(&mut self, text: String) {
        self.stand = QueueState::Ready { text };
    }

    /// The history is rewritten.
    pub(super) fn compacted(&mut self) -> Option<Entry> {
        let QueueState::Ready { text } = &mut self.stand else { return None };
        let text = std::mem::take(text);
        self.count += 1;
        let name = format!("rawr-{}-{}", std::process::id(), self.count);
        self.stand = QueueState::Queued { name: name.clone(), text: text.clone(), entry: None };
        Some(Entry { name, text })
    }

    /// Codex has taken it, or has not.
    pub(super) fn taken(&mut self, taken: Option<String>) {
        if let QueueState::Queued { entry, .. } = &mut self.stand {
            match taken {
                Some(taken) => *entry = Some(taken),
                None => self.stand = QueueState::Nothing,
            }
        }
    }

    /// Whether this note begins the turn of what waits.
    pub(super) fn begins(&mut self, note: &Note) -> bool {
        let Note::ItemStarted(note) = note else { return false };
        let Item::UserMessage { client_id: Some(client_id), .. } = &note.item else { return false };
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

    /// Events that came since are not told while this holds.
    pub(super) fn has_begun(&self) -> bool {
        matches!(self.stand, QueueState::Begun { .. })
    }

    /// Whether this waits in Codex's line, or has begun a turn that is not claimed yet.
    pub(super) fn holds(&self, text: &str) -> bool {
        match &self.stand {
            QueueState::Queued { text: queued, .. } => queued == text,
            QueueState::Begun { .. } => self.has_said(text),
            QueueState::Nothing | QueueState::Ready { .. } => false,
        }
    }

    /// The turn that it has begun.
    pub(super) fn claim(&mut self) -> Option<String> {
        match std::mem::take(&mut self.stand) {
            QueueState::Begun { turn_id } => Some(turn_id),
            other => {
                self.stand = other;
                None
            }
        }
    }

    /// Whether it has gone to the agent from the line, and must not go a second time.
    pub(super) fn has_said(&self, text: &str) -> bool {
        self.said.as_deref() == Some(text)
    }

    /// What has to be said to Codex to take it out again.
    pub(super) fn entry(&self) -> Option<&str> {
        match &self.stand {
            QueueState::Queued { entry, .. } => entry.as_deref(),
            _ => None,
        }
    }

    /// Nobody will claim it, or it was taken out.
    pub(super) fn forget(&mut self) {
        self.stand = QueueState::Nothing;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(name: &str) -> Note {
        let item = json!({"type": "userMessage", "id": "u", "clientId": name, "content": []});
        let params = json!({"threadId": "thread", "turnId": "t", "item": item});
        Note::read("item/started", params).unwrap().unwrap()
    }

    #[test]
    fn it_is_put_in_line_once_and_known_again_by_its_name() {
        let mut line = HandoffQueue::default();
        assert_eq!(line.compacted(), None);
        line.prepare("go on".to_owned());
        assert!(!line.holds("go on"));
        let Entry { name, text } = line.compacted().unwrap();
        assert_eq!(text, "go on");
        assert_eq!(line.compacted(), None);
        line.taken(Some("q1".to_owned()));
        assert!(line.is_queued());
        assert_eq!(line.entry(), Some("q1"));
        assert!(!line.begins(&message("somebody's")));
        assert!(line.holds("go on") && !line.holds("and the docs"));
        assert!(line.begins(&message(&name)) && line.has_begun());
        assert!(line.holds("go on") && !line.holds("and the docs"));
        assert_eq!(line.claim().as_deref(), Some("t"));
        assert!(!line.has_begun() && line.claim().is_none());
        assert!(!line.holds("go on"));
        assert!(line.has_said("go on") && !line.has_said("and the docs"));
    }

    #[test]
    fn a_codex_without_a_line_holds_nothing() {
        let mut line = HandoffQueue::default();
        line.prepare("go on".to_owned());
        line.compacted().unwrap();
        line.taken(None);
        assert!(!line.is_queued() && line.claim().is_none());
    }
}
