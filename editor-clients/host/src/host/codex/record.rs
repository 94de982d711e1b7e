//! What became of something that Codex was asked for, read off its own record: a driver that has died cannot say.

use rawr_protocol::PendingAction;

use super::Codex;
use super::rollout::past;
use crate::host::record::fate;
use crate::host::{Fate, HostError};

impl Codex {
    pub(super) async fn look_up(&mut self, asked: &PendingAction) -> Result<Fate, HostError> {
        self.ready()?;
        let is_idle = self.is_idle().await?;
        let Some(path) = self.thread.transcript.clone() else { return Ok(Fate::Nothing) };
        let Ok(turns) = tokio::task::spawn_blocking(move || past(&path)).await else {
            return Ok(Fate::Nothing);
        };
        let fate = fate(&turns, asked, is_idle);
        if let Fate::Running { turn_id, .. } = &fate {
            self.turns.turn_promised(turn_id);
        }
        Ok(fate)
    }
}
