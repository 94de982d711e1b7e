//! The queue of actions and prompts for the host, and the outcome of each action. Each action is carried out at most once.

use std::collections::{HashMap, HashSet, VecDeque};

use rawr_protocol::{Action, ActionReportParams, ActionStatus, CompactionTrigger, PendingAction};

use crate::host::{
    CompactionOrder, CompactionTiming, Compactor, HostSummary, KeptHistory, SummaryTuning,
};

/// The actions of one session, and the prompts queued with them.
#[derive(Debug, Default)]
pub(super) struct ActionQueue {
    outcomes: HashMap<String, ActionOutcome>,
    todo: VecDeque<QueuedWork>,
    /// The action that is being carried out. It is no longer queued and has no outcome yet.
    in_hand: Option<String>,
    /// Pending questions to the host's model, by action id.
    pub(super) questions: HashMap<String, QuestionPurpose>,
    /// Sequences with actions that were issued before this driver opened the thread. The host may already have carried them
    /// out, and an earlier driver may have prepared their handoff.
    pub(super) in_doubt: HashSet<String>,
    /// Those of them that are not continued, because of where their message is, with the reason.
    pub(super) given_up: HashMap<String, &'static str>,
    /// Sequences whose handoff is in the conversation without the held message.
    pub(super) handed_over: HashSet<String>,
    /// The host refused a request although it seemed idle. Do not retry before its next event.
    pub(super) is_blocked: bool,
}

/// What a question to the host's model is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum QuestionPurpose {
    Judgment { request_id: String },
    Packet,
}

/// Work to do as soon as the host is available for it.
#[derive(Debug, Clone)]
pub(super) enum QueuedWork {
    Perform(PendingAction),
    /// An action that was already carried out and is requested again.
    ReportAgain {
        action_id: String,
    },
    /// A user message to send to the host.
    Prompt {
        text: String,
    },
}

/// The result of an action, as it is reported to the sidecar.
#[derive(Debug, Clone)]
pub(super) struct ActionOutcome {
    pub(super) status: ActionStatus,
    pub(super) turn_id: Option<String>,
    pub(super) text: Option<String>,
    pub(super) error: Option<String>,
}

impl ActionQueue {
    /// Queues an action unless it is queued already. For an action that was started, queues only another report.
    pub(super) fn take_up(&mut self, action: PendingAction) {
        let action_id = &action.action_id;
        if self.outcomes.contains_key(action_id) {
            let action_id = action_id.clone();
            self.todo.push_back(QueuedWork::ReportAgain { action_id });
        } else if !self.waits(action_id) {
            self.todo.push_back(QueuedWork::Perform(action));
        }
    }

    fn waits(&self, action_id: &str) -> bool {
        let queued = self.todo.iter().filter_map(|todo| match todo {
            QueuedWork::Perform(action) => Some(&action.action_id),
            QueuedWork::ReportAgain { .. } | QueuedWork::Prompt { .. } => None,
        });
        queued.chain(&self.in_hand).any(|waiting| waiting == action_id)
    }

    pub(super) fn prompt(&mut self, text: String) {
        self.todo.push_back(QueuedWork::Prompt { text });
    }

    /// Takes the user messages that the host was not given.
    pub(super) fn take_prompts(&mut self) -> Vec<String> {
        let (prompts, others) = std::mem::take(&mut self.todo)
            .into_iter()
            .partition(|todo| matches!(todo, QueuedWork::Prompt { .. }));
        self.todo = others;
        let text = |todo| match todo {
            QueuedWork::Prompt { text } => Some(text),
            QueuedWork::Perform(_) | QueuedWork::ReportAgain { .. } => None,
        };
        VecDeque::into_iter(prompts).filter_map(text).collect()
    }

    pub(super) fn is_done(&self) -> bool {
        self.todo.is_empty()
    }

