//! Every request that rawr sends to an app-server. Pure; `message.rs` has the types that rawr reads.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::goal;
use super::settings::CodexSettings;
use crate::host::ModelQuestion;

/// A request without its id.
#[derive(Debug, PartialEq)]
pub(super) struct AppServerRequest {
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// How long its answer is waited for.
    pub(super) limit: Duration,
}

/// Codex answers at once; a model's work is reported in notifications.
const PATIENCE: Duration = Duration::from_secs(60);

impl AppServerRequest {
    pub(super) fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }
}

/// Where a fork of a thread ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForkPoint<'p> {
    pub(super) thread_id: &'p str,
    pub(super) last_turn_id: &'p str,
    /// The thread's file, which Codex then reads instead of looking the thread up.
    pub(super) path: Option<&'p Path>,
}

/// Frequent notifications that rawr does not use.
const UNWANTED: [&str; 7] = [
    "account/rateLimits/updated",
    "item/agentMessage/delta",
    "item/commandExecution/outputDelta",
    "item/fileChange/outputDelta",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "turn/diff/updated",
];

/// No thread has this id, so a request about it has no effect.
const NO_THREAD: &str = "00000000-0000-7000-8000-000000000000";

fn request(method: &'static str, params: Value) -> AppServerRequest {
    AppServerRequest { method, params, limit: PATIENCE }
}

/// Whether to use Codex's experimental methods, which sampling and the queue need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Experimental {
    /// Use them.
    #[default]
    Wanted,
    /// Do not use them.
    Refused,
}

pub(super) fn initialize(experimental: Experimental) -> AppServerRequest {
    let params = json!({
        "clientInfo": {"name": "rawr", "title": "rawr", "version": env!("CARGO_PKG_VERSION")},
        "capabilities": {
            "experimentalApi": experimental == Experimental::Wanted,
            "requestAttestation": false,
            "optOutNotificationMethods": UNWANTED,
        },
    });
    request("initialize", params)
}

/// The options of a thread that rawr runs.
pub(super) fn thread_options(settings: &CodexSettings) -> Value {
    // No user is present to approve: a tool that needs approval fails, and the agent sees why.
    let mut options = json!({"cwd": settings.cwd, "approvalPolicy": "never"});
    if let Some(sandbox) = settings.sandbox {
        options["sandbox"] = sandbox.name().into();
    }
    if let Some(model) = &settings.model {
        options["model"] = model.as_str().into();
    }
    options
}

pub(super) fn thread_start(options: Value) -> AppServerRequest {
    request("thread/start", options)
}

/// A thread for a judgment, which Codex does not store.
pub(super) fn judge_thread(cwd: &Path, question: &ModelQuestion) -> AppServerRequest {
    thread_start(json!({
        "cwd": cwd,
        "ephemeral": true,
        "approvalPolicy": "never",
        "sandbox": "read-only",
        "baseInstructions": question.instructions,
    }))
}

pub(super) fn thread_resume(mut options: Value, thread_id: &str) -> AppServerRequest {
    options["threadId"] = thread_id.into();
    options["excludeTurns"] = true.into();
    request("thread/resume", options)
}

pub(super) fn thread_fork(mut options: Value, point: ForkPoint<'_>) -> AppServerRequest {
    options["threadId"] = point.thread_id.into();
    options["lastTurnId"] = point.last_turn_id.into();
    options["excludeTurns"] = true.into();
    if let Some(path) = point.path {
        options["path"] = path.display().to_string().into();
    }
    request("thread/fork", options)
}

pub(super) fn thread_revert(thread_id: &str, before_turn_id: &str) -> AppServerRequest {
    request("thread/revert", json!({"threadId": thread_id, "beforeTurnId": before_turn_id}))
}

/// Adds a user message to the history without starting a turn.
pub(super) fn inject_message(thread_id: &str, text: &str) -> AppServerRequest {
    let content = json!([{"type": "input_text", "text": text}]);
    let item = json!({"type": "message", "role": "user", "content": content});
    request("thread/inject_items", json!({"threadId": thread_id, "items": [item]}))
}

pub(super) fn thread_read(thread_id: &str) -> AppServerRequest {
    request("thread/read", json!({"threadId": thread_id, "includeTurns": false}))
}

pub(super) fn thread_read_with_turns(thread_id: &str) -> AppServerRequest {
    request("thread/read", json!({"threadId": thread_id, "includeTurns": true}))
}

/// A page of the thread's turns, newest first.
pub(super) fn turns_list(thread_id: &str, cursor: Option<&str>) -> AppServerRequest {
    let mut params = json!({"threadId": thread_id, "limit": 50, "sortDirection": "desc"});
    if let Some(cursor) = cursor {
        params["cursor"] = cursor.into();
    }
    request("thread/turns/list", params)
}

