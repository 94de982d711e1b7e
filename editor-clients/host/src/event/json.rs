//! Session events as JSON Lines: one object per event with `event` and the protocol's field names, in order.

use std::io::{self, Write};

use rawr_protocol::TokenUsage;
use serde::Serialize;
use serde_json::json;

use super::{InjectedText, LeftMessage, NoticeLevel, SessionEvent};
use crate::host::{ContextOverflow, HostEvent, TurnKind};

/// Writes each event as one line of JSON. It keeps no state.
#[derive(Debug)]
pub struct JsonLines;

#[derive(Serialize)]
struct EventLine<'l, T> {
    event: &'l str,
    #[serde(flatten)]
    body: T,
}

impl JsonLines {
    /// Writes the event's line. Some events have none, because another event reports the same fact.
    ///
    /// # Errors
    ///
    /// Fails where `out` does.
    pub fn write(&self, event: &SessionEvent<'_>, out: &mut dyn Write) -> io::Result<()> {
        match event {
            SessionEvent::Session { host, opened, sidecar } => {
                let body = json!({
                    "threadId": opened.thread_id,
                    "host": host.host,
                    "cwd": host.cwd.display().to_string(),
                    "model": host.model,
                    "contextWindow": host.context_window,
                    "phase": opened.phase,
                    "scratchFile": opened.scratch_file,
                    "owner": opened.owner,
                    "sidecarProcessId": sidecar,
                });
                line(out, "session", without_nulls(body))
            }
            SessionEvent::SidecarRestarted { error, pending } => {
                line(out, "sidecar_restarted", json!({"error": error, "pendingActions": pending}))
            }
            SessionEvent::UserMessage { turn_id, text } => {
                line(out, "user_message", json!({"turnId": turn_id, "text": text}))
            }
            SessionEvent::InputHeld { input_id, text } => {
                line(out, "input_held", json!({"inputId": input_id, "text": text}))
            }
            SessionEvent::MessageLeft { text, fate } => {
                let kept = match fate {
                    LeftMessage::Kept => Some(true),
                    LeftMessage::NotSent => Some(false),
                    LeftMessage::Unknown => None,
                };
                line(out, "message_left", json!({"text": text, "kept": kept}))
            }
            SessionEvent::Injected { purpose, injected } => {
                #[derive(Serialize)]
                struct InjectedBody<'b> {
                    purpose: rawr_protocol::Purpose,
                    #[serde(flatten)]
                    injected: &'b InjectedText<'b>,
                }
                line(out, "injected", InjectedBody { purpose: *purpose, injected })
            }
            SessionEvent::Handoff(injected) => line(out, "handoff", injected),
            SessionEvent::Host(event) => host_event(event, out),
            SessionEvent::ThreadChanged(changed) => line(out, "thread_changed", changed),
            SessionEvent::Verdict(decided) => {
                #[derive(Serialize)]
                #[serde(rename_all = "camelCase")]
                struct VerdictBody<'b> {
                    thread_id: &'b str,
                    #[serde(flatten)]
                    decision: &'b rawr_protocol::Decision,
                }
                let (thread_id, decision) = (decided.thread_id.as_str(), &decided.decision);
                line(out, "verdict", VerdictBody { thread_id, decision })
            }
            SessionEvent::HeadsUp(heads_up) => line(out, "heads_up", heads_up),
            SessionEvent::Packet(packet) => line(out, "packet", packet),
            SessionEvent::Compaction(update) => line(out, "compaction", update),
            SessionEvent::PromptChanged(changed) => line(out, "prompt_changed", changed),
            SessionEvent::ConfigChanged(changed) => line(out, "config_changed", changed),
            SessionEvent::Log(said) => line(out, "log", said),
            SessionEvent::Notice { level, message } => notice(out, *level, message),
            SessionEvent::Saved(saved) => line(out, "saved", saved),
            SessionEvent::NextSteps(steps) => line(out, "next_steps", steps),
        }
    }
}

