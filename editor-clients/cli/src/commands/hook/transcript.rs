//! What an agent's own transcript says of its last turn: how full the window is, and what was done. Reads; changes nothing.

mod claude;
mod codex;

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use rawr_protocol::Signal;

use crate::args::{HookArgs, HookHost};
use rawr_host::host::claude::WindowSettings;
use rawr_host::host::codex::BASELINE_TOKENS;

/// How full the window is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TranscriptSummary {
    pub(super) context_tokens: u64,
    pub(super) context_window: u64,
    /// Looked up by the model's name: neither the transcript nor a person tells it.
    pub(super) is_assumed: bool,
    /// What the agent itself takes off both sides before it shows a percentage.
    pub(super) baseline_tokens: u64,
    /// The model of the last request, where the transcript names it.
    pub(super) model: Option<String>,
}

/// What happened since the person's last message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LastTurn {
    pub(super) prompt: Option<String>,
    pub(super) signals: Vec<Signal>,
    /// `None` before the first request, and after a compaction until the next.
    pub(super) used: Option<UsedTokens>,
    model: Option<String>,
    /// The turn is one of a run that no person watches, as the transcript tells it.
    pub(super) is_headless: bool,
    /// What the agent said last. Empty before its first word of the turn.
    said: String,
}

/// As the transcript tells it last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UsedTokens {
    tokens: u64,
    window: Option<u64>,
}

/// A longer transcript is read from there on. What comes before it is many turns ago.
const LONGEST: u64 = 64 << 20;

/// The last request's usage stands near the end.
const END: u64 = 256 << 10;

/// A window that holds more than its model's is the model's long one.
const LONG_WINDOW: u64 = 1_000_000;

impl TranscriptSummary {
    /// At the end of a turn in which the agent said this last. `None` while nothing is known.
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
        let told = window.or(args.context_window);
        let (context_window, baseline_tokens) = match args.host {
            HookHost::Claude => (told.unwrap_or_else(|| turn.assumed_window(tokens)), 0),
            HookHost::Codex => (told?, BASELINE_TOKENS),
        };
        let is_assumed = told.is_none();
        let model = turn.model.clone();
        Some(Self { context_tokens: tokens, context_window, is_assumed, baseline_tokens, model })
    }

    /// Rounded down: a look that finds too much pressure costs a moment, one that finds too little a compaction.
    pub(super) fn percent_remaining(&self) -> u64 {
        let window = self.context_window.saturating_sub(self.baseline_tokens).max(1);
        let used = self.context_tokens.saturating_sub(self.baseline_tokens);
        window.saturating_sub(used) * 100 / window
    }
}

impl LastTurn {
    pub(super) fn of(host: HookHost, transcript: &Path) -> anyhow::Result<Self> {
        Self::within(host, transcript, LONGEST)
    }

    /// With what the agent said last: it may be written down a moment after the hook is told of it.
    pub(super) fn whole(
        host: HookHost,
        transcript: &Path,
        said: Option<&str>,
    ) -> anyhow::Result<Self> {
        Self::end_once_written(host, transcript, said)?;
        Self::of(host, transcript)
    }

    /// What was said last stands near the end: a long transcript is not read again for each look.
    fn end_once_written(
        host: HookHost,
        transcript: &Path,
        said: Option<&str>,
    ) -> anyhow::Result<Self> {
        const LOOKS: u32 = 10;
        const APART: Duration = Duration::from_millis(50);
        let mut turn = Self::within(host, transcript, END)?;
        for _ in 0..LOOKS {
            if !turn.is_behind(said) {
                break;
            }
            std::thread::sleep(APART);
            turn = Self::within(host, transcript, END)?;
        }
        Ok(turn)
    }

    fn assumed_window(&self, tokens: u64) -> u64 {
        let settings = WindowSettings::read(|name| std::env::var(name).ok());
        let window = settings.window_of(self.model.as_deref().unwrap_or_default());
        if tokens > window { LONG_WINDOW } else { window }
    }

    /// What the agent said last, also before a compaction.
    pub(super) fn said(&self) -> Option<&str> {
        Some(self.said.as_str()).filter(|said| !said.is_empty())
    }

    /// Whether the agent has said more than the transcript tells. A message may be several lines of it.
    fn is_behind(&self, said: Option<&str>) -> bool {
        let known = self.said.trim();
        said.map(str::trim)
            .filter(|said| !said.is_empty())
            .is_some_and(|said| known.is_empty() || !said.ends_with(known) || self.used.is_none())
    }

    fn within(host: HookHost, transcript: &Path, length: u64) -> anyhow::Result<Self> {
        let text = end_of(transcript, length)
            .with_context(|| format!("the transcript {}", transcript.display()))?;
        let lines = text.split(|byte| *byte == b'\n');
        Ok(match host {
            HookHost::Claude => claude::last_turn(lines),
            HookHost::Codex => codex::last_turn(lines),
        })
    }
}

/// The last bytes of a file. The first line may be torn, and is no JSON then. An agent names its transcript before it
/// writes the first line of it.
fn end_of(path: &Path, length: u64) -> std::io::Result<Vec<u8>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let whole = file.metadata()?.len();
    file.seek(SeekFrom::Start(whole.saturating_sub(length)))?;
    let mut text = Vec::new();
    file.take(length).read_to_end(&mut text)?;
    Ok(text)
}

/// Parsing is what takes time: most lines are of no interest, and tell so early.
fn holds(line: &[u8], word: &str) -> bool {
    line.windows(word.len()).any(|window| window == word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_behind_what_the_agent_said() {
        let folder = tempfile::tempdir().unwrap();
        for host in [HookHost::Claude, HookHost::Codex] {
            let turn = LastTurn::of(host, &folder.path().join("none.jsonl")).unwrap();
            assert!(turn.is_behind(Some("The parser is written.")));
            assert!(!turn.is_behind(None));
        }
        let used = Some(UsedTokens { tokens: 1, window: None });
        let spoke = LastTurn { said: "All done.".to_owned(), used, ..LastTurn::default() };
        assert!(!spoke.is_behind(Some("The parser is written.\n\nAll done.")));
        assert!(spoke.is_behind(Some("And the docs.")));
        assert!(LastTurn { used: None, ..spoke }.is_behind(Some("All done.")));
    }

    /// Claude Code runs its hooks before it has written what they are about.
    #[test]
    fn the_window_is_looked_at_once_the_turn_is_written() {
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
    fn the_end_of_a_long_transcript_is_enough_for_its_usage() {
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
        assert_eq!(summary.percent_remaining(), 24);
    }

    fn args(host: HookHost, context_window: Option<u64>) -> HookArgs {
        HookArgs { event: "Stop".into(), host, context_window, headless: false }
    }

    #[test]
    fn a_window_is_told_or_assumed_by_the_model_and_by_what_is_in_it() {
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
