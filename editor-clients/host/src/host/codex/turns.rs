//! Folds Codex's notifications into host events: the running turn, its kind, its compaction. Pure.

mod middle;
mod running;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use rawr_protocol::{CompactionOrigin, PlanStep, TokenUsage};

use self::middle::PendingUsage;
use self::running::{CodexCompaction, CodexRunningTurn};
use super::message::{
    CodexItem, CodexNotification, CodexStepStatus, CodexThreadStatus, CodexTurn, CodexTurnStatus,
    ItemNote, PlanNote, ThreadTokens, TokenBreakdown, TurnError, UsageNote, words,
};
use crate::host::{HostEvent, TurnKind, is_marked};

/// The state of one thread's turns. Notifications about other threads are ignored.
#[derive(Debug)]
pub(super) struct CodexTurns {
    thread_id: String,
    status: CodexThreadStatus,
    access: ThreadAccess,
    /// The user message that started the running turn, if the turn started before rawr joined.
    began_with: Option<String>,
    /// The turn that was running when rawr joined, until a notification reports it.
    came_into: Option<String>,
    /// Set while a turn that was running when rawr joined may be a compaction.
    middle: Option<PendingUsage>,
    /// Turns of this client that Codex accepted and has not started.
    promised: HashSet<String>,
    /// Codex accepted a compaction, and its turn has not ended.
    compaction_asked: bool,
    running: Option<CodexRunningTurn>,
    /// The turn that started last.
    latest: Option<String>,
    /// The last reported total and context. Codex repeats both after interrupts and steers, without a sampling request.
    told: Option<(TokenBreakdown, TokenBreakdown)>,
}

/// Who else can start turns in the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThreadAccess {
    Exclusive,
    /// Users at other clients. The first item of a turn tells who started it.
    Shared,
}

impl CodexTurns {
    pub(super) fn new(thread_id: String) -> Self {
        Self {
            thread_id,
            status: CodexThreadStatus::Idle,
            access: ThreadAccess::Exclusive,
            began_with: None,
            came_into: None,
            middle: None,
            promised: HashSet::new(),
            compaction_asked: false,
            running: None,
            latest: None,
            told: None,
        }
    }

    /// For a thread that other clients use. Report its earlier state first.
    pub(super) fn beside_people(thread_id: String) -> Self {
        Self { access: ThreadAccess::Shared, ..Self::new(thread_id) }
    }

    /// Sets the thread's status at the time of joining.
    pub(super) fn joined_at(&mut self, status: CodexThreadStatus) {
        self.status = status;
        self.middle = (status == CodexThreadStatus::Active).then(PendingUsage::default);
    }

    /// Takes the last usage from the thread's file. Returns it if it is valid for certain.
    pub(super) fn found(&mut self, usage: HostEvent) -> Option<HostEvent> {
        match &mut self.middle {
            Some(middle) => {
                middle.hold(usage);
                None
            }
            None => Some(usage),
        }
    }

    /// A turn that was already running when rawr joined.
    pub(super) fn came_into(&mut self, turn_id: String) {
        self.came_into = Some(turn_id);
    }

    pub(super) fn running_since_before(&self) -> Option<&str> {
        self.came_into.as_deref()
    }

    /// The user message that started the running turn.
    pub(super) fn began_with(&mut self, text: String) {
        self.began_with = Some(text);
    }

    /// Whether a turn or a compaction runs or is about to start.
    pub(super) fn is_busy(&self) -> bool {
        self.status == CodexThreadStatus::Active
            || self.running.is_some()
            || self.compaction_asked
            || !self.promised.is_empty()
    }

    /// The turn that can be steered or interrupted.
    pub(super) fn current(&self) -> Option<&str> {
        let running = self.running.as_ref().map(|running| &running.id);
        running.or_else(|| self.promised.iter().next()).map(String::as_str)
    }

    /// The turn that started last.
    pub(super) fn latest(&self) -> Option<&str> {
        self.latest.as_deref()
    }

    /// Codex accepted a turn of this client. Call it before reading later notifications.
    pub(super) fn turn_promised(&mut self, turn_id: &str) {
        if self.running.as_ref().is_none_or(|running| running.id != turn_id) {
            self.promised.insert(turn_id.to_owned());
        }
    }

    /// Codex started a turn from this client's queue entry.
    pub(super) fn turn_is_ours(&mut self, turn_id: &str) {
        self.promised.insert(turn_id.to_owned());
    }

