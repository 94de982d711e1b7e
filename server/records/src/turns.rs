//! The turns of a recorded session as their host ran them: which messages went into each, and how it ended. For who takes
//! over from a process that died, and must find what that one had asked for.

use rawr_protocol::TokenUsage;

/// A turn in the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedTurn {
    /// The host's id of the turn.
    pub turn_id: String,
    /// When it started, in Unix milliseconds.
    pub began_at_ms: Option<i64>,
    /// The messages, oldest first.
    pub sent: Vec<RecordedMessage>,
    /// Whether it came to its end.
    pub has_ended: bool,
    /// Whether it was stopped before.
    pub was_aborted: bool,
    /// The agent's last message in it.
    pub last_agent_message: Option<String>,
    /// The compaction in it, if there was one.
    pub compacted: Option<RecordedCompaction>,
    /// The usage of its last request, where the host records it by request. `None` if the history was rewritten since.
    pub last: Option<RecordedUsage>,
}

/// A message of a turn, sent by rawr, by the user, or by the host itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedMessage {
    pub text: String,
    /// When it was sent, in Unix milliseconds. Later than the turn's start if it joined a running turn.
    pub at_ms: Option<i64>,
    /// Whether a client sent it, not the host itself.
    pub is_users: bool,
}

/// The size of the context before and after a compaction, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedCompaction {
    pub before: Option<u64>,
    pub after: Option<u64>,
}

/// The usage of a sampling request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedUsage {
    pub usage: TokenUsage,
    pub context_window: Option<u64>,
}

/// The turn that has not ended. If the host is active, it runs this turn.
pub fn open_turn(turns: &[RecordedTurn]) -> Option<&RecordedTurn> {
    turns.last().filter(|turn| !turn.has_ended && !turn.was_aborted)
}

/// The last usage, and the turn that it belongs to. `None` if there is none, or if the history was rewritten since.
pub fn last_usage(turns: &[RecordedTurn]) -> Option<(&RecordedTurn, &RecordedUsage)> {
    let mut newest = turns.iter().rev();
    let turn = newest.find(|turn| turn.last.is_some() || turn.compacted.is_some())?;
    Some((turn, turn.last.as_ref()?))
}
