//! Transcripts of Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`. A turn has no line of its own: it begins with
//! the agent's first line after a prompt, and ends with a mark of newer versions, at the next prompt, or with the file.

mod line;
mod plan;

use super::shorten::shorten;
use super::{LineKind, RecordReader, Told};
use crate::lenient::{Text, parse, value_in};
use crate::moment::{Moment, OwnCompaction, RecordedHost};
use crate::time;
use crate::tokens::TokenCounts;
use crate::windows::{LONG_WINDOW, WindowSettings};
use line::{Block, Content, Line, Message, ReadInput, ShellInput};
pub use plan::RecordedPlan;
use rawr_core::event::{CompactionOrigin, TurnStatus};
use rawr_core::units::{Timestamp, Tokens, stable_hash};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub(super) struct ClaudeReader {
    opened: bool,
    in_turn: bool,
    model: Option<String>,
    /// The id of the last message that began.
    message: Option<String>,
    /// What was counted of each message.
    counted: HashMap<String, TokenCounts>,
    /// After the last message that began.
    context: Tokens,
    /// The largest context of this model so far.
    largest: Tokens,
    /// The lines so far: a session that is taken up again may have some of them twice.
    lines: HashSet<u64>,
    /// Shell commands without a result yet, by the id of their call.
    commands: HashMap<String, String>,
    plan: RecordedPlan,
    /// The time of the last line of the agent or its tools: a turn without a mark of its end ended then, and not when the
    /// next prompt came.
    agent_at: Timestamp,
    /// Room for lines without what tools printed.
    short: [Vec<u8>; 2],
}

/// Claude Code keeps room for an answer, and for the summary of a compaction.
const OWN_COMPACTION: OwnCompaction = OwnCompaction::Before(Tokens(33_000));
const INTERRUPTED: &str = "[Request interrupted by user";
/// What Claude Code writes in a person's name: shell commands of the person's own, what they and local commands print, and
/// news of background work.
const NO_PROMPT: [&str; 5] =
    ["<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<task-notification>"];
/// Commands that Claude Code carries out itself. All others are prompts.
const LOCAL_COMMANDS: [&str; 44] = [
    "add-dir",
    "agents",
    "bashes",
    "bug",
    "clear",
    "compact",
    "config",
    "context",
    "copy",
    "cost",
    "diff",
    "doctor",
    "effort",
    "exit",
    "export",
    "extra-usage",
    "fast",
    "feedback",
    "fork",
    "help",
    "hooks",
    "ide",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "permissions",
    "plan",
    "plugin",
    "quit",
    "release-notes",
    "rename",
    "resume",
    "rewind",
    "sandbox",
    "stats",
    "status",
    "statusline",
    "tasks",
    "theme",
    "usage",
    "vim",
];
/// Claude Code writes it where no answer came, so that a person's message is not the last one.
pub const NO_ANSWER: &str = "No response requested.";
/// The results of commands that never ran, or that still run.
const NO_RESULT: [&str; 4] = [
    "The user doesn't want to",
    "<tool_use_error>",
    "Command running in background",
    "[Request interrupted",
];

/// Written in a person's name, and not for the agent.
fn is_of_claude(text: &str) -> bool {
    text.is_empty() || NO_PROMPT.iter().any(|mark| text.starts_with(mark)) || is_local_command(text)
}

fn is_local_command(text: &str) -> bool {
    // A person may quote a command.
    let is_command = text.trim_start().starts_with("<command-");
    let name = text.split_once("<command-name>/").and_then(|(_, rest)| rest.split('<').next());
    is_command && name.is_some_and(|name| LOCAL_COMMANDS.contains(&name))
}

impl RecordReader for ClaudeReader {
    fn line(&mut self, line: &[u8], told: &mut Told) -> LineKind {
        let [mut short, mut shorter] = std::mem::take(&mut self.short);
        let kind = match parse_short(line, &mut short, &mut shorter) {
            Ok(line) => self.parsed(line, told),
            Err(_) => LineKind::Malformed,
        };
        self.short = [short, shorter];
        kind
    }

    fn end(&mut self, told: &mut Told) {
        self.end_turn(TurnStatus::Completed, told);
    }
}

