//! The usage of a turn that was joined while it ran. The turn may be a compaction whose start was missed; usage reported until
//! its end is then the compaction's own or outdated. Pure.

use crate::host::HostEvent;

/// Usage that is withheld until the turn is known to be no compaction.
#[derive(Debug, Default)]
pub(super) struct PendingUsage {
    last: Option<HostEvent>,
    /// The size of a rewritten history, in tokens.
    estimate: Option<u64>,
}

impl PendingUsage {
    /// Keeps the newest usage.
    pub(super) fn hold(&mut self, event: HostEvent) {
        if let HostEvent::Usage { usage, .. } = &event {
            self.estimate = (usage.input_tokens == Some(0)).then_some(usage.context_tokens);
        }
        self.last = Some(event);
    }

    /// The usage to report after a turn without a compaction.
    pub(super) fn last(self) -> Option<HostEvent> {
        self.last
    }

    /// The size after the compaction.
    pub(super) fn estimate(self) -> Option<u64> {
        self.estimate
    }
}
