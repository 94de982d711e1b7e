//! The types of a hook's input and answer.

use std::path::Path;

use anyhow::Context;
use rawr_protocol::if_known;
use serde::{Deserialize, Serialize};

/// The input of a hook, the same for Claude Code and Codex. Values of another type are unknown.
#[derive(Debug, Deserialize)]
pub(super) struct HookInput {
    pub(super) session_id: String,
    #[serde(default, deserialize_with = "if_known")]
    transcript_path: Option<String>,
    #[serde(default)]
    pub(super) cwd: String,
    #[serde(default, deserialize_with = "if_known")]
    pub(super) model: Option<String>,
    #[serde(default, deserialize_with = "if_known")]
    stop_hook_active: Option<bool>,
    #[serde(default, deserialize_with = "if_known")]
    pub(super) last_assistant_message: Option<String>,
    /// Why the session starts.
    #[serde(default, deserialize_with = "if_known")]
    pub(super) source: Option<String>,
    /// Who requested a compaction.
    #[serde(default, deserialize_with = "if_known")]
    trigger: Option<String>,
}

impl HookInput {
    /// Whether a hook continued this turn.
    pub(super) fn is_continued(&self) -> bool {
        self.stop_hook_active == Some(true)
    }

    pub(super) fn is_by_person(&self) -> bool {
        self.trigger.as_deref() == Some("manual")
    }

    pub(super) fn transcript(&self) -> anyhow::Result<&Path> {
        self.transcript_path
            .as_deref()
            .map(Path::new)
            .context("the agent did not send a transcript path")
    }
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HookAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    /// A text for the agent, which continues its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// A text for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<AddedContext>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedContext {
    hook_event_name: &'static str,
    additional_context: String,
}

impl HookAnswer {
    const NOTHING: Self =
        Self { decision: None, reason: None, system_message: None, hook_specific_output: None };

    /// Continues the turn with this text.
    pub(super) fn go_on(text: String, told: Option<String>) -> Self {
        Self { decision: Some("block"), reason: Some(text), system_message: told, ..Self::NOTHING }
    }

    pub(super) fn told(message: String) -> Self {
        Self { system_message: Some(message), ..Self::NOTHING }
    }

    /// Adds this text to the model's next request.
    pub(super) fn handoff(text: String) -> Self {
        let context = AddedContext { hook_event_name: "SessionStart", additional_context: text };
        let told = "rawr: the continuation packet was returned to the agent.".to_owned();
        Self { hook_specific_output: Some(context), system_message: Some(told), ..Self::NOTHING }
    }
}