    /// Whether a requested compaction has rewritten the history and its turn has not ended.
    pub(super) fn has_compacted(&self) -> bool {
        let done = |running: &CodexRunningTurn| {
            running.kind == Some(TurnKind::Compaction)
                && matches!(running.compaction, CodexCompaction::Done { .. })
        };
        self.running.as_ref().is_some_and(done)
    }

    /// Whether a turn runs that this client did not request.
    pub(super) fn runs_for_others(&self) -> bool {
        let others = |running: &CodexRunningTurn| {
            matches!(running.kind, Some(TurnKind::Person { .. } | TurnKind::Host))
        };
        self.running.as_ref().is_some_and(others)
    }

    /// Codex accepted a compaction.
    pub(super) fn compaction_promised(&mut self) {
        self.compaction_asked = true;
    }

    pub(super) fn read(&mut self, note: CodexNotification) -> Vec<HostEvent> {
        if note.thread_id().is_some_and(|thread_id| thread_id != self.thread_id) {
            return Vec::new();
        }
        let mut events = Vec::new();
        if let Some(turn_id) = self.begun_before(&note) {
            self.started(turn_id, &mut events);
            if let Some(text) = self.began_with.take()
                && let Some(running) = &mut self.running
            {
                running.is(TurnKind::Person { text }, &mut events);
            }
        }
        match note {
            CodexNotification::StatusChanged(note) => self.status = note.status,
            CodexNotification::Closed(_) | CodexNotification::Settings(_) => {}
            CodexNotification::Title(note) => {
                events.push(HostEvent::TitleChanged { title: note.thread_name });
            }
            CodexNotification::TurnStarted(note) => {
                self.middle = None;
                self.started(note.turn.id, &mut events);
            }
            CodexNotification::TurnCompleted(note) => self.completed(note.turn, &mut events),
            CodexNotification::ItemStarted(note) => self.item_started(note, &mut events),
            CodexNotification::ItemCompleted(note) => self.item_completed(note, &mut events),
            CodexNotification::Usage(note) => self.usage(note, &mut events),
            CodexNotification::Plan(note) => self.plan(note, &mut events),
            // An error without a retry ends the turn and is reported with the turn's end.
            CodexNotification::Error(note) if note.will_retry => {
                events.push(HostEvent::Notice(note.error.message))
            }
            CodexNotification::Error(_) => {}
            CodexNotification::Warning { text, .. } => events.push(HostEvent::Notice(text)),
        }
        events
    }

    /// The turn whose start was missed and which this notification reports first. For a joined turn that may be its end.
    fn begun_before(&self, note: &CodexNotification) -> Option<String> {
        let turn_id = match note {
            CodexNotification::TurnCompleted(note) => {
                self.came_into.as_ref().filter(|turn_id| **turn_id == note.turn.id)?
            }
            note => note.inside_turn().filter(|turn_id| self.missed_the_start_of(turn_id))?,
        };
        Some(turn_id.to_owned())
    }

    /// Whether a notification is about a running turn whose start was missed. Ids of turns grow with time, so a late
    /// notification about an ended turn is recognized.
    fn missed_the_start_of(&self, turn_id: &str) -> bool {
        self.access == ThreadAccess::Shared
            && self.status == CodexThreadStatus::Active
            && self.running.is_none()
            && self.latest.as_deref().is_none_or(|latest| turn_id > latest)
    }

    fn started(&mut self, turn_id: String, events: &mut Vec<HostEvent>) {
        let promised = self.promised.remove(&turn_id);
        self.came_into = None;
        self.latest = Some(turn_id.clone());
        let running = self.running.insert(CodexRunningTurn {
            id: turn_id,
            kind: None,
            compaction: CodexCompaction::None,
            last_agent_message: None,
            ends_with_message: false,
        });
        match (promised, self.compaction_asked) {
            (true, _) => {
                running.is(TurnKind::Asked, events);
            }
            (false, false) if self.access == ThreadAccess::Exclusive => {
                running.is(TurnKind::Host, events);
            }
            // The first item tells whether a user or the host started it.
            (false, false) => {}
            // The compaction, or a turn that Codex started just before it accepted the compaction.
            (false, true) => {}
        }
    }

