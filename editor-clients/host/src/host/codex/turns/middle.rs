//! How full the window is, for whoever comes into the middle of a turn: a compaction may be under way there, whose beginning
//! nobody tells any more, and what is told of usage until it is over is its own or of before it. Pure; tells nothing itself.

use crate::host::HostEvent;

/// Kept until something shows what the turn is at.
#[derive(Debug, Default)]
pub(super) struct PendingUsage {
    last: Option<HostEvent>,
    /// Of a history that was rewritten.
    estimate: Option<u64>,
}

impl PendingUsage {
    /// A usage that may be true, the newest of them.
    pub(super) fn hold(&mut self, event: HostEvent) {
        if let HostEvent::Usage { usage, .. } = &event {
            self.estimate = (usage.input_tokens == Some(0)).then_some(usage.context_tokens);
        }
        self.last = Some(event);
    }

    /// The turn ended without a compaction.
    pub(super) fn last(self) -> Option<HostEvent> {
        self.last
    }

    /// It was a compaction.
    pub(super) fn estimate(self) -> Option<u64> {
        self.estimate
    }
}
