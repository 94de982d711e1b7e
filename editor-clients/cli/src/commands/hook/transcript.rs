//! Reads the last turn and the usage from an agent's own transcript.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use rawr_protocol::{CommandLine, Signal};

use crate::args::{HookArgs, HookHost};
use rawr_records::claude::windows::WindowSettings;
use rawr_records::lines::{FileLines, ReadError};
use rawr_records::moment::Moment;
use rawr_records::plan::plan_steps;
use rawr_records::profile::CODEX;
use rawr_records::read::{RecordFormat, read_as};

/// The usage after the last request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TranscriptSummary {
    pub(super) context_tokens: u64,
    pub(super) context_window: u64,
    /// Whether the window was looked up by the model's name, not reported or configured.
    pub(super) is_assumed: bool,
    /// Tokens that the agent subtracts from both usage and window before it shows a percentage.
    pub(super) baseline_tokens: u64,
    /// The agent compacts by itself above this many tokens, if it does.
    pub(super) compacts_above_tokens: Option<u64>,
    /// The model of the last request, if the transcript names it.
    pub(super) model: Option<String>,
}

/// Everything since the user's last message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LastTurn {
    pub(super) prompt: Option<String>,
    pub(super) signals: Vec<Signal>,
    /// The usage. `None` before the first request, and after a compaction until the next one.
    pub(super) used: Option<UsedTokens>,
    model: Option<String>,
    /// Whether the transcript marks the run as non-interactive.
    pub(super) is_headless: bool,
    /// The agent's last message. Empty before its first one in the turn.
    said: String,
    /// The agent works on it. Otherwise what comes next belongs to another turn.
    runs: bool,
    /// A message came, and the agent has not begun to work on it.
    is_asked: bool,
}

/// The last usage in the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UsedTokens {
    tokens: u64,
    window: Option<u64>,
}

/// At most this much of the end of a transcript is read, in bytes; it contains many turns.
const LONGEST: u64 = 64 << 20;

/// The part of the end that contains the last usage, in bytes.
const END: u64 = 256 << 10;

impl TranscriptSummary {
    /// Reads the usage at the end of a turn with this last message. `None` if there is none.
    pub(super) fn at_end(
        args: &HookArgs,
        transcript: &Path,
        said: Option<&str>,
    ) -> anyhow::Result<Option<Self>> {
        let mut turn = LastTurn::end_once_written(args.host, transcript, said)?;
        if turn.used.is_none() {
            turn = LastTurn::of(args.host, transcript)?;
        }
        Ok(Self::of(args, &turn))
    }

    pub(super) fn of(args: &HookArgs, turn: &LastTurn) -> Option<Self> {
        let UsedTokens { tokens, window } = turn.used?;
        let settings = WindowSettings::read(|name| std::env::var(name).ok());
        // Claude Code records no window.
        let recorded = window.filter(|_| args.host == HookHost::Codex);
        let told = recorded.or(args.context_window);
        let (context_window, baseline_tokens, compacts_above_tokens) = match args.host {
            HookHost::Claude => {
                let model = turn.model.as_deref().unwrap_or_default();
                let window = told.unwrap_or_else(|| settings.window_with(model, tokens));
                (window, 0, settings.compacts_above(window))
            }
            HookHost::Codex => (told?, CODEX.hints.baseline, CODEX.compacts_above(told?)),
        };
        Some(Self {
            context_tokens: tokens,
            context_window,
            is_assumed: told.is_none(),
            baseline_tokens,
            compacts_above_tokens,
            model: turn.model.clone(),
        })
    }

    /// The percentage left, rounded down: to check once too often is cheaper than to miss a compaction.
    pub(super) fn percent_remaining(&self) -> u64 {
        let own = self.compacts_above_tokens.filter(|own| *own > self.baseline_tokens);
        let window = own.map_or(self.context_window, |own| own.min(self.context_window));
        let window = window.saturating_sub(self.baseline_tokens).max(1);
        let used = self.context_tokens.saturating_sub(self.baseline_tokens);
        window.saturating_sub(used) * 100 / window
    }
}

impl LastTurn {
    pub(super) fn of(host: HookHost, transcript: &Path) -> anyhow::Result<Self> {
        Self::within(host, transcript, LONGEST)
    }

    /// Reads the turn once it contains the agent's last message, which may be written shortly after the hook is called.
    pub(super) fn whole(
        host: HookHost,
        transcript: &Path,
        said: Option<&str>,
    ) -> anyhow::Result<Self> {
        Self::end_once_written(host, transcript, said)?;
        Self::of(host, transcript)
    }

