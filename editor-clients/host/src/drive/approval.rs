//! The user's answer to the banner, if a user is at the terminal. The sidecar decides what follows.

use rawr_protocol::{Choice, Phase, SequenceRespondParams, methods};

use super::driver::DriverTask;
use super::result::DriveError;
use crate::event::{NoticeLevel, SessionEvent};

const HOW_TO_ANSWER: &str =
    "answer y (approve), n (skip this one) or l (not now, after one more turn)";

impl DriverTask<'_> {
    /// Whether the sequence waits for approval by a user at the terminal.
    pub(super) fn asks_person(&self) -> bool {
        self.link.phase == Phase::AwaitingApproval && self.port.prompts().can_be_asked
    }

    /// Shows once how to answer: here, or without a terminal from elsewhere.
    pub(super) fn invite(&mut self) -> Result<(), DriveError> {
        let waits = self.link.phase == Phase::AwaitingApproval;
        if waits && !self.is_invited {
            let message = match self.port.prompts().can_be_asked {
                true => HOW_TO_ANSWER.to_owned(),
                false => format!(
                    "answer with `rawr compact {} --approve` or `--cancel`, in `rawr watch`, or in an editor",
                    self.thread_id
                ),
            };
            let level = NoticeLevel::Info;
            self.reporter.report(&SessionEvent::Notice { level, message: &message })?;
        }
        self.is_invited = waits;
        Ok(())
    }

    pub(super) async fn answer(&mut self, line: String) -> Result<(), DriveError> {
        let (choice, turns) = match line.trim().to_lowercase().as_str() {
            "y" | "yes" => (Choice::Approve, None),
            "n" | "no" => (Choice::Cancel, None),
            "l" | "later" => (Choice::Snooze, Some(1)),
            _ if self.port.prompts().takes_lines => return self.submit(line).await,
            _ => {
                self.is_invited = false;
                return Ok(());
            }
        };
        self.respond(choice, turns).await
    }

    /// The user's answer to a sequence is that they go on without it.
    pub(super) async fn decline(&mut self) -> Result<(), DriveError> {
        match self.link.phase.is_settled() {
            true => Ok(()),
            false => self.respond(Choice::Cancel, None).await,
        }
    }

    async fn respond(&mut self, choice: Choice, turns: Option<u64>) -> Result<(), DriveError> {
        let params = SequenceRespondParams {
            thread_id: self.thread_id.clone(),
            choice,
            sequence_id: None,
            turns,
            minutes: None,
            packet: None,
        };
        if let Some(answer) = self.report::<methods::SequenceRespond>(params).await? {
            self.link.phase = answer.phase;
        }
        Ok(())
    }
}
