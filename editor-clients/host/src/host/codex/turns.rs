//! Codex's notifications folded into host events: which turn runs, whose it is, how its compaction goes. Pure; sends nothing.

mod middle;
mod running;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use rawr_protocol::{CompactionOrigin, PlanStep, TokenUsage};

use self::middle::PendingUsage;
use self::running::{Compaction, Running};
use super::message::{
    Breakdown, Item, ItemNote, Note, PlanNote, Status, StepStatus, Tokens, Turn, TurnStatus,
    UsageNote, words,
};
use crate::host::{HostEvent, TurnKind, is_marked};

/// What is known of one thread's turns. Notes about other threads are passed over: Codex runs helpers beside it.
#[derive(Debug)]
pub(super) struct Turns {
    thread_id: String,
    status: Status,
    access: ThreadAccess,
    /// What a person began the running turn with, where that was before we came.
    began_with: Option<String>,
    /// The turn that runs since before we came, until something is told of it.
    came_into: Option<String>,
    /// A turn runs since before we came, and what it is at has not shown.
    middle: Option<PendingUsage>,
    /// Turns that Codex promised us and has not started.
    promised: HashSet<String>,
    /// A compaction was accepted, and its turn has not ended.
    compaction_asked: bool,
    running: Option<Running>,
    /// The last turn that was started, running or not.
    latest: Option<String>,
    /// The bill and the context as last told. Codex tells both again at interrupts and steers, when nothing was sampled.
    told: Option<(Breakdown, Breakdown)>,
}

/// Who else starts turns of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThreadAccess {
    Exclusive,
    /// Whoever sits at another client. A turn says by its first item whose it is.
    Shared,
}

