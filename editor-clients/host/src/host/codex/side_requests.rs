//! Questions to the model outside the conversation: samples of it, and judgments in a thread of their own.
//! They never touch the conversation's history, and its turns are none of their business.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::Connection;
use super::message::{Item, Note, Refusal, Turn, TurnStatus};
use super::{ThreadAnswer, inputs};
use crate::host::{HostEvent, Question};

/// What was asked and not answered yet.
#[derive(Debug, Default)]
pub(super) struct SideRequests {
    /// By the id of the request that was sent last for it.
    awaited: HashMap<u64, Awaited>,
    /// Judgments whose model is at work, by the thread that they run in.
    judging: HashMap<String, Judging>,
}

#[derive(Debug)]
enum Awaited {
    Sample { request_id: String },
    JudgeThread { question: Question },
    JudgeTurn { thread_id: String },
}

#[derive(Debug)]
struct Judging {
    request_id: String,
    last_message: Option<String>,
}

#[derive(Deserialize)]
struct SampleAnswer {
    /// Absent when the model called a tool; nothing is executed then.
    text: Option<String>,
}

impl SideRequests {
    /// `turn_id` is the conversation's latest turn, which may be running.
    pub(super) fn sample(
        &mut self,
        connection: &mut Connection,
        thread_id: &str,
        turn_id: &str,
        question: Question,
    ) {
        let params = json!({
            "threadId": thread_id,
            "expectedTurnId": turn_id,
            "allowInProgressTurn": true,
            "prompt": question.text,
        });
        let id = connection.post("thread/sample", params);
        self.awaited.insert(id, Awaited::Sample { request_id: question.request_id });
    }

    /// Judges on the user's own login, in a thread that is never stored.
    pub(super) fn judge(&mut self, connection: &mut Connection, cwd: &Path, question: Question) {
        let params = json!({
            "cwd": cwd,
            "ephemeral": true,
            "approvalPolicy": "never",
            "sandbox": "read-only",
            "baseInstructions": question.instructions,
        });
        let id = connection.post("thread/start", params);
        self.awaited.insert(id, Awaited::JudgeThread { question });
    }

    /// Goes on with what the reply is for. A reply that nobody waits for is passed over.
    pub(super) fn replied(
        &mut self,
        connection: &mut Connection,
        id: u64,
        answer: Result<Value, Refusal>,
    ) -> Option<HostEvent> {
        match (self.awaited.remove(&id)?, answer) {
            (Awaited::Sample { request_id }, answer) => Some(answered(request_id, sampled(answer))),
            (Awaited::JudgeThread { question }, Ok(answer)) => {
                let Ok(thread) = serde_json::from_value::<ThreadAnswer>(answer) else {
                    return Some(answered(
                        question.request_id,
                        Err("codex did not name its thread".to_owned()),
                    ));
                };
                self.put(connection, thread.thread.id, question);
                None
            }
            (Awaited::JudgeThread { question }, Err(refusal)) => {
                Some(answered(question.request_id, Err(refusal.message)))
            }
            (Awaited::JudgeTurn { thread_id }, Err(refusal)) => {
                self.end(connection, &thread_id, Err(refusal.message))
            }
            (Awaited::JudgeTurn { .. }, Ok(_)) => None,
        }
    }

    /// Whether a note is about the thread of a judgment.
    pub(super) fn concerns(&self, note: &Note) -> bool {
        note.thread_id().is_some_and(|thread_id| self.judging.contains_key(thread_id))
    }

    /// Reads such a note.
    pub(super) fn read(&mut self, connection: &mut Connection, note: Note) -> Option<HostEvent> {
        match note {
            Note::ItemCompleted(note) => {
                if let Item::AgentMessage { text } = note.item {
                    self.judging.get_mut(&note.thread_id)?.last_message = Some(text);
                }
                None
            }
            Note::TurnCompleted(note) => {
                let said = self.judging.get_mut(&note.thread_id)?.last_message.take();
                self.end(connection, &note.thread_id, verdict(said, note.turn))
            }
            _ => None,
        }
    }

    fn put(&mut self, connection: &mut Connection, thread_id: String, question: Question) {
        let params = json!({
            "threadId": thread_id,
            "input": inputs(&[&question.text]),
            "outputSchema": question.output_schema,
            "effort": "low",
        });
        let id = connection.post("turn/start", params);
        self.awaited.insert(id, Awaited::JudgeTurn { thread_id: thread_id.clone() });
        self.judging
            .insert(thread_id, Judging { request_id: question.request_id, last_message: None });
    }

    fn end(
        &mut self,
        connection: &mut Connection,
        thread_id: &str,
        answer: Result<String, String>,
    ) -> Option<HostEvent> {
        let judging = self.judging.remove(thread_id)?;
        connection.post("thread/unsubscribe", json!({"threadId": thread_id}));
        Some(answered(judging.request_id, answer))
    }
}

fn answered(request_id: String, answer: Result<String, String>) -> HostEvent {
    HostEvent::Answered { request_id, answer }
}

const NO_ANSWER: &str = "the model gave no answer";

fn sampled(answer: Result<Value, Refusal>) -> Result<String, String> {
    let answer = answer.map_err(|refusal| refusal.message)?;
    let answer: SampleAnswer = serde_json::from_value(answer).map_err(|error| error.to_string())?;
    answer.text.filter(|text| !text.is_empty()).ok_or_else(|| NO_ANSWER.to_owned())
}

fn verdict(said: Option<String>, turn: Turn) -> Result<String, String> {
    match (turn.status, said, turn.error) {
        (TurnStatus::Completed, Some(said), _) if !said.is_empty() => Ok(said),
        (_, _, Some(error)) => Err(error.message),
        (TurnStatus::Completed, _, None) => Err(NO_ANSWER.to_owned()),
        (_, _, None) => Err("the judgment was interrupted".to_owned()),
    }
}
