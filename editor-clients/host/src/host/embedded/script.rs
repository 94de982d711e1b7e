//! A model that says what is written down: no network, no key, the same every time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::history::Item;
use super::model::{
    Call, DeltaSink, Model, ModelDelta, ModelError, ModelRequest, Reply, TokenCount,
};
use super::tools::Tool;
use crate::host::Tuning;

/// What is answered to what. The first scene that fits counts.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub context_window: Option<u64>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    /// How often each scene outside of turns has answered, by its place in the list.
    #[serde(skip)]
    answered: Mutex<HashMap<usize, usize>>,
}

/// Answers in order: in a turn one for each sampling request after the latest message, elsewhere one for each
/// question, the last one again and again.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    #[serde(rename = "on")]
    pub cue: Cue,
    pub replies: Vec<ScriptLine>,
}

/// What a scene answers to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// These words in the latest message, or in the summary if nothing came after it.
    Words(String),
    /// Any message.
    Anything,
    /// The request for a summary.
    Summary,
    /// A provider that is to compact; without such a scene there is none that does.
    Provider,
    /// A question beside the turn that stands alone.
    Judgment,
    /// A question beside the turn about the conversation.
    Aside,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptLine {
    pub message: Option<String>,
    /// The message so many times over; once if absent.
    pub times: Option<usize>,
    pub calls: Vec<Tool>,
    /// The request fails for this reason.
    pub fails: Option<String>,
    /// The request fails because the conversation is too long.
    pub too_long: bool,
    /// After the message nothing comes any more; the request never ends.
    pub hangs: bool,
    /// The size of the context after this answer, as a provider would count it.
    pub context_tokens: Option<u64>,
}

/// How much of a message is said at a time.
const PIECE: usize = 256;

impl Script {
    pub fn new(scenes: Vec<Scene>) -> Self {
        Self { scenes, ..Self::default() }
    }

    /// From a TOML file.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
        toml::from_str(&text).map_err(|error| error.to_string())
    }

    fn find(&self, fits: impl Fn(&Cue) -> bool) -> Option<(usize, &Scene)> {
        self.scenes.iter().enumerate().find(|(_, scene)| fits(&scene.cue))
    }

    fn find_by(&self, cue: &Cue) -> Option<(usize, &Scene)> {
        self.find(|other| other == cue)
    }

    /// The next answer outside of turns.
    fn next(&self, at: usize, scene: &Scene) -> Option<ScriptLine> {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let count = answered.entry(at).or_default();
        let line = scene.replies.get(*count).or(scene.replies.last());
        *count += 1;
        line.cloned()
    }

    fn line(&self, history: &[Item], want: ModelRequest<'_>) -> Result<ScriptLine, String> {
        const NONE: &str = "the script has no scene for this";
        let cue = match want {
            ModelRequest::Step => {
                let (message, at) = latest_message(history);
                let fits = |cue: &Cue| match cue {
                    Cue::Words(words) => message.contains(words.as_str()),
                    cue => *cue == Cue::Anything,
                };
                let (_, scene) = self.find(fits).ok_or(NONE)?;
                let line = scene.replies.get(at).cloned();
                return line.ok_or_else(|| format!("the script's scene {:?} ends here", scene.cue));
            }
            ModelRequest::Summary { .. } => Cue::Summary,
            ModelRequest::Aside { .. } => Cue::Aside,
            ModelRequest::Judgment { .. } => Cue::Judgment,
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
        history: &[Item],
        want: ModelRequest<'_>,
        hear: DeltaSink<'_>,
    ) -> Result<Reply, ModelError> {
        let line = self.line(history, want).map_err(ModelError::Failed)?;
        let message = line.message.map(|message| message.repeat(line.times.unwrap_or(1)));
        for piece in pieces(message.as_deref().unwrap_or_default()) {
            hear(ModelDelta::Text(piece));
            // As with a stream, others get their turn between two pieces.
            tokio::task::yield_now().await;
        }
        match (line.fails, line.too_long) {
            (Some(error), _) => return Err(ModelError::Failed(error)),
            (None, true) => return Err(ModelError::TooLong("says the script".to_owned())),
            (None, false) if line.hangs => std::future::pending().await,
            (None, false) => {}
        }
        let counted = line.context_tokens.map(|input| TokenCount { input, ..Default::default() });
        Ok(Reply { message, calls: line.calls.iter().map(Call::from).collect(), counted })
    }

    async fn rewrite(&self, _: &[Item], _: &Tuning) -> Option<Result<Vec<Item>, ModelError>> {
        let (at, scene) = self.find_by(&Cue::Provider)?;
        let line = self.next(at, scene)?;
        Some(match (line.fails, line.message) {
            (Some(error), _) => Err(ModelError::Failed(error)),
            (None, message) => {
                let text = message.unwrap_or_default().repeat(line.times.unwrap_or(1));
                Ok(vec![Item::Summary { text }])
            }
        })
    }
}

/// The latest item that is to be answered, and how many answers it has had. An item alone: after a compaction others
/// stand right before it.
fn latest_message(history: &[Item]) -> (&str, usize) {
    let asks = |item: &Item| matches!(item, Item::User { .. } | Item::Summary { .. });
    let end = history.iter().rposition(asks).map_or(0, |at| at + 1);
    let (before, after) = history.split_at(end);
    let message = match before.last() {
        Some(Item::User { text } | Item::Summary { text }) => text.as_str(),
        _ => "",
    };
    (message, after.iter().filter(|item| matches!(item, Item::Assistant { .. })).count())
}

/// A text in pieces of whole letters.
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
    pub fn says(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// The same, with these calls.
    pub fn and(self, calls: impl Into<Vec<Tool>>) -> Self {
        Self { calls: calls.into(), ..self }
    }

    pub fn does(calls: impl Into<Vec<Tool>>) -> Self {
        Self { calls: calls.into(), ..Self::default() }
    }
}

impl Cue {
    pub fn words(words: impl Into<String>) -> Self {
        Self::Words(words.into())
    }
}
