//! A user's response to a sequence. It is only recorded here; the thread's owner acts on it.

use anyhow::anyhow;
use rawr_protocol::{
    Choice, ErrorCode, Phase, SequenceRespondParams, ThreadGetResult, Until, methods,
};
use serde::Serialize;

use super::threads::{OfThread, ThreadReader, takes_effect, tell};
use rawr_host::sidecar::SidecarError;

pub(super) struct UserResponse {
    pub choice: Choice,
    /// With a snooze.
    pub until: Option<Until>,
    /// What is said once it is recorded.
    pub said: String,
}

#[derive(Debug, Serialize)]
struct Responded<'r> {
    choice: Choice,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<&'r Until>,
    phase: Phase,
}

pub(super) async fn respond(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    wish: &UserResponse,
    as_json: bool,
) -> anyhow::Result<()> {
    let (thread_id, owner) = (thread.thread.thread_id.as_str(), thread.thread.owner.as_deref());
    let (turns, minutes) = match wish.until {
        Some(Until::Turns { turns }) => (Some(turns), None),
        Some(Until::Minutes { minutes }) => (None, Some(minutes)),
        _ => (None, None),
    };
    let params = SequenceRespondParams {
        thread_id: thread_id.to_owned(),
        choice: wish.choice,
        sequence_id: thread.sequence_id.clone(),
        turns,
        minutes,
        packet: None,
    };
    let answered = looker.call::<methods::SequenceRespond>(params).await;
    let phase = answered.map_err(|error| refused(wish.choice, &thread.thread, error))?.phase;
    let responded = Responded { choice: wish.choice, until: wish.until.as_ref(), phase };
    let body = OfThread { thread_id, body: responded, owner };
    tell(as_json, "responded", &body, &[wish.said.clone(), takes_effect(owner)])
}

/// In words for people, who know nothing of the protocol.
fn refused(
    choice: Choice,
    thread: &rawr_protocol::ThreadSummary,
    error: SidecarError,
) -> anyhow::Error {
    let (id, phase) = (&thread.thread_id, thread.phase);
    let told = match (error.code(), choice) {
        (Some(ErrorCode::NoSequence), Choice::Approve) => {
            return anyhow!(
                "nothing waits for an answer on thread {id}: `rawr compact {id}` asks for a compaction"
            );
        }
        (Some(ErrorCode::NoSequence), _) => {
            return anyhow!("no compaction in progress on thread {id}");
        }
        (Some(ErrorCode::NotNow), Choice::CompactNow) => format!(
            "a compaction is under way on thread {id} already ({phase}): `rawr status {id}` shows how far it is"
        ),
        (Some(ErrorCode::NotNow), Choice::Approve) => format!(
            "the compaction of thread {id} waits for no answer ({phase}): `rawr status {id}` shows how far it is"
        ),
        (Some(ErrorCode::NotNow), _) => format!(
            "it is too late to stop the compaction of thread {id} ({phase}): the history is being rewritten"
        ),
        _ => return error.into(),
    };
    // It may say who was faster.
    anyhow::Error::from(error).context(told)
}
