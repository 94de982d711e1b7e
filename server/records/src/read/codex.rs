//! Rollouts of Codex, of both kinds: paginated ones store completed items, legacy ones calls and their output as text.

mod line;
mod turns;

use super::shorten::shorten;
use super::{LineKind, RecordReader, Told};
use crate::moment::{CompactionPoint, Moment, RecordedHost};
use crate::plan::plan_items;
use crate::profile::CODEX;
use crate::time;
use line::{
    Item, Line, Payload, PlanArguments, SessionMeta, TokenInfo, TokenUsage, TurnContext, arguments,
    command_of, parse_line, time_of,
};
use memchr::memmem::{self, Finder};
use rawr_core::event::{CompactionOrigin, TurnStatus};
use rawr_core::units::{Timestamp, Tokens};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::LazyLock;
pub(super) use turns::TurnsReader;

#[derive(Debug, Default)]
pub(super) struct CodexReader {
    opened: bool,
    /// Completed commands are stored as items, so calls of tools need not be read for them.
    has_items: bool,
    /// A turn's start is told with its first prompt or work, because a compaction is a turn of its own in Codex.
    is_starting: bool,
    in_turn: bool,
    has_worked: bool,
    /// The turn has had nothing but a compaction so far, whose origin its end or its work shows.
    compacts: bool,
    model: Option<String>,
    /// Shell commands without output yet, by the id of their call.
    commands: HashMap<String, Vec<String>>,
    just_compacted: bool,
    /// The next count is that of a compaction's own request.
    skips_count: bool,
    /// Older releases store no starts and ends of turns.
    has_starts: bool,
    /// The sum of all requests so far.
    total: Option<TokenUsage>,
    session: Option<String>,
    /// The time of the first line.
    began: Option<Timestamp>,
    /// The window that the turn began with.
    window: Option<u64>,
    /// A fork begins with the lines of the session that it was forked from, which are in that one's record, too: until then.
    copied_until: Option<Timestamp>,
    /// Room for a line without the output of its tool.
    short: Vec<u8>,
}

/// What a tool printed.
static OUTPUT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"output\":\""));
/// `rawr exec` starts Codex so that only a full window makes it compact.
const DRIVER: &str = "rawr";
/// Codex's name of the turns and sessions of `codex exec`.
const EXEC: &str = "exec";
/// The lines of the session that was forked are written at once, with the time of the fork: a longer pause ends them.
const COPYING_PAUSES_MS: u64 = 1000;
const SHELLS: [&str; 4] = ["exec_command", "shell", "shell_command", "local_shell"];

impl RecordReader for CodexReader {
    fn line(&mut self, line: &[u8], told: &mut Told) -> LineKind {
        let mut short = std::mem::take(&mut self.short);
        let kind = self.short_line(shorten(line, &OUTPUT, exit_of, &mut short), told);
        self.short = short;
        kind
    }

    fn end(&mut self, told: &mut Told) {
        // The file was cut off, or the session still runs; without marks of an end, this is the end.
        let ending = if self.has_starts { TurnStatus::Interrupted } else { TurnStatus::Completed };
        self.end_turn(ending, told);
    }
}

impl CodexReader {
    fn short_line(&mut self, line: &[u8], told: &mut Told) -> LineKind {
        if let Some(at) = time_of(line).and_then(|at| time::parse(&at)) {
            let began = *self.began.get_or_insert(at);
            // Some forks keep the times of the lines that they copy.
            if self.copied_until.is_none() || at >= began {
                told.time(at);
            }
        }
        let line = match parse_line(line) {
            Ok(line) => line,
            Err(_) => return LineKind::Malformed,
        };
        if self.follow_fork(&line, told.at) {
            return LineKind::Known;
        }
        match line {
            Line::SessionMeta(meta) => self.opened(meta, told),
            Line::TurnContext(TurnContext { model }) => {
                if let Some(model) = model
                    && self.model.as_ref() != Some(&model)
                {
                    self.model = Some(model.clone());
                    told.add(Moment::Model(model));
                }
                LineKind::Known
            }
            Line::Compacted => {
                self.compacted(told);
                LineKind::Known
            }
            Line::EventMsg(event) => self.event(event, told),
            Line::ResponseItem(item) => self.response_item(&item, told),
            Line::Other => LineKind::Known,
            Line::Unknown => LineKind::Unknown,
        }
    }