    /// Reads only the end of the transcript, which contains the last message.
    fn end_once_written(
        host: HookHost,
        transcript: &Path,
        said: Option<&str>,
    ) -> anyhow::Result<Self> {
        const LOOKS: u32 = 10;
        const APART: Duration = Duration::from_millis(50);
        let mut turn = Self::within(host, transcript, END)?;
        for _ in 0..LOOKS {
            if !turn.is_behind(host, said) {
                break;
            }
            std::thread::sleep(APART);
            turn = Self::within(host, transcript, END)?;
        }
        Ok(turn)
    }

    /// The agent's last message, also from before a compaction.
    pub(super) fn said(&self) -> Option<&str> {
        Some(self.said.as_str()).filter(|said| !said.is_empty())
    }

    /// Whether the transcript lacks the agent's last message. A message may be stored in several lines. Codex stores its
    /// usage after it.
    fn is_behind(&self, host: HookHost, said: Option<&str>) -> bool {
        let known = self.said.trim();
        let lacks_usage = host == HookHost::Codex && self.used.is_none();
        said.map(str::trim)
            .filter(|said| !said.is_empty())
            .is_some_and(|said| known.is_empty() || !said.ends_with(known) || lacks_usage)
    }

    fn within(host: HookHost, transcript: &Path, length: u64) -> anyhow::Result<Self> {
        let format = match host {
            HookHost::Claude => RecordFormat::Claude,
            HookHost::Codex => RecordFormat::Codex,
        };
        let of_file = || -> Result<Self, ReadError> {
            let lines = FileLines::at_end(transcript, length)?;
            lines.map_or_else(|| Ok(Self::default()), |mut lines| Self::read(format, &mut lines))
        };
        of_file().with_context(|| format!("the transcript {}", transcript.display()))
    }

    fn read(format: RecordFormat, lines: &mut FileLines) -> Result<Self, ReadError> {
        let mut turn = Self::default();
        read_as(format, lines, &mut |moment| turn.add(moment.what))?;
        Ok(turn)
    }

    fn add(&mut self, moment: Moment) {
        match moment {
            Moment::Attended(is_attended) => self.is_headless = !is_attended,
            Moment::Model(model) => self.model = Some(model),
            // What a person says meanwhile is said into the turn.
            Moment::Prompt(text) if !self.runs => {
                self.begin(Some(text).filter(|text| !text.is_empty()));
                self.is_asked = true;
            }
            Moment::TurnStarted => {
                if !self.runs && !self.is_asked {
                    self.begin(None);
                }
                (self.runs, self.is_asked) = (true, false);
            }
            Moment::TurnEnded(_) => (self.runs, self.is_asked) = (false, false),
            Moment::Said(text) => self.said = text,
            Moment::Usage { context, window, .. } => {
                self.used = Some(UsedTokens { tokens: context.0, window: window.map(|it| it.0) });
            }
            Moment::Command { words, exit_code, cwd, .. } => {
                let command = match <[String; 1]>::try_from(words) {
                    Ok([line]) => CommandLine::Line(line),
                    Err(words) => CommandLine::Words(words),
                };
                self.signals.push(Signal::CommandFinished { command, exit_code, cwd });
            }
            Moment::Plan { items, explanation } => {
                self.signals.push(Signal::PlanUpdated { steps: plan_steps(items), explanation });
            }
            // What was done before it was for that context; the plan goes on.
            Moment::Compacted(_) => {
                self.used = None;
                self.prompt = self.prompt.take().filter(|_| self.is_asked);
                self.signals.retain(|signal| matches!(signal, Signal::PlanUpdated { .. }));
            }
            Moment::Opened(_) | Moment::FileRead(_) | Moment::Prompt(_) | Moment::Recorded(_) => {}
        }
    }

    fn begin(&mut self, prompt: Option<String>) {
        self.prompt = prompt;
        self.signals.clear();
        self.said.clear();
    }
}

#[cfg(test)]
mod tests {
    mod claude;
    mod codex;

    use super::*;

