//! Transcripts of Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`. A turn has no line of its own: it begins with
//! the agent's first line after a prompt, and ends with a mark of newer versions, at the next prompt, or with the file.

mod line;
mod plan;
mod turns;

use super::shorten::shorten;
use super::{LineKind, RecordReader, Told};
use crate::claude::calls::exit_code;
use crate::claude::person::PersonText;
use crate::claude::windows::{LONG_WINDOW, WindowSettings};
use crate::lenient::{Text, parse, value_in};
use crate::moment::{Moment, RecordedHost};
use crate::profile::CLAUDE;
use crate::time;
use crate::tokens::TokenCounts;
use foldhash::fast::RandomState;
use line::{Block, Content, Line, Message, MessageUsage, ReadInput, ShellInput};
use memchr::memmem::Finder;
pub use plan::RecordedPlan;
use rawr_core::event::{CompactionOrigin, TurnStatus};
use rawr_core::units::{Timestamp, Tokens};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::LazyLock;
pub(super) use turns::TurnsReader;

#[derive(Debug, Default)]
pub(super) struct ClaudeReader {
    opened: bool,
    in_turn: bool,
    /// A prompt came, and the agent has not begun to work on it.
    is_asked: bool,
    model: Option<String>,
    /// The id of the last message that began.
    message: Option<String>,
    /// What was counted of each message.
    counted: HashMap<String, TokenCounts, RandomState>,
    /// After the last message that began.
    context: Tokens,
    /// The largest context of this model so far.
    largest: Tokens,
    /// The lines so far: a session that is taken up again may have some of them twice.
    lines: HashSet<u64, RandomState>,
    /// Shell commands without a result yet, by the id of their call.
    commands: HashMap<String, String>,
    plan: RecordedPlan,
    /// A slash command and when it was typed. It is a prompt if the agent then works; otherwise Claude Code carried it out
    /// itself.
    typed: Option<(Timestamp, String)>,
    /// The time of the last line of the agent or its tools: a turn without a mark of its end ended then, and not when the
    /// next prompt came.
    agent_at: Timestamp,
    /// Room for lines without what tools printed.
    short: [Vec<u8>; 2],
}