impl ClaudeReader {
    fn parsed(&mut self, line: Line<'_>, told: &mut Told) -> LineKind {
        let is_copy = line.uuid.as_deref().is_some_and(|id| !self.lines.insert(stable_hash(id)));
        if line.is_sidechain || is_copy || line.forked_from.is_some() {
            return LineKind::Known;
        }
        if let Some(at) = line.timestamp.as_deref().and_then(time::parse) {
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
                takes_messages_inside_turn: false,
                baseline: Tokens(0),
                compacts: OWN_COMPACTION,
            }));
        }
        match line.kind.as_deref() {
            Some("user") => {
                let by_claude = line.is_meta || line.is_compact_summary;
                let Some(message) = line.message else { return LineKind::Unknown };
                self.user(message, line.tool_use_result, by_claude, told)
            }
            Some("assistant") => {
                let Some(message) = line.message else { return LineKind::Unknown };
                self.assistant(message, line.request_id, told)
            }
            Some("system") => match line.subtype.as_deref() {
                Some("compact_boundary") => {
                    let by_person = line
                        .compact_metadata
                        .and_then(|about| about.trigger)
                        .is_some_and(|trigger| trigger == "manual");
                    if by_person {
                        self.end_turn(TurnStatus::Completed, told);
                    }
                    told.add(Moment::Compacted(if by_person {
                        CompactionOrigin::User
                    } else {
                        CompactionOrigin::Host
                    }));
                    LineKind::Known
                }
                Some("turn_duration") => {
                    self.agent_at = told.at;
                    self.end_turn(TurnStatus::Completed, told);
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

    fn end_turn(&mut self, ending: TurnStatus, told: &mut Told) {
        if std::mem::take(&mut self.in_turn) {
            told.add_at(self.agent_at, Moment::TurnEnded(ending));
        }
    }

    fn begin_turn(&mut self, told: &mut Told) {
        if !std::mem::replace(&mut self.in_turn, true) {
            told.add(Moment::TurnStarted);
        }
    }

    fn user(
        &mut self,
        message: Message<'_>,
        answer: Option<&RawValue>,
        by_claude: bool,
        told: &mut Told,
    ) -> LineKind {
        let mut is_picture = false;
        let text = match message.content {
            Content::Text(text) => text.into_owned(),
            Content::Blocks(blocks) => {
                if blocks.iter().any(|block| block.is("tool_result")) {
                    self.agent_at = told.at;
                    blocks.iter().for_each(|block| self.result(block, answer, told));
                    // What a person says meanwhile comes with the result, and ends no turn.
                    for text in blocks.into_iter().filter_map(|block| block.text) {
                        if text.starts_with(INTERRUPTED) {
                            self.end_turn(TurnStatus::Interrupted, told);
                        } else if !by_claude && !is_of_claude(&text) {
                            told.add(Moment::Prompt(text.into_owned()));
                        }
                    }
                    return LineKind::Known;
                }
                is_picture = blocks.iter().any(|block| !block.is("text"));
                let texts = blocks.iter().filter_map(|block| block.text.as_deref());
                texts.collect::<Vec<_>>().join("\n")
            }
        };
        if text.starts_with(INTERRUPTED) {
            self.agent_at = told.at;
            self.end_turn(TurnStatus::Interrupted, told);
            return LineKind::Known;
        }
        if by_claude || is_of_claude(&text) && !(is_picture && text.is_empty()) {
            return LineKind::Known;
        }
        self.end_turn(TurnStatus::Completed, told);
        // No request goes on after the next message.
        (self.message, self.counted) = (None, HashMap::new());
        told.add(Moment::Prompt(text));
        LineKind::Known
    }

    fn result(&mut self, block: &Block<'_>, answer: Option<&RawValue>, told: &mut Told) {
        let Some(id) = block.tool_use_id.as_deref() else { return };
        if let Some(plan) = self.plan.answered(id, answer, block.is_error) {
            told.add(Moment::Plan(plan));
        }
        let Some(command) = self.commands.remove(id) else { return };
        let text = block.content.map(beginning).unwrap_or_default();
        if NO_RESULT.iter().any(|mark| text.starts_with(mark)) {
            return;
        }
        let exit_code = if block.is_error { exit_code(&text).unwrap_or(1) } else { 0 };
        told.add(Moment::Command {
            id: Some(id.to_owned()),
            words: vec![command],
            exit_code,
            cwd: None,
        });
    }

    fn assistant(
        &mut self,
        message: Message<'_>,
        request: Option<Text<'_>>,
        told: &mut Told,
    ) -> LineKind {
        let blocks = match message.content {
            Content::Text(text) => vec![Block::of_text(text)],
            Content::Blocks(blocks) => blocks,
        };
        // A message that Claude Code wrote itself, such as about an error of the provider.
        let is_synthetic = message.model.as_deref() == Some("<synthetic>");
        if is_synthetic
            && !blocks.is_empty()
            && blocks.iter().all(|block| block.text.as_deref() == Some(NO_ANSWER))
        {
            return LineKind::Known;
        }
        if let Some(model) = message.model.as_deref()
            && !is_synthetic
            && self.model.as_deref() != Some(model)
        {
            self.model = Some(model.to_owned());
            self.largest = Tokens(0);
            told.add(Moment::Model(model.to_owned()));
        }
        self.agent_at = told.at;
        self.begin_turn(told);
        let mut calls_tool = false;
        for block in blocks {
            calls_tool |= block.is("tool_use");
            self.said(block, told);
        }
        if let Some(usage) = message.usage.as_ref().filter(|_| !is_synthetic) {
            let request = message.id.filter(|id| !id.is_empty()).or(request);
            self.usage(usage.counts(), request, calls_tool, told);
        }
        LineKind::Known
    }

    /// Each block of a message has a line, and those of two messages may alternate. Each line has the counts of its whole
    /// message so far.
    fn usage(
        &mut self,
        counts: TokenCounts,
        message: Option<Text<'_>>,
        needs_follow_up: bool,
        told: &mut Told,
    ) {
        let context = counts.read().saturating_add(counts.output);
        if context == 0 {
            return;
        }
        let before = message.as_deref().and_then(|id| self.counted.get(id)).copied();
        let is_last = message.as_deref() == self.message.as_deref();
        if before.is_none() || is_last {
            self.context = Tokens(context);
        }
        if self.context.0 <= LONG_WINDOW {
            self.largest = self.largest.max(self.context);
        }
        let window = self
            .model
            .as_deref()
            .map(|model| Tokens(WindowSettings::default().window_with(model, self.largest.0)));
        let (mut news, mut sum) = (counts, before.unwrap_or_default());
        news.subtract(&sum);
        sum.add(&news);
        told.add(Moment::Usage {
            context: self.context,
            window,
            counts: news,
            is_part: before.is_some(),
            needs_follow_up,
        });
        if let Some(id) = message {
            if before.is_none() {
                self.message = Some(id.to_string());
            }
            self.counted.insert(id.into_owned(), sum);
        }
    }

    fn said(&mut self, block: Block<'_>, told: &mut Told) {
        if block.is("text") {
            if let Some(text) = block.text.filter(|text| !text.is_empty()) {
                told.add(Moment::Said(text.into_owned()));
            }
            return;
        }
        let Some((name, input)) = block.name.zip(block.input) else { return };
        match name.as_ref() {
            "Bash" => {
                let Some(ShellInput { command }) = value_in(input.get()) else { return };
                if let Some(id) = block.id {
                    self.commands.insert(id.into_owned(), command);
                }
            }
            "Read" => {
                if let Some(ReadInput { file_path }) = value_in(input.get()) {
                    told.add(Moment::FileRead(file_path));
                }
            }
            tool => {
                if let Some(plan) = self.plan.called(tool, block.id.as_deref(), input) {
                    told.add(Moment::Plan(plan));
                }
            }
        }
    }
}

/// Reads only the beginning of what tools printed. That comes in a list of blocks in a line of the user, where no text
/// of another kind has these keys. Where one has, the whole line is read.
fn parse_short<'l>(
    whole: &'l [u8],
    short: &'l mut Vec<u8>,
    shorter: &'l mut Vec<u8>,
) -> serde_json::Result<Line<'l>> {
    let line = shorten(whole, "\"content\":\"", up_to_escape, short);
    let line = shorten(line, "\"stdout\":\"", up_to_escape, shorter);
    let parsed: Line<'_> = parse(line)?;
    let content = parsed.message.as_ref().map(|message| &message.content);
    let is_read = match parsed.kind.as_deref() {
        Some("user") => matches!(content, Some(Content::Text(_))),
        kind => kind == Some("assistant"),
    };
    if is_read && line.len() < whole.len() { parse(whole) } else { Ok(parsed) }
}

fn up_to_escape(text: &[u8]) -> &[u8] {
    memchr::memchr(b'\\', text).map_or(text, |end| &text[..end])
}

/// How the text of a result begins, up to what is escaped in it. It may also be a list of blocks.
fn beginning(raw: &RawValue) -> Cow<'_, str> {
    if let Some(text) = raw.get().strip_prefix('"') {
        let end = memchr::memchr2(b'"', b'\\', text.as_bytes());
        return Cow::Borrowed(end.map_or(text, |end| &text[..end]));
    }
    match serde_json::from_str(raw.get()) {
        Ok(Content::Blocks(blocks)) => {
            let text = blocks.into_iter().find_map(|block| block.text);
            Cow::Owned(text.map(Text::into_owned).unwrap_or_default())
        }
        Ok(Content::Text(_)) | Err(_) => Cow::Borrowed(""),
    }
}

/// `Exit code 2` at the beginning of a failed command's result.
fn exit_code(text: &str) -> Option<i64> {
    text.strip_prefix("Exit code ")?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