fn host_event(event: &HostEvent, out: &mut dyn Write) -> io::Result<()> {
    match event {
        HostEvent::TurnStarted { turn_id, kind } => {
            let kind = match kind {
                TurnKind::Asked => "asked",
                TurnKind::Person { .. } => "person",
                TurnKind::Compaction => "compaction",
                TurnKind::Host => "host",
            };
            line(out, "turn_started", json!({"turnId": turn_id, "kind": kind}))
        }
        HostEvent::AgentMessage { turn_id, text } => {
            line(out, "agent_message", json!({"turnId": turn_id, "text": text}))
        }
        HostEvent::Usage { turn_id, usage, context_window, needs_follow_up } => {
            usage_line(out, turn_id, usage, *context_window, *needs_follow_up)
        }
        HostEvent::UsageEstimated { turn_id, usage, context_window } => {
            usage_line(out, turn_id, usage, *context_window, true)
        }
        HostEvent::TitleChanged { title } => {
            line(out, "title_changed", without_nulls(json!({"title": title})))
        }
        HostEvent::PlanUpdated { turn_id, steps, explanation, .. } => {
            let body = json!({"turnId": turn_id, "steps": steps, "explanation": explanation});
            line(out, "plan_updated", without_nulls(body))
        }
        HostEvent::ToolStarted { turn_id, call_id, name } => {
            let body = json!({"turnId": turn_id, "callId": call_id, "name": name});
            line(out, "tool_started", body)
        }
        HostEvent::ToolFinished { turn_id, call_id } => {
            line(out, "tool_finished", json!({"turnId": turn_id, "callId": call_id}))
        }
        HostEvent::CommandFinished { turn_id, call_id, command, exit_code, cwd } => {
            let body = json!({
                "turnId": turn_id,
                "callId": call_id,
                "command": command,
                "exitCode": exit_code,
                "cwd": cwd,
            });
            line(out, "command_finished", body)
        }
        HostEvent::ReviewEntered { turn_id } => {
            line(out, "review_entered", json!({"turnId": turn_id}))
        }
        HostEvent::ReviewLeft { turn_id } => line(out, "review_left", json!({"turnId": turn_id})),
        HostEvent::TurnCompleted { turn_id, status, last_agent_message, error, overflow } => {
            let body = json!({
                "turnId": turn_id,
                "status": status,
                "lastAgentMessage": last_agent_message,
                "error": error,
                "failure": overflow.map(ContextOverflow::to_failure),
            });
            line(out, "turn_completed", without_nulls(body))
        }
        // The driver reports every user message as `user_message`.
        HostEvent::UserMessage { .. } => Ok(()),
        // The sidecar's notifications report these, with their sequence.
        HostEvent::CompactionStarted { .. }
        | HostEvent::CompactionCompleted { .. }
        | HostEvent::CompactionFailed { .. }
        | HostEvent::Answered { .. } => Ok(()),
        HostEvent::CompactionDeclined => line(out, "compaction_declined", json!({})),
        HostEvent::AsksPerson => line(out, "asks_person", json!({})),
        HostEvent::MessagesTakenBack => line(out, "messages_taken_back", json!({})),
        HostEvent::Notice(message) => notice(out, NoticeLevel::Info, message),
        HostEvent::Gone { reason } => notice(out, NoticeLevel::Error, reason),
    }
}

fn usage_line(
    out: &mut dyn Write,
    turn_id: &str,
    usage: &TokenUsage,
    context_window: Option<u64>,
    needs_follow_up: bool,
) -> io::Result<()> {
    let body = json!({
        "turnId": turn_id,
        "usage": usage,
        "contextWindow": context_window,
        "needsFollowUp": needs_follow_up,
    });
    line(out, "usage", without_nulls(body))
}

fn notice(out: &mut dyn Write, level: NoticeLevel, message: &str) -> io::Result<()> {
    line(out, "notice", json!({"level": level, "message": message}))
}

/// Removes null fields, as on the wire.
fn without_nulls(mut body: serde_json::Value) -> serde_json::Value {
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    body
}

/// Writes one object: the event's name, then its fields.
///
/// # Errors
///
/// Fails where `out` does, or where the body is no object.
pub fn line(out: &mut dyn Write, event: &str, body: impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string(&EventLine { event, body })?;
    text.push('\n');
    out.write_all(text.as_bytes())
}
