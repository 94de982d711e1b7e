//! Compacts the agent's history: with the provider's compaction or with a summary by the model, in a separate turn or inside
//! one.

use rawr_protocol::{CompactionOrigin, TurnStatus};

use super::agent::Agent;
use super::history::without_oldest;
use super::mailbox::TurnStop;
use super::model::{Model, ModelError, ModelRequest};
use crate::host::{
    CompactionOrder, Compactor, HostEvent, HostSummary, KeptHistory, NO_SUMMARY, SummaryTuning,
    TurnKind,
};

impl<M: Model> Agent<M> {
    /// Runs a compaction as a separate turn.
    pub(super) async fn compaction_turn(&mut self, turn_id: String, order: &CompactionOrder) {
        let started =
            HostEvent::TurnStarted { turn_id: turn_id.clone(), kind: TurnKind::Compaction };
        self.mailbox.tell(started);
        let (status, error) = match self.compact(&turn_id, order).await {
            Ok(()) => (TurnStatus::Completed, None),
            Err(TurnStop::Interrupted) => (TurnStatus::Interrupted, Some(INTERRUPTED.to_owned())),
            Err(TurnStop::Failed(error) | TurnStop::TooLong(error)) => {
                (TurnStatus::Failed, Some(error))
            }
        };
        self.mailbox.tell(HostEvent::TurnCompleted {
            turn_id,
            status,
            last_agent_message: None,
            error,
            overflow: None,
        });
    }

    /// Runs a compaction inside a turn. A failure is reported, and the turn continues.
    pub(super) async fn compact_inside(
        &mut self,
        turn_id: &str,
        order: &CompactionOrder,
    ) -> Result<(), TurnStop> {
        match self.compact(turn_id, order).await {
            Ok(()) | Err(TurnStop::Failed(_) | TurnStop::TooLong(_)) => Ok(()),
            Err(TurnStop::Interrupted) => Err(TurnStop::Interrupted),
        }
    }

    async fn compact(&mut self, turn_id: &str, order: &CompactionOrder) -> Result<(), TurnStop> {
        let turn = || turn_id.to_owned();
        let origin = CompactionOrigin::Rawr;
        self.mailbox.tell(HostEvent::CompactionStarted { turn_id: turn(), origin });
        let rewritten = self.rewrite(order).await;
        self.mailbox.history = self.history.snapshot();
        let event = match &rewritten {
            Ok(()) => {
                let tokens_after = Some(self.history.tokens());
                HostEvent::CompactionCompleted { turn_id: turn(), origin, tokens_after }
            }
            Err(stop) => {
                let error = match stop {
                    TurnStop::Interrupted => INTERRUPTED.to_owned(),
                    TurnStop::Failed(error) | TurnStop::TooLong(error) => error.clone(),
                };
                HostEvent::CompactionFailed { turn_id: turn(), origin, error }
            }
        };
        self.mailbox.tell(event);
        rewritten
    }

    /// Rewrites the history, all at once or not at all.
    async fn rewrite(&mut self, order: &CompactionOrder) -> Result<(), TurnStop> {
        if order.summary == HostSummary::Omitted {
            self.replace(NO_SUMMARY, order.keep);
            return Ok(());
        }
        if order.by == Compactor::Provider {
            let history = self.history.snapshot();
            let Self { model, mailbox, .. } = self;
            match mailbox.while_working(model.rewrite(&history, &order.tuning)).await? {
                Some(Ok(rest)) => {
                    self.history.replace(rest);
                    return Ok(());
                }
                Some(Err(error)) => {
                    let notice =
                        format!("the provider's compaction failed; summarizing locally: {error}");
                    self.mailbox.tell(HostEvent::Notice(notice));
                }
                None => {}
            }
        }
        let summary = self.summary(&order.tuning).await?;
        let prefix = self.settings.prompts.summary_prefix.trim_end();
        self.replace(&format!("{prefix}\n{summary}"), order.keep);
        Ok(())
    }

    fn replace(&mut self, summary: &str, keep: KeptHistory) {
        let window = self.settings.context_window;
        let kept = user_tokens(self.refused_tokens.map_or(window, |refused| refused.min(window)));
        self.history.compact(summary.to_owned(), keep, kept);
    }

    /// Asks for a summary. If the history is too long for the model, only the newer part is summarized.
    async fn summary(&mut self, tuning: &SummaryTuning) -> Result<String, TurnStop> {
        let instructions = self.settings.prompts.compact.clone();
        let want = ModelRequest::Summary { instructions: &instructions, tuning };
        let mut history = self.history.snapshot();
        loop {
            let reply = match self.ask(&history, want).await? {
                Ok(reply) => reply,
                Err(ModelError::TooLong(error)) => match without_oldest(&history) {
                    Some(newer) => {
                        history = std::sync::Arc::new(newer);
                        continue;
                    }
                    None => return Err(ModelError::TooLong(error).into()),
                },
                Err(error) => return Err(error.into()),
            };
            let summary = reply.message.unwrap_or_default();
            if summary.trim().is_empty() {
                return Err(TurnStop::Failed("the model wrote no summary".to_owned()));
            }
            return Ok(summary);
        }
    }
}

const INTERRUPTED: &str = "the compaction was interrupted";

/// The tokens of user messages to keep: an eighth of the window, at most 20,000.
fn user_tokens(context_window: u64) -> u64 {
    (context_window / 8).min(20_000)
}