    /// Returns whether the line was copied from the session that this one was forked from.
    fn follow_fork(&mut self, line: &Line<'_>, now: Timestamp) -> bool {
        let copied_now = Some(now.plus_millis(COPYING_PAUSES_MS));
        if let Line::SessionMeta(SessionMeta { id: Some(id), forked_from_id, .. }) = line {
            let is_first = self.session.is_none();
            let session = self.session.get_or_insert_with(|| id.clone());
            if session != id && !self.has_worked || is_first && forked_from_id.is_some() {
                self.copied_until = copied_now;
                return !is_first;
            }
        }
        let Some(until) = self.copied_until else { return false };
        let turn_began = match line {
            Line::EventMsg(Payload { turn_id: Some(turn), .. }) => time_of_id(turn),
            _ => None,
        };
        let session_began = self.session.as_deref().and_then(time_of_id);
        let ends = match turn_began.zip(session_began) {
            Some((turn, session)) => turn >= session,
            None => now > until,
        };
        if ends {
            self.copied_until = None;
            return false;
        }
        // Counts go on from those of the session that was forked.
        if let Line::EventMsg(Payload { info: Some(info), .. }) = line {
            self.total = info.total_token_usage.or(self.total);
        }
        self.copied_until = copied_now;
        true
    }

    fn opened(&mut self, meta: SessionMeta, told: &mut Told) -> LineKind {
        self.has_items |= meta.history_mode.as_deref() == Some("paginated");
        let is_attended = meta.source.as_deref() != Some(EXEC);
        if !std::mem::replace(&mut self.opened, true) {
            let is_driven = meta.originator.as_deref() == Some(DRIVER);
            let compacts = if is_driven { CompactionPoint::Never } else { CODEX.hints.compacts };
            told.add(Moment::Opened(RecordedHost {
                session: meta.id.unwrap_or_default(),
                cwd: meta.cwd.unwrap_or_default(),
                version: meta.cli_version,
                takes_messages_inside_turn: CODEX.hints.takes_messages_inside_turn,
                baseline: Tokens(CODEX.hints.baseline),
                compacts,
            }));
            // Older releases record it for the session alone.
            told.add(Moment::Attended(is_attended));
        }
        LineKind::Known
    }

    /// Something happened, so there is a turn.
    fn works(&mut self, told: &mut Told) {
        (self.is_starting, self.has_worked) = (false, true);
        if std::mem::take(&mut self.compacts) {
            told.add(Moment::Compacted(CompactionOrigin::Host));
        }
        if !std::mem::replace(&mut self.in_turn, true) {
            told.add(Moment::TurnStarted);
        }
        self.just_compacted = false;
    }

    fn end_turn(&mut self, ending: TurnStatus, told: &mut Told) {
        (self.is_starting, self.skips_count) = (false, false);
        // A compaction that a person or a client asked for is a turn of its own.
        if std::mem::take(&mut self.compacts) {
            told.add(Moment::Compacted(CompactionOrigin::User));
        }
        if std::mem::take(&mut self.in_turn) {
            told.add(Moment::TurnEnded(ending));
        }
    }

    /// Newer releases tell it twice.
    fn compacted(&mut self, told: &mut Told) {
        if std::mem::replace(&mut self.just_compacted, true) {
            return;
        }
        self.skips_count = true;
        self.compacts = self.is_starting;
        if !self.compacts {
            told.add(Moment::Compacted(CompactionOrigin::Host));
        }
    }

    fn prompt(&mut self, text: String, told: &mut Told) {
        if !self.has_starts {
            self.end_turn(TurnStatus::Completed, told);
        }
        told.add(Moment::Prompt(text));
        self.works(told);
    }