    fn last_turn<'l>(format: RecordFormat, lines: impl Iterator<Item = &'l [u8]>) -> LastTurn {
        let lines: Vec<_> = lines.collect();
        let text = std::io::Cursor::new(lines.join(&b'\n'));
        LastTurn::read(format, &mut FileLines::new(Box::new(text))).unwrap()
    }

    #[test]
    fn a_transcript_may_lack_the_last_message() {
        let folder = tempfile::tempdir().unwrap();
        for host in [HookHost::Claude, HookHost::Codex] {
            let turn = LastTurn::of(host, &folder.path().join("none.jsonl")).unwrap();
            assert!(turn.is_behind(host, Some("The parser is written.")));
            assert!(!turn.is_behind(host, None));
        }
        let used = Some(UsedTokens { tokens: 1, window: None });
        let spoke = LastTurn { said: "All done.".to_owned(), used, ..LastTurn::default() };
        assert!(!spoke.is_behind(HookHost::Codex, Some("The parser is written.\n\nAll done.")));
        assert!(spoke.is_behind(HookHost::Codex, Some("And the docs.")));
        let spoke = LastTurn { used: None, ..spoke };
        assert!(spoke.is_behind(HookHost::Codex, Some("All done.")));
        // Some providers count nothing.
        assert!(!spoke.is_behind(HookHost::Claude, Some("All done.")));
    }

    /// Claude Code calls its hooks before it has written the turn.
    #[test]
    fn the_usage_is_read_once_the_turn_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let line = r#"{"type":"assistant","message":{"model":"claude-sonnet-4-5","content":[{"type":"text","text":"All done."}],"usage":{"input_tokens":150000,"output_tokens":20}}}"#;
        let later = path.clone();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            std::fs::write(later, format!("{line}\n")).unwrap();
        });
        let summary =
            TranscriptSummary::at_end(&args(HookHost::Claude, None), &path, Some("All done."));
        assert_eq!(summary.unwrap().unwrap().context_tokens, 150_020);
        writer.join().unwrap();
    }

    #[test]
    fn zeros_before_a_line_do_not_lose_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let line = r#"{"type":"assistant","message":{"content":[],"usage":{"input_tokens":150000,"output_tokens":20}}}"#;
        std::fs::write(&path, format!("\0\0\0\0{line}\n\0\0")).unwrap();
        let turn = LastTurn::of(HookHost::Claude, &path).unwrap();
        assert_eq!(turn.used, Some(UsedTokens { tokens: 150_020, window: None }));
    }

    #[test]
    fn the_usage_is_read_from_the_end_of_a_long_transcript() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let filler = format!(
            "{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}}}}\n",
            "x".repeat(600_000)
        );
        let usage = r#"{"type":"assistant","message":{"model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":150000,"output_tokens":20}}}"#;
        std::fs::write(&path, format!("{filler}{usage}\n")).unwrap();
        let args = args(HookHost::Claude, None);
        let summary = TranscriptSummary::at_end(&args, &path, None).unwrap().unwrap();
        assert_eq!((summary.context_tokens, summary.context_window), (150_020, 200_000));
        assert_eq!(summary.percent_remaining(), 10);
    }

    /// What stands inside of another line is no line of the main agent.
    #[test]
    fn an_end_that_begins_inside_a_line_begins_with_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let spoke = |tokens: u64| {
            format!(
                r#"{{"type":"assistant","message":{{"content":[],"usage":{{"input_tokens":{tokens},"output_tokens":20}}}}}}"#
            )
        };
        let line = format!(r#"{{"type":"progress","data":{}}}"#, spoke(7));
        let user = r#"{"type":"user","message":{"content":"go on"}}"#;
        std::fs::write(&path, format!("{line}\n{user}\n")).unwrap();
        let used = |length: usize| {
            let length = u64::try_from(length).unwrap();
            LastTurn::within(HookHost::Claude, &path, length).unwrap().used
        };
        let whole = line.len() + user.len() + 2;
        for length in 0..whole + 10 {
            assert_eq!(used(length), None, "{length}");
        }
        std::fs::write(&path, format!("{line}\n{}\n", spoke(9))).unwrap();
        let begins = spoke(9).len() + 1;
        assert_eq!(used(begins - 1), None);
        assert_eq!(used(begins), Some(UsedTokens { tokens: 29, window: None }));
    }

    fn args(host: HookHost, context_window: Option<u64>) -> HookArgs {
        HookArgs { event: "Stop".into(), host, context_window, headless: false }
    }

    #[test]
    fn the_window_is_configured_or_assumed_from_model_and_usage() {
        let check = |args: HookArgs, model: &str, tokens, window, expected: Option<(u64, bool)>| {
            let used = Some(UsedTokens { tokens, window });
            let turn = LastTurn { used, model: Some(model.to_owned()), ..LastTurn::default() };
            let summary = TranscriptSummary::of(&args, &turn);
            let found = summary.map(|it| (it.context_window, it.is_assumed));
            assert_eq!(found, expected, "{model} {tokens}");
        };
        let claude = |told| args(HookHost::Claude, told);
        check(claude(None), "claude-opus-5-5", 51_000, None, Some((1_000_000, true)));
        check(claude(None), "claude-opus-5-5", 172_000, None, Some((1_000_000, true)));
        check(claude(None), "claude-sonnet-4-5-20250929", 100_000, None, Some((200_000, true)));
        check(claude(None), "claude-sonnet-4-5-20250929", 250_000, None, Some((1_000_000, true)));
        check(claude(Some(400_000)), "claude-opus-5-5", 100_000, None, Some((400_000, false)));
        let codex = || args(HookHost::Codex, None);
        check(codex(), "gpt-5.5", 112_000, Some(212_000), Some((212_000, false)));
        check(codex(), "gpt-5.5", 112_000, None, None);
    }
}
