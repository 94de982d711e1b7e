//! A model that plays a script: no network, no key, deterministic.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::history::{AgentItem, TokenCount};
use super::model::{DeltaSink, Model, ModelDelta, ModelError, ModelRequest, SampleReply};
use super::tools::{ModelToolCall, Tool};
use crate::host::SummaryTuning;

/// A script. The first scene that matches a request answers it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The size of the context window in tokens.
    pub context_window: Option<u64>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    /// The number of answers of each scene outside of turns, by index.
    #[serde(skip)]
    answered: Mutex<HashMap<usize, usize>>,
}

/// Answers in order. In a turn there is one for each sampling request after the latest message; elsewhere one for each
/// question, with the last one repeated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// What the scene answers.
    #[serde(rename = "on")]
    pub cue: SceneCue,
    /// The answers.
    pub replies: Vec<ScriptLine>,
}

/// What a scene answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SceneCue {
    /// These words in the latest message, or in the summary if nothing came after it.
    Words(String),
    /// Any message.
    Anything,
    /// The request for a summary.
    Summary,
    /// A compaction by the provider. Without such a scene the provider has no compaction.
    Provider,
    /// A question without the conversation.
    Judgment,
    /// A question about the conversation.
    Aside,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptLine {
    pub message: Option<String>,
    /// Repeat the message this many times; once if absent.
    pub times: Option<usize>,
    /// The tool calls.
    pub calls: Vec<Tool>,
    /// The request fails with this error.
    pub fails: Option<String>,
    /// The request fails because the conversation is too long.
    pub too_long: bool,
    /// The request never ends after the message.
    pub hangs: bool,
    /// The size of the context after this answer in tokens, as if the provider had counted.
    pub context_tokens: Option<u64>,
}

/// The size of a streamed piece in bytes.
const PIECE: usize = 256;

impl Script {
    /// A script with these scenes.
    pub fn new(scenes: Vec<Scene>) -> Self {
        Self { scenes, ..Self::default() }
    }

    /// Reads a TOML file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or parsed.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
        toml::from_str(&text).map_err(|error| error.to_string())
    }

    fn find(&self, fits: impl Fn(&SceneCue) -> bool) -> Option<(usize, &Scene)> {
        self.scenes.iter().enumerate().find(|(_, scene)| fits(&scene.cue))
    }

    fn find_by(&self, cue: &SceneCue) -> Option<(usize, &Scene)> {
        self.find(|other| other == cue)
    }

    /// The next answer of a scene outside of turns.
    fn next(&self, at: usize, scene: &Scene) -> Option<ScriptLine> {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let count = answered.entry(at).or_default();
        let line = scene.replies.get(*count).or(scene.replies.last());
        *count += 1;
        line.cloned()
    }

    fn line(&self, history: &[AgentItem], want: ModelRequest<'_>) -> Result<ScriptLine, String> {
        const NONE: &str = "the script has no scene for this";
        let cue = match want {
            ModelRequest::Step => {
                let (message, at) = latest_message(history);
                let fits = |cue: &SceneCue| match cue {
                    SceneCue::Words(words) => message.contains(words.as_str()),
                    cue => *cue == SceneCue::Anything,
                };
                let (_, scene) = self.find(fits).ok_or(NONE)?;
                let line = scene.replies.get(at).cloned();
                return line.ok_or_else(|| format!("the script's scene {:?} ends here", scene.cue));
            }
            ModelRequest::Summary { .. } => SceneCue::Summary,
            ModelRequest::Aside { .. } => SceneCue::Aside,
            ModelRequest::Judgment { .. } => SceneCue::Judgment,
        };
        let (at, scene) = self.find_by(&cue).ok_or(NONE)?;
        self.next(at, scene).ok_or_else(|| NONE.to_owned())
    }
}

impl Model for Script {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn sample(
        &self,
        history: &[AgentItem],
        want: ModelRequest<'_>,
        hear: DeltaSink<'_>,
    ) -> Result<SampleReply, ModelError> {
        let line = self.line(history, want).map_err(ModelError::Failed)?;
        let message = line.message.map(|message| message.repeat(line.times.unwrap_or(1)));
        for piece in pieces(message.as_deref().unwrap_or_default()) {
            hear(ModelDelta::Text(piece));
            // Other tasks run between two pieces, as with a real stream.
            tokio::task::yield_now().await;
        }
        match (line.fails, line.too_long) {
            (Some(error), _) => return Err(ModelError::Failed(error)),
            (None, true) => return Err(ModelError::TooLong("says the script".to_owned())),
            (None, false) if line.hangs => std::future::pending().await,
            (None, false) => {}
        }
        let counted = line.context_tokens.map(|input| TokenCount { input, ..Default::default() });
        Ok(SampleReply {
            message,
            calls: line.calls.iter().map(ModelToolCall::from).collect(),
            counted,
        })
    }

    async fn rewrite(
        &self,
        _: &[AgentItem],
        _: &SummaryTuning,
    ) -> Option<Result<Vec<AgentItem>, ModelError>> {
        let (at, scene) = self.find_by(&SceneCue::Provider)?;
        let line = self.next(at, scene)?;
        Some(match (line.fails, line.message) {
            (Some(error), _) => Err(ModelError::Failed(error)),
            (None, message) => {
                let text = message.unwrap_or_default().repeat(line.times.unwrap_or(1));
                Ok(vec![AgentItem::Summary { text }])
            }
        })
    }
}

/// The latest user message or summary, and its number of answers.
fn latest_message(history: &[AgentItem]) -> (&str, usize) {
    let asks =
        |item: &AgentItem| matches!(item, AgentItem::User { .. } | AgentItem::Summary { .. });
    let end = history.iter().rposition(asks).map_or(0, |at| at + 1);
    let (before, after) = history.split_at(end);
    let message = match before.last() {
        Some(AgentItem::User { text } | AgentItem::Summary { text }) => text.as_str(),
        _ => "",
    };
    (message, after.iter().filter(|item| matches!(item, AgentItem::Assistant { .. })).count())
}

/// Splits a text at character boundaries.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut end = PIECE.min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let (piece, rest) = text.split_at(end);
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

impl ScriptLine {
    /// An answer with a message.
    pub fn says(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// Adds calls.
    pub fn and(self, calls: impl Into<Vec<Tool>>) -> Self {
        Self { calls: calls.into(), ..self }
    }

    /// An answer with calls.
    pub fn does(calls: impl Into<Vec<Tool>>) -> Self {
        Self { calls: calls.into(), ..Self::default() }
    }
}

impl SceneCue {
    /// A cue for these words.
    pub fn words(words: impl Into<String>) -> Self {
        Self::Words(words.into())
    }
}
