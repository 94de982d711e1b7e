//! What the embedded agent needs of a model. Knows no provider.

use std::future::Future;

use rawr_protocol::PlanStep;

use super::history::Item;

/// Answers over a history.
pub trait Model: Send + 'static {
    fn name(&self) -> &str;

    /// One sampling request. Why it failed is for people.
    fn sample(
        &mut self,
        history: &[Item],
        want: Want<'_>,
    ) -> impl Future<Output = Result<Reply, String>> + Send;
}

/// What a sampling request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want<'w> {
    /// The next message or tool calls.
    Step,
    /// A summary of the history, by these instructions.
    Summary { instructions: &'w str },
}

/// What a model answers. One without calls ends the turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    pub message: Option<String>,
    pub calls: Vec<Call>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    Plan {
        steps: Vec<PlanStep>,
    },
    Shell {
        command: String,
    },
    /// Puts a text into a file, relative to the working directory.
    Write {
        path: String,
        content: String,
    },
}

impl Reply {
    /// As the history keeps it.
    pub(super) fn as_text(&self) -> String {
        let calls = self.calls.iter().map(|call| match call {
            Call::Plan { steps } => {
                let steps = steps.iter().map(|step| format!("{}: {}", step.status, step.step));
                format!("update_plan\n{}", steps.collect::<Vec<_>>().join("\n"))
            }
            Call::Shell { command } => format!("shell\n{command}"),
            Call::Write { path, content } => format!("write {path}\n{content}"),
        });
        self.message.clone().into_iter().chain(calls).collect::<Vec<_>>().join("\n\n")
    }
}