    fn event(&mut self, event: Payload<'_>, told: &mut Told) -> LineKind {
        match event.kind.as_deref().unwrap_or_default() {
            "task_started" | "turn_started" => {
                self.end_turn(TurnStatus::Interrupted, told);
                (self.is_starting, self.has_starts) = (true, true);
                self.commands.clear();
                self.window = event.model_context_window.or(self.window);
                if let Some(trigger) = event.turn_attribution.and_then(|by| by.turn_trigger) {
                    told.add(Moment::Attended(trigger != EXEC));
                }
            }
            "user_message" => {
                if let Some(text) = event.message.as_deref() {
                    self.prompt(text.to_owned(), told);
                }
            }
            "agent_message" => {
                if let Some(text) = event.message.as_deref() {
                    self.works(told);
                    told.add(Moment::Said(text.to_owned()));
                }
            }
            "token_count" => {
                if let Some(info) = &event.info {
                    self.usage(info, told);
                }
            }
            "item_completed" => {
                if let Some(item) = event.item {
                    self.item(*item, told);
                }
            }
            "task_complete" | "turn_complete" => {
                if let Some(text) = event.last_agent_message.as_deref().filter(|_| self.in_turn) {
                    told.add(Moment::Said(text.to_owned()));
                }
                self.end_turn(TurnStatus::Completed, told);
            }
            "turn_aborted" => self.end_turn(TurnStatus::Interrupted, told),
            "context_compacted" => self.compacted(told),
            "thread_settings_applied"
            | "agent_reasoning"
            | "agent_reasoning_raw_content"
            | "error"
            | "warning"
            | "entered_review_mode"
            | "exited_review_mode"
            | "thread_rolled_back"
            | "web_search_end"
            | "mcp_tool_call_end"
            | "patch_apply_end"
            | "exec_command_end"
            | "view_image_tool_call"
            | "thread_name_updated" => {}
            _ => return LineKind::Unknown,
        }
        LineKind::Known
    }

    fn usage(&mut self, info: &TokenInfo, told: &mut Told) {
        let before = self.total;
        self.total = info.total_token_usage.or(before);
        let is_repeated = before.is_some() && info.total_token_usage == before;
        let of_sums = || {
            let now = info.total_token_usage?;
            // Sums that shrink begin again at zero.
            let before = before.filter(|before| before.total() <= now.total());
            Some(now.since(&before.unwrap_or_default()))
        };
        let last = info.last_token_usage.filter(|usage| usage.total() > 0).or_else(of_sums);
        let Some(last) = last else { return };
        // The count of a compaction's own request says nothing about the context.
        let skips = std::mem::take(&mut self.skips_count);
        if skips || is_repeated || self.compacts || !self.in_turn || last.total() == 0 {
            return;
        }
        told.add(Moment::Usage {
            context: Tokens(last.total()),
            window: info.model_context_window.filter(|size| *size > 0).or(self.window).map(Tokens),
            counts: last.counts(),
            is_part: false,
            needs_follow_up: true,
        });
    }

    fn item(&mut self, item: Item<'_>, told: &mut Told) {
        let text = || {
            let texts = item.content.iter().filter_map(|part| part.text.as_deref());
            texts.collect::<Vec<_>>()
        };
        match item.kind.as_deref().unwrap_or_default() {
            "UserMessage" => {
                self.has_items = true;
                self.prompt(text().join("\n"), told);
            }
            "AgentMessage" => {
                self.works(told);
                told.add(Moment::Said(text().concat()));
            }
            "CommandExecution" => {
                self.has_items = true;
                self.commands.clear();
                // The command may have run on in the background, and end after its turn.
                if let Some(exit_code) = item.exit_code {
                    told.add(Moment::Command {
                        id: item.id.as_deref().map(str::to_owned),
                        words: item.command,
                        exit_code,
                        cwd: item.cwd,
                    });
                }
            }
            "ContextCompaction" => self.compacted(told),
            _ => self.works(told),
        }
    }

