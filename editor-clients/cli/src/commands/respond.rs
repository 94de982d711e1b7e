//! Records a user's response to a sequence. The thread's owner acts on it.

use anyhow::anyhow;
use rawr_protocol::{
    Choice, ErrorCode, Phase, SequenceRespondParams, SequenceRespondResult, ThreadGetResult,
    ThreadSummary, Until, methods,
};
use serde::Serialize;

use super::threads::{OfThread, ThreadReader, print_result, saved_for};
use crate::render;
use rawr_host::sidecar::SidecarError;

pub(super) struct UserResponse {
    pub choice: Choice,
    /// The length of a snooze.
    pub until: Option<Until>,
}

#[derive(Debug, Serialize)]
struct ResponseLine<'r> {
    choice: Choice,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<&'r Until>,
    phase: Phase,
}

/// Records the response and prints its confirmation.
pub(super) async fn respond(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    wish: &UserResponse,
    as_json: bool,
) -> anyhow::Result<()> {
    let saved = saved_for(&thread.thread, &looker.threads);
    let response = record(looker, thread, wish).await?;
    let confirmation = render::recorded(response.line.choice, wish.until.as_ref());
    response.print(as_json, &[confirmation, saved])
}

/// Records the response.
pub(super) async fn record<'r>(
    looker: &mut ThreadReader,
    thread: &'r ThreadGetResult,
    wish: &'r UserResponse,
) -> anyhow::Result<RecordedResponse<'r>> {
    let (turns, minutes) = match wish.until {
        Some(Until::Turns { turns }) => (Some(turns), None),
        Some(Until::Minutes { minutes }) => (None, Some(minutes)),
        _ => (None, None),
    };
    let params = SequenceRespondParams {
        thread_id: thread.thread.thread_id.clone(),
        choice: wish.choice,
        sequence_id: thread.sequence_id.clone(),
        turns,
        minutes,
        packet: None,
    };
    let answered = looker.call::<methods::SequenceRespond>(params).await;
    let SequenceRespondResult { choice, phase } =
        answered.map_err(|error| refused(wish.choice, &thread.thread, error))?;
    let line = ResponseLine { choice, until: wish.until.as_ref(), phase };
    Ok(RecordedResponse { thread: &thread.thread, line })
}

/// A response that the sidecar has stored.
pub(super) struct RecordedResponse<'r> {
    thread: &'r ThreadSummary,
    line: ResponseLine<'r>,
}

impl RecordedResponse<'_> {
    /// Prints it as JSON, or these lines.
    pub(super) fn print(self, as_json: bool, lines: &[String]) -> anyhow::Result<()> {
        let Self { thread, line: body } = self;
        let (thread_id, owner) = (thread.thread_id.as_str(), thread.owner.as_deref());
        print_result(as_json, "responded", &OfThread { thread_id, body, owner }, lines)
    }
}

/// Explains a refusal without the protocol's terms.
fn refused(choice: Choice, thread: &ThreadSummary, error: SidecarError) -> anyhow::Error {
    let (id, phase) = (&thread.thread_id, thread.phase);
    let told = match (error.code(), choice) {
        (Some(ErrorCode::NoSequence), Choice::Approve) => {
            return anyhow!(
                "no compaction is waiting for an answer on thread {id}; request one with `rawr compact {id}`"
            );
        }
        (Some(ErrorCode::NoSequence), _) => {
            return anyhow!("no compaction in progress on thread {id}");
        }
        (Some(ErrorCode::NotNow), Choice::CompactNow) => format!(
            "a compaction is already in progress on thread {id} ({phase}); `rawr status {id}` shows its progress"
        ),
        (Some(ErrorCode::NotNow), Choice::Approve) => format!(
            "the compaction of thread {id} is not waiting for an answer ({phase}); `rawr status {id}` shows its progress"
        ),
        (Some(ErrorCode::NotNow), _) => format!(
            "too late to cancel the compaction of thread {id} ({phase}): the history is being rewritten"
        ),
        _ => return error.into(),
    };
    // The message may name the client that answered first.
    anyhow::Error::from(error).context(told)
}
