//! What rawr requests of the host of a small world, without texts, and the host's reports.

use crate::explore::Violation;
use rawr_core::event::{
    ActionReported, ActionStatus, DeliveredMessage, Event, HostAction, ItemRole, JudgmentAnswered,
    Purpose,
};
use rawr_core::thread::Issued;
use rawr_core::units::{ActionId, InputId, SequenceId, TurnId};

/// An action without its texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostTask {
    pub action: ActionId,
    pub sequence: SequenceId,
    pub what: TaskKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskKind {
    Inject { purpose: Purpose, steers: bool },
    Compact { local: bool, inline: bool },
    Deliver { input: u8, hands_off: bool },
    Sample,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BegunAction {
    pub task: HostTask,
    pub status: ActionStatus,
    pub turn: Option<TurnId>,
    pub text: Option<String>,
}

/// A report of the host. `tells`: the turn that it assigns to a sequence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostReport {
    pub said: ReportKind,
    pub tells: Option<(TurnId, Purpose)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReportKind {
    Event(Event),
    Judged(JudgmentAnswered),
}

pub fn input_id(input: u8) -> InputId {
    InputId::new(format!("i{input}"))
}

/// Every second message closes the work, and confirms a proposal by that.
pub const fn confirms(input: u8) -> bool {
    input.is_multiple_of(2)
}

pub fn input_text(input: u8) -> String {
    let says = if confirms(input) { "Commit and push." } else { "That is still wrong: it fails." };
    format!("{says} ({input})")
}

impl HostTask {
    /// A message must have the user's text, as an item of its own.
    pub fn of(issued: &Issued) -> Result<Self, Violation> {
        let what = match &issued.kind {
            HostAction::InjectTurn { purpose, via_steer, .. } => {
                TaskKind::Inject { purpose: *purpose, steers: *via_steer }
            }
            HostAction::Compact { local, trigger, .. } => {
                let inline = matches!(trigger, rawr_core::event::Trigger::Inline { .. });
                TaskKind::Compact { local: *local, inline }
            }
            HostAction::DeliverInput { input, items } => {
                let number = input.as_str().trim_start_matches('i').parse().unwrap_or(0);
                let texts: Vec<_> =
                    items.iter().filter(|item| item.role == ItemRole::Input).collect();
                let [item] = texts[..] else {
                    return Err(Violation::of(INPUT, format!("{items:?}")));
                };
                if item.text != input_text(number) {
                    return Err(Violation::of(INPUT, format!("{:?} was changed", item.text)));
                }
                let hands_off = |item: &DeliveredMessage| item.role == ItemRole::Handoff;
                TaskKind::Deliver { input: number, hands_off: items.iter().any(hands_off) }
            }
            HostAction::SamplePacket { .. } => TaskKind::Sample,
            HostAction::Judge { .. } => {
                return Err(Violation::of("a judge's question is no task", issued.id.as_str()));
            }
        };
        Ok(Self { action: issued.id.clone(), sequence: issued.sequence.clone(), what })
    }

    pub const fn hands_off(&self) -> bool {
        matches!(
            self.what,
            TaskKind::Inject { purpose: Purpose::Handoff, .. }
                | TaskKind::Deliver { hands_off: true, .. }
        )
    }

    /// The purpose of its turn in a sequence. `None`: the user's own.
    pub const fn makes(&self) -> Option<Purpose> {
        match self.what {
            TaskKind::Inject { purpose, .. } => Some(purpose),
            TaskKind::Deliver { .. } | TaskKind::Compact { .. } | TaskKind::Sample => None,
        }
    }
}

pub const INPUT: &str = "input delivered once, in order, unchanged";
pub const ONCE: &str = "every action done once";
pub const OWED: &str = "a handoff follows a compaction";

impl BegunAction {
    pub fn report(&self) -> HostReport {
        let Self { task, status, turn, text } = self.clone();
        let steered = matches!(task.what, TaskKind::Inject { steers: true, .. });
        let makes = task.makes().filter(|_| !steered);
        let tells = turn.clone().zip(makes);
        let error = None;
        let said = ReportKind::Event(
            ActionReported { action: task.action, status, turn, text, error }.into(),
        );
        HostReport { said, tells }
    }
}