    fn completed(&mut self, turn: CodexTurn, events: &mut Vec<HostEvent>) {
        self.promised.remove(&turn.id);
        let held = self.middle.take().and_then(PendingUsage::last);
        let Some(mut running) = self.running.take_if(|running| running.id == turn.id) else {
            events.extend(held);
            return;
        };
        // A hook can end the compaction's turn before its first item.
        let kind = if self.compaction_asked { TurnKind::Compaction } else { TurnKind::Host };
        let compacts = *running.is(kind, events) == TurnKind::Compaction;
        events.extend(held);
        if compacts {
            self.compaction_asked = false;
        }
        let overflow = turn.error.as_ref().and_then(TurnError::overflow);
        let error = turn.error.map(|error| error.message);
        running.end_compaction(compacts, turn.status, error.as_deref(), events);
        let said = turn.items.into_iter().rev().find_map(|item| match item {
            CodexItem::AgentMessage { text } => Some(text),
            _ => None,
        });
        events.push(HostEvent::TurnCompleted {
            turn_id: running.id,
            status: ended(turn.status),
            last_agent_message: said.or(running.last_agent_message),
            error,
            overflow,
        });
    }

    fn item_started(&mut self, note: ItemNote, events: &mut Vec<HostEvent>) {
        let ItemNote { turn_id, item, .. } = note;
        self.middle = None;
        let compacts = matches!(item, CodexItem::ContextCompaction);
        let begins = self.turn(&turn_id).is_some_and(|running| running.kind.is_none());
        self.tell_kind(&turn_id, &item, events);
        if let CodexItem::UserMessage { content, .. } = &item
            && !begins
        {
            self.joined(&turn_id, words(content), events);
        }
        if let Some((call_id, name)) = item.tool() {
            self.goes_on(&turn_id);
            let (call_id, name) = (call_id.to_owned(), name.to_owned());
            events.push(HostEvent::ToolStarted { turn_id, call_id, name });
        } else if compacts && let Some(running) = self.turn(&turn_id) {
            running.compaction = CodexCompaction::Running { estimate: None };
            events.push(HostEvent::CompactionStarted { turn_id, origin: running.origin() });
        }
    }

    fn item_completed(&mut self, note: ItemNote, events: &mut Vec<HostEvent>) {
        let ItemNote { turn_id, item, .. } = note;
        let middle = self.middle.take();
        self.tell_kind(&turn_id, &item, events);
        match &item {
            CodexItem::AgentMessage { text } => {
                if let Some(running) = self.turn(&turn_id) {
                    running.last_agent_message = Some(text.clone());
                    running.ends_with_message = true;
                }
                events
                    .push(HostEvent::AgentMessage { turn_id: turn_id.clone(), text: text.clone() });
            }
            CodexItem::CommandExecution { id, command, cwd, exit_code: Some(exit_code) } => {
                events.push(HostEvent::CommandFinished {
                    turn_id: turn_id.clone(),
                    call_id: id.clone(),
                    command: command.clone(),
                    exit_code: *exit_code,
                    cwd: cwd.clone(),
                });
            }
            CodexItem::ContextCompaction => self.compacted(&turn_id, middle, events),
            CodexItem::EnteredReviewMode => {
                events.push(HostEvent::ReviewEntered { turn_id: turn_id.clone() })
            }
            CodexItem::ExitedReviewMode => {
                events.push(HostEvent::ReviewLeft { turn_id: turn_id.clone() })
            }
            _ => {}
        }
        if let Some((call_id, _)) = item.tool() {
            self.goes_on(&turn_id);
            events.push(HostEvent::ToolFinished { turn_id, call_id: call_id.to_owned() });
        }
    }

    /// Handles a message inside a turn. In an exclusive thread it is the driver's; in a shared thread it is the driver's if
    /// it has rawr's marker.
    fn joined(&mut self, turn_id: &str, text: String, events: &mut Vec<HostEvent>) {
        if self.access == ThreadAccess::Shared && !is_marked(&text) && self.turn(turn_id).is_some()
        {
            events.push(HostEvent::UserMessage { turn_id: turn_id.to_owned(), text });
        }
    }

    /// The history was rewritten. For a requested compaction the turn's end is reported; a compaction inside another turn ends
    /// here.
    fn compacted(
        &mut self,
        turn_id: &str,
        middle: Option<PendingUsage>,
        events: &mut Vec<HostEvent>,
    ) {
        let Some(running) = self.turn(turn_id) else { return };
        let estimate = match (running.compaction, middle) {
            (CodexCompaction::Running { estimate }, _) => estimate,
            // The compaction started before rawr joined.
            (_, Some(middle)) => {
                let origin = running.origin();
                events.push(HostEvent::CompactionStarted { turn_id: turn_id.to_owned(), origin });
                middle.estimate()
            }
            (CodexCompaction::None | CodexCompaction::Done { .. }, None) => return,
        };
        if running.kind == Some(TurnKind::Compaction) {
            running.compaction = CodexCompaction::Done { estimate };
        } else {
            running.compaction = CodexCompaction::None;
            let (turn_id, origin) = (turn_id.to_owned(), CompactionOrigin::Host);
            events.push(HostEvent::CompactionCompleted { turn_id, origin, tokens_after: estimate });
        }
    }