impl Turns {
    pub(super) fn new(thread_id: String) -> Self {
        Self {
            thread_id,
            status: Status::Idle,
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

    /// Of a thread that other clients use, too. To be told first what happened there before.
    pub(super) fn beside_people(thread_id: String) -> Self {
        Self { access: ThreadAccess::Shared, ..Self::new(thread_id) }
    }

    /// The thread is at this now; what comes from here on is heard as it happens.
    pub(super) fn joined_at(&mut self, status: Status) {
        self.status = status;
        self.middle = (status == Status::Active).then(PendingUsage::default);
    }

    /// What the thread's file says that its last sampling request used. Returned where it is true for certain.
    pub(super) fn found(&mut self, usage: HostEvent) -> Option<HostEvent> {
        match &mut self.middle {
            Some(middle) => {
                middle.hold(usage);
                None
            }
            None => Some(usage),
        }
    }

    /// This turn runs, and its start was told to others.
    pub(super) fn came_into(&mut self, turn_id: String) {
        self.came_into = Some(turn_id);
    }

    pub(super) fn running_since_before(&self) -> Option<&str> {
        self.came_into.as_deref()
    }

    /// A turn runs, and this is how a person began it.
    pub(super) fn began_with(&mut self, text: String) {
        self.began_with = Some(text);
    }

    /// Whether asking for a turn or a compaction now would fall into the middle of something.
    pub(super) fn is_busy(&self) -> bool {
        self.status == Status::Active
            || self.running.is_some()
            || self.compaction_asked
            || !self.promised.is_empty()
    }

    /// The turn that can be steered or interrupted.
    pub(super) fn current(&self) -> Option<&str> {
        let running = self.running.as_ref().map(|running| &running.id);
        running.or_else(|| self.promised.iter().next()).map(String::as_str)
    }

    /// The turn that a look at the conversation has to name.
    pub(super) fn latest(&self) -> Option<&str> {
        self.latest.as_deref()
    }

    /// Codex has accepted a turn of ours. To be told before any note that came after the acceptance.
    pub(super) fn turn_promised(&mut self, turn_id: &str) {
        if self.running.as_ref().is_none_or(|running| running.id != turn_id) {
            self.promised.insert(turn_id.to_owned());
        }
    }

    /// A turn that Codex has started for us by itself.
    pub(super) fn turn_is_ours(&mut self, turn_id: &str) {
        self.promised.insert(turn_id.to_owned());
    }

    /// Whether the history is rewritten, as it was asked for, and the compaction's turn is not over.
    pub(super) fn has_compacted(&self) -> bool {
        let done = |running: &Running| {
            running.kind == Some(TurnKind::Compaction)
                && matches!(running.compaction, Compaction::Done { .. })
        };
        self.running.as_ref().is_some_and(done)
    }

    /// Whether a turn runs that nobody asked for here.
    pub(super) fn runs_for_others(&self) -> bool {
        let others = |running: &Running| {
            matches!(running.kind, Some(TurnKind::Person { .. } | TurnKind::Host))
        };
        self.running.as_ref().is_some_and(others)
    }

    /// Codex has accepted a compaction.
    pub(super) fn compaction_promised(&mut self) {
        self.compaction_asked = true;
    }

    pub(super) fn read(&mut self, note: Note) -> Vec<HostEvent> {
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
            Note::StatusChanged(note) => self.status = note.status,
            Note::Closed(_) | Note::Settings(_) => {}
            Note::TurnStarted(note) => {
                self.middle = None;
                self.started(note.turn.id, &mut events);
            }
            Note::TurnCompleted(note) => self.completed(note.turn, &mut events),
            Note::ItemStarted(note) => self.item_started(note, &mut events),
            Note::ItemCompleted(note) => self.item_completed(note, &mut events),
            Note::Usage(note) => self.usage(note, &mut events),
            Note::Plan(note) => self.plan(note, &mut events),
            // What Codex does not try again ends the turn, and comes with the turn's end.
            Note::Error(note) if note.will_retry => {
                events.push(HostEvent::Notice(note.error.message))
            }
            Note::Error(_) => {}
            Note::Warning { text, .. } => events.push(HostEvent::Notice(text)),
        }
        events
    }

    /// The turn that this note is the first word of. Of one that was come into that may be its end.
    fn begun_before(&self, note: &Note) -> Option<String> {
        let turn_id = match note {
            Note::TurnCompleted(note) => {
                self.came_into.as_ref().filter(|turn_id| **turn_id == note.turn.id)?
            }
            note => note.inside_turn().filter(|turn_id| self.missed_the_start_of(turn_id))?,
        };
        Some(turn_id.to_owned())
    }

    /// Whoever comes to a thread while a turn runs is not told of its start. Ids of turns grow with time, and things
    /// are said late of turns that are over.
    fn missed_the_start_of(&self, turn_id: &str) -> bool {
        self.access == ThreadAccess::Shared
            && self.status == Status::Active
            && self.running.is_none()
            && self.latest.as_deref().is_none_or(|latest| turn_id > latest)
    }

    fn started(&mut self, turn_id: String, events: &mut Vec<HostEvent>) {
        let promised = self.promised.remove(&turn_id);
        self.came_into = None;
        self.latest = Some(turn_id.clone());
        let running = self.running.insert(Running {
            id: turn_id,
            kind: None,
            compaction: Compaction::None,
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
            // A person's, or the host's own.
            (false, false) => {}
            // The compaction, or a turn that Codex started just before it accepted that.
            (false, true) => {}
        }
    }

    fn completed(&mut self, turn: Turn, events: &mut Vec<HostEvent>) {
        self.promised.remove(&turn.id);
        let held = self.middle.take().and_then(PendingUsage::last);
        let Some(mut running) = self.running.take_if(|running| running.id == turn.id) else {
            events.extend(held);
            return;
        };
        // A hook can end the compaction's turn before its item.
        let kind = if self.compaction_asked { TurnKind::Compaction } else { TurnKind::Host };
        let compacts = *running.is(kind, events) == TurnKind::Compaction;
        events.extend(held);
        if compacts {
            self.compaction_asked = false;
        }
        let error = turn.error.map(|error| error.message);
        running.end_compaction(compacts, turn.status, error.as_deref(), events);
        let said = turn.items.into_iter().rev().find_map(|item| match item {
            Item::AgentMessage { text } => Some(text),
            _ => None,
        });
        events.push(HostEvent::TurnCompleted {
            turn_id: running.id,
            status: ended(turn.status),
            last_agent_message: said.or(running.last_agent_message),
            error,
        });
    }

    fn item_started(&mut self, note: ItemNote, events: &mut Vec<HostEvent>) {
        let ItemNote { turn_id, item, .. } = note;
        self.middle = None;
        let compacts = matches!(item, Item::ContextCompaction);
        let begins = self.turn(&turn_id).is_some_and(|running| running.kind.is_none());
        self.tell_kind(&turn_id, &item, events);
        if let Item::UserMessage { content, .. } = &item
            && !begins
        {
            self.joined(&turn_id, words(content), events);
        }
        if let Some((call_id, name)) = item.tool() {
            self.goes_on(&turn_id);
            let (call_id, name) = (call_id.to_owned(), name.to_owned());
            events.push(HostEvent::ToolStarted { turn_id, call_id, name });
        } else if compacts && let Some(running) = self.turn(&turn_id) {
            running.compaction = Compaction::Running { estimate: None };
            events.push(HostEvent::CompactionStarted { turn_id, origin: running.origin() });
        }
    }

    fn item_completed(&mut self, note: ItemNote, events: &mut Vec<HostEvent>) {
        let ItemNote { turn_id, item, .. } = note;
        let middle = self.middle.take();
        self.tell_kind(&turn_id, &item, events);
        match &item {
            Item::AgentMessage { text } => {
                if let Some(running) = self.turn(&turn_id) {
                    running.last_agent_message = Some(text.clone());
                    running.ends_with_message = true;
                }
                events
                    .push(HostEvent::AgentMessage { turn_id: turn_id.clone(), text: text.clone() });
            }
            Item::CommandExecution { id, command, cwd, exit_code: Some(exit_code) } => {
                events.push(HostEvent::CommandFinished {
                    turn_id: turn_id.clone(),
                    call_id: id.clone(),
                    command: command.clone(),
                    exit_code: *exit_code,
                    cwd: cwd.clone(),
                });
            }
            Item::ContextCompaction => self.compacted(&turn_id, middle, events),
            Item::EnteredReviewMode => {
                events.push(HostEvent::ReviewEntered { turn_id: turn_id.clone() })
            }
            Item::ExitedReviewMode => {
                events.push(HostEvent::ReviewLeft { turn_id: turn_id.clone() })
            }
            _ => {}
        }
        if let Some((call_id, _)) = item.tool() {
            self.goes_on(&turn_id);
            events.push(HostEvent::ToolFinished { turn_id, call_id: call_id.to_owned() });
        }
    }

    /// A message in the middle of a turn. In a thread without people it is the driver's; in a thread with people it
    /// is the driver's where it is marked as such.
    fn joined(&mut self, turn_id: &str, text: String, events: &mut Vec<HostEvent>) {
        if self.access == ThreadAccess::Shared && !is_marked(&text) && self.turn(turn_id).is_some()
        {
            events.push(HostEvent::UserMessage { turn_id: turn_id.to_owned(), text });
        }
    }

    /// Of a compaction that was asked for, the turn's end decides; one inside another turn is over here.
    fn compacted(
        &mut self,
        turn_id: &str,
        middle: Option<PendingUsage>,
        events: &mut Vec<HostEvent>,
    ) {
        let Some(running) = self.turn(turn_id) else { return };
        let estimate = match (running.compaction, middle) {
            (Compaction::Running { estimate }, _) => estimate,
            // It began before we came.
            (_, Some(middle)) => {
                let origin = running.origin();
                events.push(HostEvent::CompactionStarted { turn_id: turn_id.to_owned(), origin });
                middle.estimate()
            }
            (Compaction::None | Compaction::Done { .. }, None) => return,
        };
        if running.kind == Some(TurnKind::Compaction) {
            running.compaction = Compaction::Done { estimate };
        } else {
            running.compaction = Compaction::None;
            let (turn_id, origin) = (turn_id.to_owned(), CompactionOrigin::Host);
            events.push(HostEvent::CompactionCompleted { turn_id, origin, tokens_after: estimate });
        }
    }

    fn usage(&mut self, note: UsageNote, events: &mut Vec<HostEvent>) {
        let UsageNote { turn_id, token_usage: tokens, .. } = note;
        if let Some(running) = self.turn(&turn_id) {
            if let Compaction::Running { estimate } = &mut running.compaction {
                // The old value, the compaction's own request, then an estimate of the new history without input.
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
        let told = (tokens.total.clone(), tokens.last.clone());
        if self.told.as_ref() == Some(&told) {
            return;
        }
        self.told = Some(told);
        self.tell_kind(&turn_id, &Item::Other, events);
        let ends = self
            .turn(&turn_id)
            .is_some_and(|running| std::mem::take(&mut running.ends_with_message));
        events.push(used(turn_id, &tokens, !ends));
    }

    fn plan(&mut self, note: PlanNote, events: &mut Vec<HostEvent>) {
        self.middle = None;
        self.tell_kind(&note.turn_id, &Item::Other, events);
        self.goes_on(&note.turn_id);
        let steps = note.plan.into_iter().map(|step| PlanStep {
            step: step.step,
            status: match step.status {
                StepStatus::Pending => rawr_protocol::StepStatus::Pending,
                StepStatus::InProgress => rawr_protocol::StepStatus::InProgress,
                StepStatus::Completed => rawr_protocol::StepStatus::Completed,
            },
        });
        events.push(HostEvent::PlanUpdated {
            turn_id: note.turn_id,
            // Codex names none.
            call_id: None,
            steps: steps.collect(),
            explanation: note.explanation,
        });
    }

    /// The first thing inside a turn that we did not start says what the turn is.
    fn tell_kind(&mut self, turn_id: &str, first: &Item, events: &mut Vec<HostEvent>) {
        if self.promised.remove(turn_id) {
            if let Some(running) = self.turn(turn_id) {
                running.is(TurnKind::Asked, events);
            }
            return;
        }
        let kind = match first {
            Item::ContextCompaction if self.compaction_asked => TurnKind::Compaction,
            Item::UserMessage { content, .. } if self.access == ThreadAccess::Shared => {
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

    fn turn(&mut self, turn_id: &str) -> Option<&mut Running> {
        self.running.as_mut().filter(|running| running.id == turn_id)
    }
}

fn used(turn_id: String, tokens: &Tokens, needs_follow_up: bool) -> HostEvent {
    HostEvent::Usage {
        turn_id,
        usage: TokenUsage {
            context_tokens: tokens.last.total_tokens,
            input_tokens: Some(tokens.last.input_tokens),
            cached_input_tokens: Some(tokens.last.cached_input_tokens),
            output_tokens: Some(tokens.last.output_tokens),
            reasoning_tokens: Some(tokens.last.reasoning_output_tokens),
        },
        context_window: tokens.model_context_window,
        needs_follow_up,
    }
}

/// Of a turn that is over, anything but a known good end is safest read as a failure.
fn ended(status: TurnStatus) -> rawr_protocol::TurnStatus {
    match status {
        TurnStatus::Completed => rawr_protocol::TurnStatus::Completed,
        TurnStatus::Interrupted => rawr_protocol::TurnStatus::Interrupted,
        TurnStatus::Failed | TurnStatus::InProgress | TurnStatus::Other => {
            rawr_protocol::TurnStatus::Failed
        }
    }
}
