//! Folds actions and their reports.

use super::Thread;
use crate::event::{ActionIssued, ActionReported, ActionStatus, HostAction};
use crate::thread::{Issued, Judging, Progress, WaitingInput};
use crate::units::{ActionId, Timestamp, Tokens, TurnId};

/// How many turns and actions are remembered for late reports.
const REMEMBERED: usize = 32;

impl Thread {
    pub(super) fn action_issued(&mut self, issued: &ActionIssued, at: Timestamp) {
        let mut unwanted = None;
        match &issued.kind {
            HostAction::DeliverInput { input, .. } => {
                self.counts.deliveries += 1;
                let text = issued.kind.delivered_text();
                // An id may be used again for another text.
                let is_delivered = |held: &&mut WaitingInput| {
                    held.id == *input && held.action.is_none() && Some(held.text.as_str()) == text
                };
                if let Some(held) = self.held.iter_mut().find(is_delivered) {
                    held.action = Some(issued.action.clone());
                }
            }
            HostAction::Judge { .. } => {
                if let Some(judging) = self.judging_mut() {
                    judging.action = Some(issued.action.clone());
                    judging.since = at;
                }
                self.decided.judged.calls += 1;
            }
            HostAction::SamplePacket { ahead: true, .. } => {
                unwanted = match self.stage.draft_mut() {
                    Some(draft) => draft.replace(issued.action.clone()),
                    None => Some(issued.action.clone()),
                };
                self.decided.drafts.asked += 1;
            }
            HostAction::InjectTurn { .. }
            | HostAction::Compact { .. }
            | HostAction::SamplePacket { .. } => {}
        }
        let running = self.sequence_mut().filter(|sequence| sequence.id == issued.sequence);
        if let Some(sequence) = running {
            sequence.issued(issued, at);
        }
        self.actions.push_back(Issued {
            id: issued.action.clone(),
            sequence: issued.sequence.clone(),
            kind: issued.kind.clone(),
            progress: Progress::Issued,
            issued_at: at,
            turn: None,
            talked_over: false,
        });
        self.withdraw_draft(unwanted);
        self.forget_old();
    }

    pub(super) fn action_reported(&mut self, reported: &ActionReported, v: u16) {
        let progress = match reported.status {
            ActionStatus::Accepted => Progress::Accepted,
            ActionStatus::Completed => Progress::Completed(reported.text.clone()),
            ActionStatus::Failed => Progress::Failed(reported.error.clone().unwrap_or_default()),
        };
        let failed = matches!(progress, Progress::Failed(_));
        self.progressed(&reported.action, progress);
        self.late_handoff_progressed(&reported.action);
        if let Some(turn) = &reported.turn {
            self.bind(turn, &reported.action, v);
        }
        if reported.status == ActionStatus::Accepted {
            self.died_with_its_host(reported);
        }
        let judges = |judging: &Judging| judging.action.as_ref() == Some(&reported.action);
        if failed && self.judging().is_some_and(judges) {
            self.judge_failed(reported.error.as_deref().unwrap_or("the host gave no reason"));
        }
    }

    /// A host that came back may name the turn that carried out a request. If it does not run any more, there will be no
    /// answer.
    fn died_with_its_host(&mut self, reported: &ActionReported) {
        let is_lost = |turn: &TurnId| self.turn(turn).is_some_and(|turn| turn.lost);
        let asks = |issued: &Issued| {
            matches!(issued.kind, HostAction::InjectTurn { .. }) && !issued.kind.hands_over()
        };
        if reported.turn.as_ref().is_some_and(is_lost)
            && self.action(&reported.action).is_some_and(asks)
        {
            let why = "its turn ended with the host that ran it".to_owned();
            self.progressed(&reported.action, Progress::Failed(why));
        }
    }

    /// The compaction was dropped, or work was done since. The counted tokens are those of the context that was read.
    pub(super) fn withdraw_draft(&mut self, draft: Option<ActionId>) {
        let Some(draft) = draft else { return };
        let read = self.gauge.context.unwrap_or_default();
        let unused = &mut self.decided.drafts.unused_tokens;
        *unused = Tokens(unused.0.saturating_add(read.0));
        self.progressed(&draft, Progress::Withdrawn);
    }

    pub(super) fn progressed(&mut self, action: &ActionId, progress: Progress) {
        let Some(issued) = self.actions.iter_mut().find(|issued| issued.id == *action) else {
            return;
        };
        let delivers = matches!(issued.kind, HostAction::DeliverInput { .. });
        let adds_text = issued.progress == Progress::Completed(None)
            && matches!(progress, Progress::Completed(Some(_)));
        // A late "accepted" does not undo a "completed", and the first end counts. Only its text may come later.
        if issued.is_open() || adds_text {
            issued.progress = progress;
        }
        if delivers && !matches!(issued.progress, Progress::Issued) {
            self.held.retain(|held| held.action.as_ref() != Some(action));
        }
    }

    /// Drops old turns and finished actions, but never an open action.
    pub(super) fn forget_old(&mut self) {
        let many = self.turns.len().saturating_sub(REMEMBERED);
        self.turns.drain(..many);
        while self.actions.len() > REMEMBERED
            && let Some(at) = self.actions.iter().position(|issued| !issued.is_open())
        {
            self.actions.remove(at);
        }
    }
}