/// A page of the threads that the app-server has loaded.
pub(super) fn loaded_list(cursor: Option<&str>) -> AppServerRequest {
    request("thread/loaded/list", json!({ "cursor": cursor }))
}

pub(super) fn unsubscribe(thread_id: &str) -> AppServerRequest {
    request("thread/unsubscribe", json!({"threadId": thread_id}))
}

pub(super) fn turn_start(thread_id: &str, items: &[&str], images: &[PathBuf]) -> AppServerRequest {
    let images = images.iter().map(|path| json!({"type": "localImage", "path": path}));
    let input: Value = texts(items).chain(images).collect();
    request("turn/start", json!({"threadId": thread_id, "input": input}))
}

pub(super) fn judge_turn(thread_id: &str, question: &ModelQuestion) -> AppServerRequest {
    let params = json!({
        "threadId": thread_id,
        "input": inputs(&[&question.text]),
        "outputSchema": question.output_schema,
        "effort": "low",
    });
    request("turn/start", params)
}

/// Adds the items to a running turn.
pub(super) fn turn_steer(thread_id: &str, turn_id: &str, items: &[&str]) -> AppServerRequest {
    let params = json!({"threadId": thread_id, "expectedTurnId": turn_id, "input": inputs(items)});
    request("turn/steer", params)
}

pub(super) fn turn_interrupt(thread_id: &str, turn_id: &str) -> AppServerRequest {
    request("turn/interrupt", json!({"threadId": thread_id, "turnId": turn_id}))
}

/// Interrupts the running turn, which an empty id means. Refused if there is none.
pub(super) fn interrupt_running(thread_id: &str) -> AppServerRequest {
    turn_interrupt(thread_id, "")
}

pub(super) fn compact_start(thread_id: &str) -> AppServerRequest {
    request("thread/compact/start", json!({"threadId": thread_id}))
}

/// Samples the model after `turn_id`, which may be running.
pub(super) fn sample(thread_id: &str, turn_id: &str, question: &ModelQuestion) -> AppServerRequest {
    let params = json!({
        "threadId": thread_id,
        "expectedTurnId": turn_id,
        "allowInProgressTurn": true,
        "prompt": question.text,
    });
    request("thread/sample", params)
}

pub(super) fn queue_add(thread_id: &str, name: &str, text: &str) -> AppServerRequest {
    let params = json!({
        "threadId": thread_id,
        "clientUserMessageId": name,
        "input": inputs(&[text]),
    });
    request("thread/queue/add", params)
}

pub(super) fn queue_delete(thread_id: &str, entry: Option<&str>) -> AppServerRequest {
    request("thread/queue/delete", json!({"threadId": thread_id, "queuedSubmissionId": entry}))
}

pub(super) fn goal_get(thread_id: &str) -> AppServerRequest {
    request("thread/goal/get", json!({"threadId": thread_id}))
}

pub(super) fn goal_pause(thread_id: &str) -> AppServerRequest {
    request("thread/goal/set", json!({"threadId": thread_id, "status": goal::PAUSED}))
}

pub(super) fn goal_resume(thread_id: &str) -> AppServerRequest {
    request("thread/goal/set", json!({"threadId": thread_id, "status": goal::ACTIVE}))
}

pub(super) fn hooks_list(cwd: &Path) -> AppServerRequest {
    request("hooks/list", json!({"cwds": [cwd]}))
}

/// The configuration with its layers, for all folders.
pub(super) fn config_read() -> AppServerRequest {
    request("config/read", json!({"includeLayers": true}))
}

/// The configuration with its layers, for one folder.
pub(super) fn config_read_in(cwd: &Path) -> AppServerRequest {
    request("config/read", json!({"includeLayers": true, "cwd": cwd}))
}

/// Asks whether Codex can sample. Without effect.
pub(super) fn sample_nothing() -> AppServerRequest {
    let params = json!({"threadId": NO_THREAD, "expectedTurnId": NO_THREAD, "prompt": "."});
    request("thread/sample", params)
}

/// Asks whether Codex has a queue. Without effect.
pub(super) fn queue_of_nothing() -> AppServerRequest {
    request("thread/queue/list", json!({"threadId": NO_THREAD}))
}

fn inputs(items: &[&str]) -> Value {
    texts(items).collect()
}

fn texts(items: &[&str]) -> impl Iterator<Item = Value> {
    items.iter().map(|text| json!({"type": "text", "text": text, "text_elements": []}))
}
