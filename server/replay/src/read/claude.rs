//! Transcripts of Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`. A turn has no line of its own: it begins with
//! the agent's first line after a prompt, and ends with a mark of newer versions, at the next prompt, or with the file.

use super::{LineKind, RecordReader, Told};
use crate::moment::{Moment, RecordedHost};
use rawr_core::event::{CompactionInitiator, TurnEnding};
use rawr_core::signal::plan::{PlanItem, PlanItemStatus};
use rawr_core::units::Tokens;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

#[derive(Debug, Default)]
pub(super) struct ClaudeReader {
    opened: bool,
    in_turn: bool,
    model: Option<String>,
    /// Shell commands without a result yet, by the id of their call.
    commands: HashMap<String, String>,
    /// A response is stored in several lines, each with the same usage.
    last_response: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'l> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'l, str>>,
    #[serde(borrow)]
    subtype: Option<Cow<'l, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'l, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'l, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'l, str>>,
    #[serde(borrow)]
    version: Option<Cow<'l, str>>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(borrow)]
    message: Option<Message<'l>>,
    compact_metadata: Option<CompactMetadata>,
}

#[derive(Deserialize)]
struct CompactMetadata {
    trigger: Option<String>,
}

#[derive(Deserialize)]
struct Message<'l> {
    #[serde(borrow)]
    id: Option<Cow<'l, str>>,
    #[serde(borrow)]
    model: Option<Cow<'l, str>>,
    #[serde(borrow)]
    content: Option<Content<'l>>,
    usage: Option<MessageUsage>,
}

#[derive(Deserialize)]
struct MessageUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

#[derive(Deserialize)]
struct Block<'l> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'l, str>,
    #[serde(borrow)]
    text: Option<Cow<'l, str>>,
    #[serde(borrow)]
    id: Option<Cow<'l, str>>,
    #[serde(borrow)]
    name: Option<Cow<'l, str>>,
    #[serde(borrow)]
    input: Option<&'l RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'l, str>>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow)]
    content: Option<&'l RawValue>,
}

#[derive(Deserialize)]
struct ShellInput {
    command: String,
}

#[derive(Deserialize)]
struct ReadInput {
    file_path: String,
}

#[derive(Deserialize)]
struct TodoInput {
    todos: Vec<Todo>,
}

#[derive(Deserialize)]
struct Todo {
    content: String,
    status: String,
}

/// Content is a text, or a list of blocks.
enum Content<'l> {
    Text(Cow<'l, str>),
    Blocks(Vec<Block<'l>>),
}

impl<'de: 'l, 'l> Deserialize<'de> for Content<'l> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TextOrBlocks;
        impl<'de> Visitor<'de> for TextOrBlocks {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of blocks")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }
        from.deserialize_any(TextOrBlocks)
    }
}

const INTERRUPTED: &str = "[Request interrupted by user";
/// What Claude Code writes in a person's name about a local command.
const COMMAND_OUTPUT: &str = "<local-command-";

impl RecordReader for ClaudeReader {
    fn line(&mut self, line: &[u8], told: &mut Told) -> LineKind {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { return LineKind::Malformed };
        if line.is_sidechain {
            return LineKind::Known;
        }
        if let Some(at) = &line.timestamp {
            told.time(at);
        }
        if !self.opened
            && let (Some(session), Some(cwd)) = (&line.session_id, &line.cwd)
        {
            self.opened = true;
            told.add(Moment::Opened(RecordedHost {
                session: session.to_string(),
                cwd: cwd.to_string(),
                version: line.version.as_deref().map(str::to_owned),
            }));
        }
        match line.kind.as_deref() {
            Some("user") => {
                let Some(message) = line.message else { return LineKind::Malformed };
                self.user(message, line.is_meta || line.is_compact_summary, told)
            }
            Some("assistant") => {
                let Some(message) = line.message else { return LineKind::Malformed };
                self.assistant(message, told)
            }
            Some("system") => match line.subtype.as_deref() {
                Some("compact_boundary") => {
                    let by_person = line
                        .compact_metadata
                        .and_then(|about| about.trigger)
                        .is_some_and(|trigger| trigger == "manual");
                    told.add(Moment::Compacted(if by_person {
                        CompactionInitiator::User
                    } else {
                        CompactionInitiator::Host
                    }));
                    LineKind::Known
                }
                Some("turn_duration") => {
                    self.end_turn(TurnEnding::Completed, told);
                    LineKind::Known
                }
                _ => LineKind::Known,
            },
            Some(
                "summary"
                | "progress"
                | "file-history-snapshot"
                | "queue-operation"
                | "attachment"
                | "pr-link"
                | "custom-title"
                | "ai-title"
                | "agent-name"
                | "last-prompt"
                | "permission-mode"
                | "mode",
            ) => LineKind::Known,
            _ => LineKind::Unknown,
        }
    }

