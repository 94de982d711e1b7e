//! A handoff that waits in Codex's own line, so that it comes before whatever a goal or a person starts after a compaction.
//! It is put there once the history is rewritten: a compaction that fails would not hold it back. Sends nothing itself.

use super::message::{Item, Note};

/// The handoff of the compaction that runs.
#[derive(Debug, Default)]
pub(super) struct Line {
    stand: Stand,
    /// Counts the names of its messages.
    count: u64,
}

#[derive(Debug, Default)]
enum Stand {
    #[default]
    Nothing,
    /// For the compaction that was asked for.
    Ready { text: String },
    /// In Codex's line.
    Queued {
        name: String,
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

impl Line {
    pub(super) fn prepare(&mut self, text: String) {
        self.stand = Stand::Ready { text };
    }

    /// The history is rewritten.
    pub(super) fn compacted(&mut self) -> Option<Entry> {
        let Stand::Ready { text } = &mut self.stand else { return None };
        let text = std::mem::take(text);
        self.count += 1;
        let name = format!("rawr-{}-{}", std::process::id(), self.count);
        self.stand = Stand::Queued { name: name.clone(), entry: None };
        Some(Entry { name, text })
    }

    /// Codex has taken it, or has not.
    pub(super) fn taken(&mut self, taken: Option<String>) {
        if let Stand::Queued { entry, .. } = &mut self.stand {
            match taken {
                Some(taken) => *entry = Some(taken),
                None => self.stand = Stand::Nothing,
            }
        }
    }

    /// Whether this note begins the turn of what waits.
    pub(super) fn begins(&mut self, note: &Note) -> bool {
        let Note::ItemStarted(note) = note else { return false };
        let Item::UserMessage { client_id: Some(client_id), .. } = &note.item else { return false };
        let Stand::Queued { name, .. } = &self.stand else { return false };
        let is_ours = name == client_id;
        if is_ours {
            self.stand = Stand::Begun { turn_id: note.turn_id.clone() };
        }
        is_ours
    }

    pub(super) fn is_queued(&self) -> bool {
        matches!(self.stand, Stand::Queued { .. })
    }

    /// Events that came since are not told while this holds.
    pub(super) fn has_begun(&self) -> bool {
        matches!(self.stand, Stand::Begun { .. })
    }

    /// The turn that it has begun.
    pub(super) fn claim(&mut self) -> Option<String> {
        match std::mem::take(&mut self.stand) {
            Stand::Begun { turn_id } => Some(turn_id),
            other => {
                self.stand = other;
                None
            }
        }
    }

    /// What has to be said to Codex to take it out again.
    pub(super) fn entry(&self) -> Option<&str> {
        match &self.stand {
            Stand::Queued { entry, .. } => entry.as_deref(),
            _ => None,
        }
    }

    /// Nobody will claim it, or it was taken out.
    pub(super) fn forget(&mut self) {
        self.stand = Stand::Nothing;
    }
}
