//! How the agent's history is rewritten: by the model's provider, or by a summary of the model's own; in a turn of its own or inside one. When is not decided here.

use rawr_protocol::{CompactionOrigin, TurnStatus};

use super::agent::{Agent, Stop};
use super::history::without_oldest;
use super::model::{Model, ModelError, ModelRequest};
use crate::host::{CompactionOrder, Compactor, HostEvent, Tuning, TurnKind};

impl<M: Model> Agent<M> {
    /// A compaction that is a turn to whoever watches.
    pub(super) async fn compaction_turn(&mut self, turn_id: String, order: &CompactionOrder) {
        let started =
            HostEvent::TurnStarted { turn_id: turn_id.clone(), kind: TurnKind::Compaction };
        self.mailbox.tell(started);
        let (status, error) = match self.compact(&turn_id, order).await {
            Ok(()) => (TurnStatus::Completed, None),
            Err(Stop::Interrupted) => (TurnStatus::Interrupted, Some(INTERRUPTED.to_owned())),
            Err(Stop::Failed(error)) => (TurnStatus::Failed, Some(error)),
        };
        let last_agent_message = None;
        self.mailbox.tell(HostEvent::TurnCompleted { turn_id, status, last_agent_message, error });
    }

    /// A compaction that fails is told and leaves the turn as it was.
    pub(super) async fn compact_inside(
        &mut self,
        turn_id: &str,
        order: &CompactionOrder,
    ) -> Result<(), Stop> {
        match self.compact(turn_id, order).await {
            Ok(()) | Err(Stop::Failed(_)) => Ok(()),
            Err(Stop::Interrupted) => Err(Stop::Interrupted),
        }
    }

    async fn compact(&mut self, turn_id: &str, order: &CompactionOrder) -> Result<(), Stop> {
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
                    Stop::Interrupted => INTERRUPTED.to_owned(),
                    Stop::Failed(error) => error.clone(),
                };
                HostEvent::CompactionFailed { turn_id: turn(), origin, error }
            }
        };
        self.mailbox.tell(event);
        rewritten
    }

    /// The history is touched in one step at the end, or not at all.
    async fn rewrite(&mut self, order: &CompactionOrder) -> Result<(), Stop> {
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
        let kept = user_tokens(self.settings.context_window);
        self.history.compact(format!("{prefix}\n{summary}"), order.keep, kept);
        Ok(())
    }

    /// Of a history that the model cannot take as a whole, the newer part is summed up.
    async fn summary(&mut self, tuning: &Tuning) -> Result<String, Stop> {
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
                    None => return Err(Stop::Failed(ModelError::TooLong(error).to_string())),
                },
                Err(error) => return Err(error.into()),
            };
            let summary = reply.message.unwrap_or_default();
            if summary.trim().is_empty() {
                return Err(Stop::Failed("the model wrote no summary".to_owned()));
            }
            return Ok(summary);
        }
    }
}

const INTERRUPTED: &str = "it was interrupted";

/// How much of the user's messages outlives a compaction: an eighth of the window, and no host keeps more than this.
fn user_tokens(context_window: u64) -> u64 {
    (context_window / 8).min(20_000)
}