    fn end(&mut self, told: &mut Told) {
        self.end_turn(TurnEnding::Completed, told);
    }
}

impl ClaudeReader {
    fn end_turn(&mut self, ending: TurnEnding, told: &mut Told) {
        if std::mem::take(&mut self.in_turn) {
            told.add(Moment::TurnEnded(ending));
        }
    }

    fn begin_turn(&mut self, told: &mut Told) {
        if !std::mem::replace(&mut self.in_turn, true) {
            told.add(Moment::TurnStarted);
        }
    }

    fn user(&mut self, message: Message<'_>, by_claude: bool, told: &mut Told) -> LineKind {
        let Some(content) = message.content else { return LineKind::Malformed };
        let text = match content {
            Content::Text(text) => text.into_owned(),
            Content::Blocks(blocks) => {
                if blocks.iter().any(|block| block.kind == "tool_result") {
                    blocks.iter().for_each(|block| self.result(block, told));
                    return LineKind::Known;
                }
                let texts = blocks.iter().filter_map(|block| block.text.as_deref());
                texts.collect::<Vec<_>>().join("\n")
            }
        };
        if by_claude || text.is_empty() || text.starts_with(COMMAND_OUTPUT) {
            return LineKind::Known;
        }
        if text.starts_with(INTERRUPTED) {
            self.end_turn(TurnEnding::Interrupted, told);
            return LineKind::Known;
        }
        self.end_turn(TurnEnding::Completed, told);
        told.add(Moment::Prompt(text));
        LineKind::Known
    }

    fn result(&mut self, block: &Block<'_>, told: &mut Told) {
        let Some(id) = block.tool_use_id.as_deref() else { return };
        let Some(command) = self.commands.remove(id) else { return };
        let exit_code = match block.is_error {
            Some(true) => block.content.and_then(exit_code).unwrap_or(1),
            _ => 0,
        };
        told.add(Moment::Command {
            id: Some(id.to_owned()),
            words: vec![command],
            exit_code,
            cwd: None,
        });
    }

    fn assistant(&mut self, message: Message<'_>, told: &mut Told) -> LineKind {
        let Some(Content::Blocks(blocks)) = message.content else {
            return LineKind::Malformed;
        };
        // A message that Claude Code wrote itself, such as about an error of the provider.
        let is_synthetic = message.model.as_deref() == Some("<synthetic>");
        if let Some(model) = message.model.as_deref()
            && !is_synthetic
            && self.model.as_deref() != Some(model)
        {
            self.model = Some(model.to_owned());
            told.add(Moment::Model(model.to_owned()));
        }
        self.begin_turn(told);
        let mut calls_tool = false;
        for block in blocks {
            calls_tool |= block.kind == "tool_use";
            self.said(block, told);
        }
        if let Some(usage) = message.usage.as_ref().filter(|_| !is_synthetic) {
            let is_new = message.id.as_deref() != Some(self.last_response.as_str());
            self.last_response = message.id.as_deref().unwrap_or_default().to_owned();
            let uncached = usage.input_tokens + usage.cache_creation_input_tokens;
            let context = uncached + usage.cache_read_input_tokens + usage.output_tokens;
            if context > 0 {
                told.add(Moment::Usage {
                    context: Tokens(context),
                    uncached: is_new.then_some(Tokens(uncached)),
                    window: None,
                    needs_follow_up: calls_tool,
                });
            }
        }
        LineKind::Known
    }

    fn said(&mut self, block: Block<'_>, told: &mut Told) {
        if block.kind == "text" {
            if let Some(text) = block.text.filter(|text| !text.is_empty()) {
                told.add(Moment::Said(text.into_owned()));
            }
            return;
        }
        let Some((name, input)) = block.name.zip(block.input) else { return };
        match name.as_ref() {
            "Bash" => {
                let Ok(ShellInput { command }) = serde_json::from_str(input.get()) else { return };
                if let Some(id) = block.id {
                    self.commands.insert(id.into_owned(), command);
                }
            }
            "Read" => {
                if let Ok(ReadInput { file_path }) = serde_json::from_str(input.get()) {
                    told.add(Moment::FileRead(file_path));
                }
            }
            "TodoWrite" => {
                let Ok(TodoInput { todos }) = serde_json::from_str(input.get()) else { return };
                told.add(Moment::Plan(todos.into_iter().map(step).collect()));
            }
            _ => {}
        }
    }
}

fn step(todo: Todo) -> PlanItem {
    let status = match todo.status.as_str() {
        "completed" => PlanItemStatus::Completed,
        "in_progress" => PlanItemStatus::InProgress,
        _ => PlanItemStatus::Pending,
    };
    PlanItem { step: todo.content, status }
}

/// `Exit code 2` at the beginning of a failed command's result.
fn exit_code(raw: &RawValue) -> Option<i64> {
    let text: String = serde_json::from_str(raw.get()).ok()?;
    text.strip_prefix("Exit code ")?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
