//! What an agent tells its hooks, and what they may answer, as types. Nothing is decided here.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// Claude Code and Codex tell the same in the same words.
#[derive(Debug, Deserialize)]
pub(super) struct Input {
    pub(super) session_id: String,
    transcript_path: Option<String>,
    #[serde(default)]
    pub(super) cwd: String,
    pub(super) model: Option<String>,
    /// The turn goes on because a hook wanted it to.
    #[serde(default)]
    pub(super) stop_hook_active: bool,
    pub(super) last_assistant_message: Option<String>,
    /// Why a session starts.
    pub(super) source: Option<String>,
    /// Who wants a compaction.
    trigger: Option<String>,
}

impl Input {
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
pub(super) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    /// What the agent is told, and goes on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What the person sees.
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

impl Answer {
    const NOTHING: Self =
        Self { decision: None, reason: None, system_message: None, hook_specific_output: None };

    /// The agent does not stop, but reads this and answers.
    pub(super) fn go_on(text: String, told: Option<String>) -> Self {
        Self { decision: Some("block"), reason: Some(text), system_message: told, ..Self::NOTHING }
    }

    pub(super) fn told(message: String) -> Self {
        Self { system_message: Some(message), ..Self::NOTHING }
    }

    /// Stands before the model in its next request.
    pub(super) fn handoff(text: String) -> Self {
        let context = AddedContext { hook_event_name: "SessionStart", additional_context: text };
        let told = "rawr: the continuation packet was handed back to the agent.".to_owned();
        Self { hook_specific_output: Some(context), system_message: Some(told), ..Self::NOTHING }
    }
}