    fn response_item(&mut self, item: &Payload<'_>, told: &mut Told) -> LineKind {
        match item.kind.as_deref().unwrap_or_default() {
            "function_call" => {
                let name = item.name.as_deref().unwrap_or_default();
                self.works(told);
                if name == "update_plan" {
                    let plan = item.arguments.and_then(arguments);
                    if let Some(PlanArguments { plan, explanation }) = plan {
                        told.add(Moment::Plan { items: plan_items(plan), explanation });
                    }
                } else if SHELLS.contains(&name)
                    && !self.has_items
                    && let Some(id) = item.call_id.as_deref()
                    && let Some(arguments) = item.arguments.and_then(arguments)
                    && let Some(command) = command_of(arguments)
                {
                    self.commands.insert(id.to_owned(), command);
                }
            }
            "function_call_output" => {
                let id = item.call_id.as_deref().unwrap_or_default();
                if let Some(command) = self.commands.remove(id)
                    && let Some(exit_code) = item.output.and_then(exit_code)
                {
                    told.add(Moment::Command {
                        id: Some(id.to_owned()),
                        words: command,
                        exit_code,
                        cwd: None,
                    });
                }
            }
            "custom_tool_call" | "local_shell_call" | "web_search_call" => self.works(told),
            "message"
            | "reasoning"
            | "custom_tool_call_output"
            | "additional_tools"
            | "compaction"
            | "ghost_snapshot" => {}
            _ => return LineKind::Unknown,
        }
        LineKind::Known
    }
}

/// Newer releases use ids that begin with the time at which they were made, in milliseconds.
fn time_of_id(id: &str) -> Option<u64> {
    let digits = id.get(..8)?.to_owned() + id.get(9..13)?;
    (id.len() == 36 && id.as_bytes()[14] == b'7').then(|| u64::from_str_radix(&digits, 16).ok())?
}

/// The exit code in a shell tool's output: a text, or a list of them, or JSON with metadata in older releases. The text is
/// long, so it is not decoded.
fn exit_code(output: &RawValue) -> Option<i64> {
    const TEXT: &str = "\"text\":\"";
    let raw = output.get();
    let text = raw.strip_prefix('"').or_else(|| Some(raw.split_once(TEXT)?.1))?;
    let (_, digits) = told_exit(text.as_bytes())?;
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Only what [`exit_code`] reads of an output.
fn exit_of(text: &[u8]) -> &[u8] {
    told_exit(text).map_or(&[], |(told, _)| told)
}

/// Where an output tells its exit code, and the digits of it. What the command printed may look the same, and stands after
/// the lines that Codex adds, or before the metadata.
fn told_exit(text: &[u8]) -> Option<(&[u8], &[u8])> {
    const NEWLINE: &[u8] = br"\n";
    const METADATA: &[u8] = br#"\"exit_code\":"#;
    const MARKS: [&[u8]; 3] = [b"Process exited with code ", b"Exit code: ", METADATA];
    let (mark, at) = if text.starts_with(b"{") {
        (METADATA, memmem::rfind(text, METADATA)?)
    } else {
        let end = memmem::find(text, br"\nOutput:").unwrap_or(text.len());
        let begins_a_line = |at: &usize| *at == 0 || text[..*at].ends_with(NEWLINE);
        let found = |mark| {
            let at = memmem::find_iter(&text[..end], mark).find(begins_a_line)?;
            Some((mark, at))
        };
        MARKS.into_iter().filter_map(found).min_by_key(|(_, at)| *at)?
    };
    let text = &text[at..];
    let digits = text[mark.len()..].trim_ascii_start();
    let from = text.len() - digits.len();
    let is_other = |byte: &u8| !byte.is_ascii_digit() && *byte != b'-';
    let length = digits.iter().position(is_other).unwrap_or(digits.len());
    Some((&text[..from + length], &digits[..length]))
}
