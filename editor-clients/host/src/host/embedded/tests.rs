//! Tests of the embedded agent by its events.

mod inside;
mod side_requests;
mod turns;

use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::Expect;
use tempfile::TempDir;

use super::*;
use crate::host::{HostError, SummaryTuning};

fn shell(command: &str) -> Tool {
    Tool::Shell { command: command.to_owned(), timeout_seconds: None }
}

fn plan() -> Tool {
    Tool::UpdatePlan { plan: Vec::new(), explanation: None }
}

fn on(words: &str, replies: Vec<ScriptLine>) -> Scene {
    Scene { cue: SceneCue::words(words), replies }
}

fn summary(text: &str) -> Scene {
    Scene { cue: SceneCue::Summary, replies: vec![ScriptLine::says(text)] }
}

fn settings(folder: &TempDir) -> EmbeddedSettings {
    EmbeddedSettings {
        cwd: folder.path().to_owned(),
        environment: Vec::new(),
        hidden: vec!["PATH_OF_SECRETS".into()],
        pretended: Some("git"),
        context_window: 1000,
        instructions: "12345678".to_owned(),
        prompts: CompactionPrompts {
            compact: "sum up".to_owned(),
            summary_prefix: "In short:\n".to_owned(),
        },
        pace: Duration::ZERO,
        estimate_every: None,
    }
}

fn agent(folder: &TempDir, scenes: Vec<Scene>) -> Embedded {
    Embedded::start(settings(folder), Script::new(scenes))
}

/// A script that records the histories of its requests.
struct Spied {
    script: Script,
    seen: Arc<Mutex<Vec<Vec<AgentItem>>>>,
}

impl Model for Spied {
    fn name(&self) -> &str {
        "spied"
    }

    async fn sample(
        &self,
        history: &[AgentItem],
        want: ModelRequest<'_>,
        hear: DeltaSink<'_>,
    ) -> Result<SampleReply, ModelError> {
        self.seen.lock().unwrap().push(history.to_vec());
        self.script.sample(history, want, hear).await
    }

    async fn rewrite(
        &self,
        history: &[AgentItem],
        tuning: &SummaryTuning,
    ) -> Option<Result<Vec<AgentItem>, ModelError>> {
        self.script.rewrite(history, tuning).await
    }
}

fn brief(event: &HostEvent) -> String {
    match event {
        HostEvent::TurnStarted { kind, .. } => format!("started {kind:?}"),
        HostEvent::AgentMessage { text, .. } => format!("says {text}"),
        HostEvent::Usage { usage, needs_follow_up, .. } => {
            format!("usage {} follow-up {needs_follow_up}", usage.context_tokens)
        }
        HostEvent::UsageEstimated { usage, .. } => format!("estimate {}", usage.context_tokens),
        HostEvent::PlanUpdated { steps, .. } => format!("plan of {}", steps.len()),
        HostEvent::ToolStarted { name, .. } => format!("tool {name}"),
        HostEvent::ToolFinished { .. } => "tool ended".to_owned(),
        HostEvent::CommandFinished { command, exit_code, .. } => {
            format!("ran {command}: {exit_code}")
        }
        HostEvent::CompactionStarted { .. } => "compaction started".to_owned(),
        HostEvent::CompactionCompleted { tokens_after, .. } => {
            format!("compacted to {tokens_after:?}")
        }
        HostEvent::CompactionFailed { error, .. } => format!("not compacted: {error}"),
        HostEvent::TurnCompleted { status, error, overflow, .. } => {
            let overflow = overflow.map(|overflow| format!(" {overflow:?}")).unwrap_or_default();
            format!("ended {status} {error:?}{overflow}")
        }
        HostEvent::Notice(text) => format!("notice {text}"),
        other => format!("{other:?}"),
    }
}

/// The events up to the end of a turn, one per line. Paused turns are resumed.
async fn turn(host: &mut Embedded) -> String {
    let mut seen = String::new();
    loop {
        let event = host.next_event().await;
        let _ = writeln!(seen, "{}", brief(&event));
        match event {
            HostEvent::TurnCompleted { .. } | HostEvent::Gone { .. } => return seen,
            HostEvent::Usage { turn_id, .. } => {
                host.resume_turn(&turn_id, NextRequest::AsAnswered).unwrap();
            }
            _ => {}
        }
    }
}

/// The events up to the next pause, and the paused turn.
async fn pause(host: &mut Embedded) -> (String, String) {
    let mut seen = String::new();
    loop {
        let event = host.next_event().await;
        let _ = writeln!(seen, "{}", brief(&event));
        if let HostEvent::Usage { turn_id, .. } = event {
            return (seen, turn_id);
        }
        assert!(!matches!(event, HostEvent::TurnCompleted { .. }), "{seen}");
    }
}

/// The events up to one that starts with these words.
async fn until(host: &mut Embedded, words: &str) -> String {
    let mut seen = String::new();
    loop {
        let line = brief(&host.next_event().await);
        let _ = writeln!(seen, "{line}");
        if line.starts_with(words) {
            return seen;
        }
        assert!(!line.starts_with("ended"), "{seen}");
    }
}

async fn check(scenes: Vec<Scene>, say: &[&str], expected: Expect) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut host = agent(&folder, scenes);
    host.start_turn(say).await.unwrap();
    expected.assert_eq(&turn(&mut host).await);
    Box::new(host).close().await;
    folder
}
