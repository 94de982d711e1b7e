//! The running turn of Claude Code: its tool calls, its requests to the model, its compaction. Pure.

use std::collections::HashMap;

use rawr_protocol::{CompactionOrigin, TurnStatus};

use crate::host::claude::calls::ClaudeToolCall;
use crate::host::claude::message::{ClaudeUsage, StreamDelta, TurnResult};
use crate::host::{ContextOverflow, HostEvent, TurnKind};

#[derive(Debug)]
pub(super) struct ClaudeTurn {
    pub(super) id: String,
    pub(super) kind: TurnKind,
    pub(super) origin: CompactionOrigin,
    pub(super) compaction: ClaudeCompaction,
    pub(super) last_agent_message: Option<String>,
    /// A text that Claude Code wrote as the agent, mostly an error.
    pub(super) said_by_claude: Option<String>,
    /// Tool calls without a result, including those of sub-agents.
    pub(super) calls: HashMap<String, ClaudeToolCall>,
    /// The running request to the model, or the last one.
    request: RequestProgress,
    is_usage_owed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum ClaudeCompaction {
    #[default]
    None,
    Running,
    /// Completed with an estimate of the new size in tokens, or failed with an error.
    Over(Result<Option<u64>, String>),
}

#[derive(Debug, Default)]
struct RequestProgress {
    usage: ClaudeUsage,
    calls_tools: bool,
    has_ended: bool,
}

impl ClaudeTurn {
    pub(super) fn new(id: String, kind: TurnKind, origin: CompactionOrigin) -> Self {
        Self {
            id,
            kind,
            origin,
            compaction: ClaudeCompaction::None,
            last_agent_message: None,
            said_by_claude: None,
            calls: HashMap::new(),
            request: RequestProgress::default(),
            is_usage_owed: false,
        }
    }

    pub(super) fn compacts(&self) -> bool {
        self.kind == TurnKind::Compaction || self.compaction == ClaudeCompaction::Running
    }

    pub(super) fn request_started(&mut self, usage: ClaudeUsage) {
        self.request = RequestProgress { usage, ..RequestProgress::default() };
    }

    pub(super) fn request_goes_on(&mut self, delta: StreamDelta, usage: ClaudeUsage) {
        self.request.usage = self.request.usage.and(usage);
        if let Some(reason) = delta.stop_reason {
            self.request.calls_tools = matches!(reason.as_str(), "tool_use" | "pause_turn");
        }
    }

    pub(super) fn request_ended(&mut self) {
        self.request.has_ended = true;
        self.is_usage_owed = true;
    }

    /// Reports the last usage again, because the window was not known before.
    pub(super) fn owe_usage(&mut self) {
        self.is_usage_owed |= self.request.has_ended;
    }

    /// Reports the usage after the tool calls of the last answer ended. The last usage of a turn is reported at its end.
    pub(super) fn tell_usage_midway(&mut self, window: Option<u64>, events: &mut Vec<HostEvent>) {
        if self.request.calls_tools && !self.calls.values().any(|call| call.is_main) {
            self.tell_usage(true, window, events);
        }
    }

    pub(super) fn tell_usage(
        &mut self,
        needs_follow_up: bool,
        window: Option<u64>,
        events: &mut Vec<HostEvent>,
    ) {
        if !std::mem::take(&mut self.is_usage_owed) {
            return;
        }
        let Some(usage) = self.request.usage.to_usage() else { return };
        let (turn_id, context_window) = (self.id.clone(), window);
        events.push(HostEvent::Usage { turn_id, usage, context_window, needs_follow_up });
    }

    pub(super) fn compaction_ended(&self, how: Result<Option<u64>, String>) -> HostEvent {
        let (turn_id, origin) = (self.id.clone(), self.origin);
        match how {
            Ok(tokens_after) => HostEvent::CompactionCompleted { turn_id, origin, tokens_after },
            Err(error) => HostEvent::CompactionFailed { turn_id, origin, error },
        }
    }

    pub(super) fn end(
        mut self,
        status: TurnStatus,
        last_words: Option<String>,
        failure: Option<TurnError>,
        events: &mut Vec<HostEvent>,
    ) {
        let TurnError { error, overflow } = failure.unwrap_or_default();
        for (call_id, _) in std::mem::take(&mut self.calls) {
            events.push(HostEvent::ToolFinished { turn_id: self.id.clone(), call_id });
        }
        let never = || {
            self.said_by_claude
                .clone()
                .unwrap_or_else(|| "the compaction's turn ended without a compaction".to_owned())
        };
        match (std::mem::take(&mut self.compaction), &self.kind) {
            (ClaudeCompaction::Over(how), _) => events.push(self.compaction_ended(how)),
            (ClaudeCompaction::Running, _) | (ClaudeCompaction::None, TurnKind::Compaction) => {
                events.push(self.compaction_ended(Err(never())));
            }
            (
                ClaudeCompaction::None,
                TurnKind::Asked | TurnKind::Person { .. } | TurnKind::Host,
            ) => {}
        }
        let said = last_words.filter(|words| error.is_none() && !words.is_empty());
        events.push(HostEvent::TurnCompleted {
            turn_id: self.id,
            status,
            last_agent_message: self.last_agent_message.or(said),
            error,
            overflow,
        });
    }
}

/// Why a turn failed.
#[derive(Debug, Default)]
pub(super) struct TurnError {
    error: Option<String>,
    overflow: Option<ContextOverflow>,
}

/// Why Claude Code ended a turn whose conversation the model refuses, or would refuse.
const TOO_LONG: [&str; 2] = ["prompt_too_long", "blocking_limit"];

/// How a turn ended, and its error.
pub(super) fn outcome(result: &TurnResult) -> (TurnStatus, Option<TurnError>) {
    let reason = result.terminal_reason.as_deref().unwrap_or_default();
    if reason.starts_with("aborted") {
        return (TurnStatus::Interrupted, None);
    }
    if !result.is_error {
        return (TurnStatus::Completed, None);
    }
    let said = result.result.clone().filter(|said| !said.is_empty());
    let error = said.unwrap_or_else(|| result.errors.join("; "));
    let read = ContextOverflow::read(&error);
    let overflow = read.or_else(|| TOO_LONG.contains(&reason).then(ContextOverflow::default));
    (TurnStatus::Failed, Some(TurnError { error: Some(error), overflow }))
}
