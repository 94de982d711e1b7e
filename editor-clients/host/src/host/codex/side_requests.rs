//! Questions to the model outside the conversation: samples, and judgments in an ephemeral thread. They must not change the
//! conversation's history.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::connection::CodexConnection;
use super::message::{CodexError, CodexItem, CodexNotification, CodexTurn, CodexTurnStatus};
use super::{ThreadAnswer, requests};
use crate::host::{HostEvent, ModelQuestion};

/// The pending questions.
#[derive(Debug, Default)]
pub(super) struct SideRequests {
    /// Questions that wait for a reply, by request id.
    awaited: HashMap<u64, PendingReply>,
    /// Running judgments, by thread id.
    judging: HashMap<String, RunningJudgment>,
}

#[derive(Debug)]
enum PendingReply {
    Sample { request_id: String },
    JudgeThread { question: ModelQuestion },
    JudgeTurn { thread_id: String },
}

#[derive(Debug)]
struct RunningJudgment {
    request_id: String,
    last_message: Option<String>,
}

#[derive(Deserialize)]
struct SampleAnswer {
    /// Absent if the model called a tool, which is not executed.
    text: Option<String>,
}

impl SideRequests {
    /// Samples the model after `turn_id`, the conversation's latest turn, which may be running.
    pub(super) fn sample(
        &mut self,
        connection: &mut CodexConnection,
        thread_id: &str,
        turn_id: &str,
        question: ModelQuestion,
    ) {
        let id = connection.post(requests::sample(thread_id, turn_id, &question));
        self.awaited.insert(id, PendingReply::Sample { request_id: question.request_id });
    }

    /// Starts a judgment with the user's login, in a thread that Codex does not store.
    pub(super) fn judge(
        &mut self,
        connection: &mut CodexConnection,
        cwd: &Path,
        question: ModelQuestion,
    ) {
        let id = connection.post(requests::judge_thread(cwd, &question));
        self.awaited.insert(id, PendingReply::JudgeThread { question });
    }

    /// Handles a reply. An unexpected reply is ignored.
    pub(super) fn replied(
        &mut self,
        connection: &mut CodexConnection,
        id: u64,
        answer: Result<Value, CodexError>,
    ) -> Option<HostEvent> {
        match (self.awaited.remove(&id)?, answer) {
            (PendingReply::Sample { request_id }, answer) => {
                Some(answered(request_id, sampled(answer)))
            }
            (PendingReply::JudgeThread { question }, Ok(answer)) => {
                let Ok(thread) = serde_json::from_value::<ThreadAnswer>(answer) else {
                    return Some(answered(
                        question.request_id,
                        Err("codex did not name its thread".to_owned()),
                    ));
                };
                self.put(connection, thread.thread.id, question);
                None
            }
            (PendingReply::JudgeThread { question }, Err(refusal)) => {
                Some(answered(question.request_id, Err(refusal.message)))
            }
            (PendingReply::JudgeTurn { thread_id }, Err(refusal)) => {
                self.end(connection, &thread_id, Err(refusal.message))
            }
            (PendingReply::JudgeTurn { .. }, Ok(_)) => None,
        }
    }

    /// Whether a notification is about the thread of a judgment.
    pub(super) fn concerns(&self, note: &CodexNotification) -> bool {
        note.thread_id().is_some_and(|thread_id| self.judging.contains_key(thread_id))
    }

    /// Handles such a notification.
    pub(super) fn read(
        &mut self,
        connection: &mut CodexConnection,
        note: CodexNotification,
    ) -> Option<HostEvent> {
        match note {
            CodexNotification::ItemCompleted(note) => {
                if let CodexItem::AgentMessage { text } = note.item {
                    self.judging.get_mut(&note.thread_id)?.last_message = Some(text);
                }
                None
            }
            CodexNotification::TurnCompleted(note) => {
                let said = self.judging.get_mut(&note.thread_id)?.last_message.take();
                self.end(connection, &note.thread_id, verdict(said, note.turn))
            }
            _ => None,
        }
    }

    fn put(
        &mut self,
        connection: &mut CodexConnection,
        thread_id: String,
        question: ModelQuestion,
    ) {
        let id = connection.post(requests::judge_turn(&thread_id, &question));
        self.awaited.insert(id, PendingReply::JudgeTurn { thread_id: thread_id.clone() });
        self.judging.insert(
            thread_id,
            RunningJudgment { request_id: question.request_id, last_message: None },
        );
    }

    fn end(
        &mut self,
        connection: &mut CodexConnection,
        thread_id: &str,
        answer: Result<String, String>,
    ) -> Option<HostEvent> {
        let judging = self.judging.remove(thread_id)?;
        connection.post(requests::unsubscribe(thread_id));
        Some(answered(judging.request_id, answer))
    }
}

fn answered(request_id: String, answer: Result<String, String>) -> HostEvent {
    HostEvent::Answered { request_id, answer }
}

const NO_ANSWER: &str = "the model gave no answer";

fn sampled(answer: Result<Value, CodexError>) -> Result<String, String> {
    let answer = answer.map_err(|refusal| refusal.message)?;
    let answer: SampleAnswer = serde_json::from_value(answer).map_err(|error| error.to_string())?;
    answer.text.filter(|text| !text.is_empty()).ok_or_else(|| NO_ANSWER.to_owned())
}

fn verdict(said: Option<String>, turn: CodexTurn) -> Result<String, String> {
    match (turn.status, said, turn.error) {
        (CodexTurnStatus::Completed, Some(said), _) if !said.is_empty() => Ok(said),
        (_, _, Some(error)) => Err(error.message),
        (CodexTurnStatus::Completed, _, None) => Err(NO_ANSWER.to_owned()),
        (_, _, None) => Err("the judgment was interrupted".to_owned()),
    }
}
