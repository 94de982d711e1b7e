//! The queue of actions and prompts for the host, and the outcome of each action. Each action is carried out at most once.

use std::collections::{HashMap, VecDeque};

use rawr_protocol::{Action, ActionReportParams, ActionStatus, CompactionTrigger, PendingAction};

use crate::host::{CompactionOrder, Compactor, Keep, Timing, Tuning};

/// All actions of one session, and the prompts that wait with them.
#[derive(Debug, Default)]
pub(super) struct ActionQueue {
    outcomes: HashMap<String, Outcome>,
    todo: VecDeque<Todo>,
    /// The action that is being carried out: it is queued no more and has no outcome so far.
    in_hand: Option<String>,
}

/// Something to do as soon as the host allows it.
#[derive(Debug, Clone)]
pub(super) enum Todo {
    Perform(PendingAction),
    /// An action that was carried out and asked for again.
    ReportAgain {
        action_id: String,
    },
    /// A person's input that may go to the host.
    Prompt {
        text: String,
    },
}

/// What became of an action.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) status: ActionStatus,
    pub(super) turn_id: Option<String>,
    pub(super) text: Option<String>,
    pub(super) error: Option<String>,
}

impl ActionQueue {
    /// Takes an action up, unless it waits already; one that was begun is only reported again.
    pub(super) fn take_up(&mut self, action: PendingAction) {
        let action_id = &action.action_id;
        if self.outcomes.contains_key(action_id) {
            let action_id = action_id.clone();
            self.todo.push_back(Todo::ReportAgain { action_id });
        } else if !self.waits(action_id) {
            self.todo.push_back(Todo::Perform(action));
        }
    }

    fn waits(&self, action_id: &str) -> bool {
        let queued = self.todo.iter().filter_map(|todo| match todo {
            Todo::Perform(action) => Some(&action.action_id),
            Todo::ReportAgain { .. } | Todo::Prompt { .. } => None,
        });
        queued.chain(&self.in_hand).any(|waiting| waiting == action_id)
    }

    pub(super) fn prompt(&mut self, text: String) {
        self.todo.push_back(Todo::Prompt { text });
    }

    pub(super) fn is_done(&self) -> bool {
        self.todo.is_empty()
    }

    /// The next thing that can be done where the host leaves so much room.
    pub(super) fn next(&mut self, room: HostAvailability) -> Option<Todo> {
        let at = self.todo.iter().position(|todo| todo.needs() <= room)?;
        let todo = self.todo.remove(at);
        self.in_hand = match &todo {
            Some(Todo::Perform(action)) => Some(action.action_id.clone()),
            _ => None,
        };
        todo
    }

    /// The host was busy after all.
    pub(super) fn put_back(&mut self, todo: Todo) {
        self.todo.push_front(todo);
    }

    /// From here on the action counts as carried out.
    pub(super) fn note(&mut self, action_id: &str, outcome: Outcome) {
        self.outcomes.insert(action_id.to_owned(), outcome);
    }

    pub(super) fn report(&self, thread_id: &str, action_id: &str) -> Option<ActionReportParams> {
        let outcome = self.outcomes.get(action_id)?;
        Some(ActionReportParams {
            thread_id: thread_id.to_owned(),
            action_id: action_id.to_owned(),
            status: outcome.status,
            turn_id: outcome.turn_id.clone(),
            text: outcome.text.clone(),
            error: outcome.error.clone(),
        })
    }
}

/// How much a host can take in now; each holds what those before it hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HostAvailability {
    /// It works: a text for the running turn, a question beside it.
    Word,
    /// It works and can be cut off for a compaction.
    Cut,
    /// It stands between two sampling requests and can compact there.
    Compaction,
    /// It is idle.
    Turn,
}

impl Todo {
    fn needs(&self) -> HostAvailability {
        match self {
            Self::Prompt { .. } => HostAvailability::Turn,
            Self::ReportAgain { .. } => HostAvailability::Word,
            Self::Perform(action) => match &action.action {
                Action::InjectTurn { via_steer: true, .. }
                | Action::Judge { .. }
                | Action::SamplePacket { .. } => HostAvailability::Word,
                Action::Compact { .. } if order_of(&action.action).timing == Timing::AtOnce => {
                    HostAvailability::Cut
                }
                Action::Compact { .. } => HostAvailability::Compaction,
                Action::InjectTurn { .. } | Action::DeliverInput { .. } => HostAvailability::Turn,
            },
        }
    }
}

/// How a `compact` action wants it done.
pub(super) fn order_of(action: &Action) -> CompactionOrder {
    let Action::Compact { trigger, model, reasoning_effort, verbosity, local, interrupt } = action
    else {
        return CompactionOrder::default();
    };
    CompactionOrder {
        keep: match trigger {
            CompactionTrigger::Inline { .. } => Keep::Nothing,
            CompactionTrigger::Rawr { .. } | CompactionTrigger::Host | CompactionTrigger::User => {
                Keep::UserMessages
            }
        },
        by: if *local { Compactor::Host } else { Compactor::Provider },
        timing: if *interrupt { Timing::AtOnce } else { Timing::BetweenRequests },
        tuning: Tuning {
            model: model.clone(),
            reasoning_effort: reasoning_effort.clone(),
            verbosity: verbosity.clone(),
        },
    }
}

impl Outcome {
    pub(super) fn accepted(turn_id: Option<&str>) -> Self {
        Self::of(ActionStatus::Accepted, turn_id)
    }

    pub(super) fn completed(turn_id: &str, text: Option<String>) -> Self {
        Self { text, ..Self::of(ActionStatus::Completed, Some(turn_id)) }
    }

    /// What a model said outside the conversation.
    pub(super) fn sampled(text: String) -> Self {
        Self { text: Some(text), ..Self::of(ActionStatus::Completed, None) }
    }

    /// Without the action.
    pub(super) fn done_before() -> Self {
        Self::of(ActionStatus::Completed, None)
    }

    pub(super) fn failed(turn_id: Option<&str>, error: String) -> Self {
        Self { error: Some(error), ..Self::of(ActionStatus::Failed, turn_id) }
    }

    fn of(status: ActionStatus, turn_id: Option<&str>) -> Self {
        Self { status, turn_id: turn_id.map(str::to_owned), text: None, error: None }
    }
}
