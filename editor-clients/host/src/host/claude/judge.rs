//! A question to a small model on the login of Claude Code, outside of the conversation: a process of its own, without tools and
//! without a stored session.

use std::process::Stdio;
use std::time::Duration;

use rawr_protocol::{if_known, read_json};
use serde::Deserialize;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::task::JoinSet;

use super::{ClaudeSettings, HOOKS_OFF};
use crate::host::{HostEvent, ModelQuestion};
use crate::posix::end_with_parent;

/// Claude Code's name for the small model of any provider.
const MODEL: &str = "haiku";
/// A process that hangs is ended. The driver stops waiting earlier.
const LIMIT: Duration = Duration::from_secs(60);

/// The questions that have no answer yet. Dropping it ends their processes.
#[derive(Debug, Default)]
pub(super) struct Judgments(JoinSet<HostEvent>);

#[derive(Deserialize)]
struct PrintedResult {
    #[serde(default)]
    is_error: bool,
    #[serde(default, deserialize_with = "if_known")]
    result: Option<String>,
}

impl Judgments {
    pub(super) fn ask(&mut self, settings: &ClaudeSettings, question: ModelQuestion) {
        let command = command(settings, &question);
        self.0.spawn(async move {
            let asked = tokio::time::timeout(LIMIT, answer(command, question.text)).await;
            let answer = asked.unwrap_or_else(|_| Err("claude did not answer in time".to_owned()));
            HostEvent::Answered { request_id: question.request_id, answer }
        });
    }

    /// The next answer; never without an open question.
    pub(super) async fn answered(&mut self) -> HostEvent {
        loop {
            match self.0.join_next().await {
                Some(Ok(event)) => return event,
                // The question's task panicked or was ended: the driver's own limit settles the question.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }
}

fn command(settings: &ClaudeSettings, question: &ModelQuestion) -> Command {
    let system = format!(
        "{}\n\nAnswer with one JSON object of this schema and nothing else:\n{}",
        question.instructions, question.output_schema
    );
    let mut command = Command::new(&settings.binary);
    command.args(["-p", "--output-format", "json", "--model", MODEL, "--effort", "low"]);
    command.args(["--no-session-persistence", "--disable-slash-commands", "--strict-mcp-config"]);
    command.args(["--tools", "", "--system-prompt", &system]);
    if let Some(settings) = &settings.settings {
        command.args(["--settings", settings]);
    }
    let (name, value) = HOOKS_OFF;
    command.current_dir(&settings.cwd).env(name, value).envs(settings.environment.iter().cloned());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    // Ctrl-C must reach only the driver.
    command.process_group(0);
    end_with_parent(&mut command);
    command
}

async fn answer(mut command: Command, text: String) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("claude could not be asked: {error}");
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes()).await.map_err(failed)?;
    }
    let output = child.wait_with_output().await.map_err(failed)?;
    let printed: PrintedResult = read_json(&output.stdout)
        .map_err(|error| format!("claude answered nothing that can be read: {error}"))?;
    let result = printed.result.unwrap_or_default();
    if printed.is_error { Err(result) } else { Ok(result) }
}