    fn usage(&mut self, note: UsageNote, events: &mut Vec<HostEvent>) {
        let UsageNote { turn_id, token_usage: tokens, .. } = note;
        if let Some(running) = self.turn(&turn_id) {
            if let CodexCompaction::Running { estimate } = &mut running.compaction {
                // Codex reports the old value, the compaction's own request, then an estimate without input tokens.
                if tokens.last.input_tokens == 0 {
                    *estimate = Some(tokens.last.total_tokens);
                }
                return;
            }
            if running.kind == Some(TurnKind::Compaction) {
                return;
            }
        }
        if let Some(middle) = &mut self.middle {
            middle.hold(used(turn_id, &tokens, false));
            return;
        }
        // Codex fills up its own count when the model refuses a request as too long. No request was answered.
        if tokens.last.input_tokens == 0 {
            return;
        }
        let told = (tokens.total.clone(), tokens.last.clone());
        if self.told.as_ref() == Some(&told) {
            return;
        }
        self.told = Some(told);
        self.tell_kind(&turn_id, &CodexItem::Other, events);
        let ends = self
            .turn(&turn_id)
            .is_some_and(|running| std::mem::take(&mut running.ends_with_message));
        events.push(used(turn_id, &tokens, !ends));
    }

    fn plan(&mut self, note: PlanNote, events: &mut Vec<HostEvent>) {
        self.middle = None;
        self.tell_kind(&note.turn_id, &CodexItem::Other, events);
        self.goes_on(&note.turn_id);
        let steps = note.plan.into_iter().map(|step| PlanStep {
            step: step.step,
            status: match step.status {
                CodexStepStatus::Pending => rawr_protocol::StepStatus::Pending,
                CodexStepStatus::InProgress => rawr_protocol::StepStatus::InProgress,
                CodexStepStatus::Completed => rawr_protocol::StepStatus::Completed,
            },
        });
        events.push(HostEvent::PlanUpdated {
            turn_id: note.turn_id,
            // Codex does not report one.
            call_id: None,
            steps: steps.collect(),
            explanation: note.explanation,
        });
    }

    /// Sets the kind of a turn from its first item.
    fn tell_kind(&mut self, turn_id: &str, first: &CodexItem, events: &mut Vec<HostEvent>) {
        if self.promised.remove(turn_id) {
            if let Some(running) = self.turn(turn_id) {
                running.is(TurnKind::Asked, events);
            }
            return;
        }
        let kind = match first {
            CodexItem::ContextCompaction if self.compaction_asked => TurnKind::Compaction,
            CodexItem::UserMessage { content, .. } if self.access == ThreadAccess::Shared => {
                TurnKind::Person { text: words(content) }
            }
            _ => TurnKind::Host,
        };
        if let Some(running) = self.turn(turn_id) {
            running.is(kind, events);
        }
    }

    fn goes_on(&mut self, turn_id: &str) {
        if let Some(running) = self.turn(turn_id) {
            running.ends_with_message = false;
        }
    }

    fn turn(&mut self, turn_id: &str) -> Option<&mut CodexRunningTurn> {
        self.running.as_mut().filter(|running| running.id == turn_id)
    }
}

fn used(turn_id: String, tokens: &ThreadTokens, needs_follow_up: bool) -> HostEvent {
    HostEvent::Usage {
        turn_id,
        usage: TokenUsage {
            context_tokens: tokens.last.total_tokens,
            input_tokens: Some(tokens.last.input_tokens),
            cached_input_tokens: Some(tokens.last.cached_input_tokens),
            output_tokens: Some(tokens.last.output_tokens),
            reasoning_tokens: Some(tokens.last.reasoning_output_tokens),
            cache_seconds: None,
        },
        context_window: tokens.model_context_window,
        needs_follow_up,
    }
}

/// An ended turn with an unknown status counts as failed.
fn ended(status: CodexTurnStatus) -> rawr_protocol::TurnStatus {
    match status {
        CodexTurnStatus::Completed => rawr_protocol::TurnStatus::Completed,
        CodexTurnStatus::Interrupted => rawr_protocol::TurnStatus::Interrupted,
        CodexTurnStatus::Failed | CodexTurnStatus::InProgress | CodexTurnStatus::Other => {
            rawr_protocol::TurnStatus::Failed
        }
    }
}
