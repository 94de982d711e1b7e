//! The host of a replay: it carries out at once what the core asks for. Decides nothing.

use super::{ASSUMED_WINDOW, LANDS_AT_PERCENT, PlayMode, Player, ScriptedJudge};
use rawr_core::Input;
use rawr_core::event::{
    ActionReported, ActionStatus, CompactionOrigin, CompactionReportStatus, CompactionReported,
    HostAction, JudgeReply, JudgmentAnswered, TurnCompleted, TurnOrigin, TurnStarted, TurnStatus,
    Usage,
};
use rawr_core::thread::Issued;
use rawr_core::units::{ActionId, Tokens, TurnId};

impl Player<'_> {
    pub(super) fn perform(&mut self, action: Issued) {
        match &action.kind {
            HostAction::Judge { request, by, .. } => self.step(Input::Judged(JudgmentAnswered {
                request: request.clone(),
                source: *by,
                answer: match self.judge() {
                    Some(should_compact) => JudgeReply::Says {
                        should_compact,
                        reason: "as the scenario has it".to_owned(),
                    },
                    None => JudgeReply::Failed { error: "a replay asks no model".to_owned() },
                },
                usage: None,
                rate_limits: Vec::new(),
            })),
            HostAction::SamplePacket { .. } => {
                self.report_action(&action.id, ActionStatus::Failed, None);
            }
            HostAction::Compact { .. } => self.compact(&action.id),
            HostAction::InjectTurn { via_steer: true, .. } | HostAction::DeliverInput { .. } => {
                self.report_action(&action.id, ActionStatus::Completed, None);
            }
            HostAction::InjectTurn { .. } => {
                self.inputs += 1;
                let turn = TurnId::new(format!("r{}", self.inputs));
                let id = Some(action.id.clone());
                let started = turn_started(turn.clone(), TurnOrigin::Synthetic, id, None);
                self.step(Input::Saw(started.into()));
                let used = Some(usage(self.context));
                let ended = turn_completed(turn.clone(), TurnStatus::Completed, None, used);
                self.step(Input::Saw(ended.into()));
                self.report_action(&action.id, ActionStatus::Completed, Some(turn));
            }
        }
    }

    /// What the judge answers, if it does.
    pub(super) fn judge(&self) -> Option<bool> {
        match self.settings.mode {
            PlayMode::Scenario(ScriptedJudge::Yes) => Some(true),
            PlayMode::Scenario(ScriptedJudge::No) => Some(false),
            PlayMode::Record | PlayMode::Scenario(ScriptedJudge::Silent) => None,
        }
    }

    fn compact(&mut self, action: &ActionId) {
        let before = self.context;
        let window = self.machine.thread().gauge.window.unwrap_or(ASSUMED_WINDOW);
        let after = Tokens((window.0 / 100).saturating_mul(LANDS_AT_PERCENT).min(before.0));
        self.meter.compacts(self.report.model.as_deref(), before);
        self.freed += before.0 - after.0;
        self.context = after;
        for status in [CompactionReportStatus::Started, CompactionReportStatus::Completed] {
            self.step(Input::Saw(
                CompactionReported {
                    status,
                    origin: CompactionOrigin::Rawr,
                    action: Some(action.clone()),
                    tokens_before: Some(before),
                    tokens_after: (status == CompactionReportStatus::Completed).then_some(after),
                    error: None,
                }
                .into(),
            ));
        }
        self.report_action(action, ActionStatus::Completed, None);
    }

    fn report_action(&mut self, id: &ActionId, status: ActionStatus, turn: Option<TurnId>) {
        // The core may have taken the compaction's own report as the end already.
        let is_open = self.machine.thread().action(id).is_some_and(Issued::is_open);
        if is_open {
            let report =
                ActionReported { action: id.clone(), status, turn, text: None, error: None };
            self.step(Input::Saw(report.into()));
        }
    }
}

pub(super) fn usage(context: Tokens) -> Usage {
    Usage { context, input: None, cached: None, output: None, reasoning: None }
}

pub(super) fn turn_started(
    turn: TurnId,
    origin: TurnOrigin,
    action: Option<ActionId>,
    text: Option<String>,
) -> TurnStarted {
    TurnStarted { turn, origin, action, text, directives: Vec::new() }
}

pub(super) fn turn_completed(
    turn: TurnId,
    status: TurnStatus,
    last_message: Option<String>,
    usage: Option<Usage>,
) -> TurnCompleted {
    TurnCompleted {
        turn,
        status,
        overflow: None,
        last_message,
        usage,
        queued_inputs: 0,
        review_mode: false,
        boundaries: Default::default(),
        heard: None,
    }
}