/// Where long texts of tools stand.
static CONTENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"content\":\""));
static STDOUT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"stdout\":\""));
const INTERRUPTED: &str = "[Request interrupted by user";
/// Claude Code writes it where no answer came, so that a person's message is not the last one.
pub const NO_ANSWER: &str = "No response requested.";
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
        if line.forked_from.is_some() || self.is_copy(&line) {
            return LineKind::Known;
        }
        if line.is_sidechain {
            self.by_sub_agent(line, told);
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
                takes_messages_inside_turn: CLAUDE.hints.takes_messages_inside_turn,
                baseline: Tokens(CLAUDE.hints.baseline),
                compacts: CLAUDE.hints.compacts,
            }));
        }
        match line.kind.as_deref() {
            Some("user") => {
                let by_claude = line.is_meta || line.is_compact_summary;
                let Some(message) = line.message else { return LineKind::Unknown };
                self.user(message, line.tool_use_result, line.cwd.as_deref(), by_claude, told)
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
                    self.typed = None;
                    told.add(Moment::Compacted(if by_person {
                        CompactionOrigin::User
                    } else {
                        CompactionOrigin::Host
                    }));
                    LineKind::Known
                }
                Some("local_command") => {
                    self.typed = None;
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

    /// Whether this line was there before. Programs that write lines of their own may give two the same id.
    fn is_copy(&mut self, line: &Line<'_>) -> bool {
        let Some(id) = line.uuid.as_deref() else { return false };
        let mut identity = self.lines.hasher().build_hasher();
        id.hash(&mut identity);
        if let Some(message) = &line.message {
            message.hash_texts(&mut identity);
        }
        !self.lines.insert(identity.finish())
    }

    fn end_turn(&mut self, ending: TurnStatus, told: &mut Told) {
        if std::mem::take(&mut self.in_turn) {
            told.add_at(self.agent_at, Moment::TurnEnded(ending));
        }
    }

    fn begin_turn(&mut self, told: &mut Told) {
        self.is_asked = false;
        if !std::mem::replace(&mut self.in_turn, true) {
            told.add(Moment::TurnStarted);
        }
    }

    /// Only the commands of a sub-agent count.
    fn by_sub_agent(&mut self, line: Line<'_>, told: &mut Told) {
        let Some(message) = line.message else { return };
        for block in message.content.into_blocks() {
            self.command_ended(&block, line.tool_use_result, line.cwd.as_deref(), told);
            if block.name.as_deref() == Some("Bash") {
                self.said(block, told);
            }
        }
    }

    fn user(
        &mut self,
        message: Message<'_>,
        answer: Option<&RawValue>,
        cwd: Option<&str>,
        by_claude: bool,
        told: &mut Told,
    ) -> LineKind {
        let blocks = message.content.into_blocks();
        let has_result = blocks.iter().any(|block| block.is("tool_result"));
        if has_result {
            (self.agent_at, self.typed) = (told.at, None);
            for block in &blocks {
                self.plan_changed(block, answer, told);
                self.command_ended(block, answer, cwd, told);
            }
        }
        let has_picture = blocks.iter().any(|block| !block.is("text") && !block.is("tool_result"));
        let texts: Vec<_> = blocks.into_iter().filter_map(|block| block.text).collect();
        if texts.iter().any(|text| text.starts_with(INTERRUPTED)) {
            self.agent_at = told.at;
            self.end_turn(TurnStatus::Interrupted, told);
        }
        if by_claude {
            return LineKind::Known;
        }
        let mut words = Vec::new();
        for text in &texts {
            match PersonText::read(text) {
                PersonText::Command(typed) if !has_result => {
                    self.typed = Some((told.at, typed));
                    return LineKind::Known;
                }
                text => words.extend(text.into_words()),
            }
        }
        // What a person says meanwhile comes with the result, and ends no turn.
        if has_result {
            words.into_iter().for_each(|words| told.add(Moment::Prompt(words)));
        } else if !words.is_empty() || has_picture {
            self.prompt(told.at, words.join("\n"), told);
        } else if !texts.is_empty() {
            self.typed = None;
        }
        LineKind::Known
    }

    fn prompt(&mut self, at: Timestamp, words: String, told: &mut Told) {
        self.end_turn(TurnStatus::Completed, told);
        // No request goes on after the next message.
        (self.message, self.counted, self.typed) = (None, HashMap::default(), None);
        self.is_asked = true;
        told.add_at(at, Moment::Prompt(words));
    }

    fn plan_changed(&mut self, block: &Block<'_>, answer: Option<&RawValue>, told: &mut Told) {
        let id = block.tool_use_id.as_deref();
        if let Some(items) = id.and_then(|id| self.plan.answered(id, answer, block.is_error)) {
            told.add(Moment::Plan { items, explanation: None });
        }
    }

    fn command_ended(
        &mut self,
        block: &Block<'_>,
        answer: Option<&RawValue>,
        cwd: Option<&str>,
        told: &mut Told,
    ) {
        let Some(id) = block.tool_use_id.as_deref() else { return };
        let Some(command) = self.commands.remove(id) else { return };
        let text = block.content.map(beginning).unwrap_or_default();
        if let Some(exit_code) = exit_code(&text, block.is_error, answer) {
            told.add(Moment::Command {
                id: Some(id.to_owned()),
                words: vec![command],
                exit_code,
                cwd: cwd.map(str::to_owned),
            });
        }
    }

    fn assistant(
        &mut self,
        message: Message<'_>,
        request: Option<Text<'_>>,
        told: &mut Told,
    ) -> LineKind {
        let blocks = message.content.into_blocks();
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
        if is_synthetic && !self.in_turn && !self.is_asked {
            return LineKind::Known;
        }
        if let Some((at, words)) = self.typed.take_if(|_| !is_synthetic) {
            self.prompt(at, words, told);
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
            self.usage(usage, request, calls_tool, told);
        }
        LineKind::Known
    }

    /// Each block of a message has a line, and those of two messages may alternate. Each line has the counts of its whole
    /// message so far.
    fn usage(
        &mut self,
        usage: &MessageUsage,
        message: Option<Text<'_>>,
        needs_follow_up: bool,
        told: &mut Told,
    ) {
        let counts = usage.counts();
        let context = counts.read().saturating_add(counts.output);
        let context = if usage.is_odd() { self.context.0 } else { context };
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
                    told.add(Moment::Plan { items: plan, explanation: None });
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
    let line = shorten(whole, &CONTENT, up_to_escape, short);
    let line = shorten(line, &STDOUT, up_to_escape, shorter);
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