    /// Whether an action waits until what runs has ended.
    pub(super) fn has_action_that_waits(&self) -> bool {
        let waits = |todo: &QueuedWork| {
            matches!(todo, QueuedWork::Perform(_)) && todo.needs() > HostAvailability::Word
        };
        self.todo.iter().any(waits)
    }

    /// Removes and returns the first entry that the host is available for.
    pub(super) fn next(&mut self, room: HostAvailability) -> Option<QueuedWork> {
        let at = self.todo.iter().position(|todo| todo.needs() <= room)?;
        let todo = self.todo.remove(at);
        self.in_hand = match &todo {
            Some(QueuedWork::Perform(action)) => Some(action.action_id.clone()),
            _ => None,
        };
        todo
    }

    /// Returns an entry to the front of the queue because the host was busy, until the host's next event.
    pub(super) fn requeue(&mut self, todo: QueuedWork) {
        self.is_blocked = true;
        self.todo.push_front(todo);
    }

    /// Records an outcome. The action is not carried out again.
    pub(super) fn note(&mut self, action_id: &str, outcome: ActionOutcome) {
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

/// What a host can accept now. Each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HostAvailability {
    /// A turn runs: a text for that turn, or a question outside the conversation.
    Word,
    /// A turn runs and can be interrupted for a compaction.
    Cut,
    /// A turn is paused between two sampling requests and can compact there.
    Compaction,
    /// The host is idle.
    Turn,
}

impl QueuedWork {
    fn needs(&self) -> HostAvailability {
        match self {
            Self::Prompt { .. } => HostAvailability::Turn,
            Self::ReportAgain { .. } => HostAvailability::Word,
            Self::Perform(action) => match &action.action {
                Action::InjectTurn { via_steer: true, .. }
                | Action::Judge { .. }
                | Action::SamplePacket { .. } => HostAvailability::Word,
                Action::Compact { .. }
                    if order_of(&action.action).timing == CompactionTiming::AtOnce =>
                {
                    HostAvailability::Cut
                }
                Action::Compact { .. } => HostAvailability::Compaction,
                Action::InjectTurn { .. } | Action::DeliverInput { .. } => HostAvailability::Turn,
            },
        }
    }
}

/// Translates a `compact` action to an order for the host.
pub(super) fn order_of(action: &Action) -> CompactionOrder {
    let Action::Compact {
        trigger,
        model,
        reasoning_effort,
        verbosity,
        packet_only,
        local,
        interrupt,
    } = action
    else {
        return CompactionOrder::default();
    };
    let keep = match trigger {
        CompactionTrigger::Inline { .. } => KeptHistory::Nothing,
        CompactionTrigger::Rawr { .. } | CompactionTrigger::Host | CompactionTrigger::User => {
            KeptHistory::UserMessages
        }
    };
    CompactionOrder {
        keep,
        // A compaction that keeps nothing has no packet, either.
        summary: match *packet_only && keep == KeptHistory::UserMessages {
            true => HostSummary::Omitted,
            false => HostSummary::Written,
        },
        by: if *local { Compactor::Host } else { Compactor::Provider },
        timing: if *interrupt {
            CompactionTiming::AtOnce
        } else {
            CompactionTiming::BetweenRequests
        },
        tuning: SummaryTuning {
            model: model.clone(),
            reasoning_effort: reasoning_effort.clone(),
            verbosity: verbosity.clone(),
        },
        before_message: false,
    }
}

impl ActionOutcome {
    pub(super) fn accepted(turn_id: Option<&str>) -> Self {
        Self::of(ActionStatus::Accepted, turn_id)
    }

    pub(super) fn completed(turn_id: &str, text: Option<String>) -> Self {
        Self { text, ..Self::of(ActionStatus::Completed, Some(turn_id)) }
    }

    /// A model's answer outside the conversation.
    pub(super) fn sampled(text: String) -> Self {
        Self { text: Some(text), ..Self::of(ActionStatus::Completed, None) }
    }

    /// Done before the action was carried out.
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
