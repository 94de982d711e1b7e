//! Readers of recorded sessions. A reader folds the lines of one format into [`TimedMoment`]s, one line in memory at a
//! time. What it does not know is counted and never fatal.

mod claude;
mod codex;
mod recorded;
mod shorten;

pub use claude::{ClaudePlan, NO_ANSWER};

use crate::lines::{FileLines, ReadError};
use crate::moment::{Moment, TimedMoment};
use rawr_core::units::Timestamp;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

/// The format of a recorded session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordFormat {
    /// A rollout of Codex.
    Codex,
    /// A transcript of Claude Code.
    Claude,
    /// The `events.jsonl` of a thread of rawr.
    Rawr,
}

impl RecordFormat {
    /// The name in rows.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Rawr => "rawr",
        }
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Codex => "Codex",
            Self::Claude => "Claude Code",
            Self::Rawr => "rawr",
        }
    }
}

/// How many lines were read, and how many of them tell nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LineCounts {
    /// All lines.
    pub lines: u64,
    /// Lines of a kind that no reader knows.
    pub unknown: u64,
    /// Lines that are no JSON, or not of the shape that their kind has. The last one may have been torn by a crash.
    pub malformed: u64,
    /// Lines that are longer than any message.
    pub oversized: u64,
}

/// What a line was to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Known,
    Unknown,
    Malformed,
}

/// Folds the lines of one format.
trait RecordReader {
    /// Adds to `told` what the line tells.
    fn line(&mut self, line: &[u8], told: &mut Told) -> LineKind;
    /// Adds what only the end of the record tells.
    fn end(&mut self, told: &mut Told);
}

/// What the lines told so far, with the newest time that was named.
#[derive(Debug, Default)]
struct Told {
    moments: Vec<TimedMoment>,
    at: Timestamp,
}

impl Told {
    /// A record's lines may be a little out of order; time never goes back in what is told. A leap of more than a year is an
    /// error of the record.
    fn time(&mut self, text: &str) {
        const YEAR: u64 = 366 * 86_400;
        if let Some(at) = crate::time::parse(text)
            && (self.at.0 == 0 || at <= self.at.plus_seconds(YEAR))
        {
            self.at = self.at.max(at);
        }
    }

    fn add(&mut self, what: Moment) {
        self.add_at(self.at, what);
    }

    fn add_at(&mut self, at: Timestamp, what: Moment) {
        self.moments.push(TimedMoment { at, what });
    }
}

/// A text of a line. An optional `Cow` is always copied; this one only where it has escapes.
#[derive(Debug, Default, serde::Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

impl Text<'_> {
    fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Parses a line.
fn parse<'l, T: serde::Deserialize<'l>>(line: &'l [u8]) -> serde_json::Result<T> {
    match str::from_utf8(line) {
        // Checked once for all texts in it.
        Ok(line) => serde_json::from_str(line),
        // What is not read may be of any bytes.
        Err(_) => serde_json::from_slice(line),
    }
}

/// Lines that may pass before a record's format must have shown itself.
const SHOWS_ITSELF_WITHIN: u64 = 1000;

/// Reads a session and calls `told` for each moment, until `stop` is set. The format is `None` if no line shows one.
///
/// # Errors
///
/// [`ReadError`] if the source fails. What was read before it has been told.
pub fn read(
    lines: &mut FileLines,
    stop: &AtomicBool,
    told: &mut dyn FnMut(TimedMoment),
) -> Result<(Option<RecordFormat>, LineCounts), ReadError> {
    let mut counts = LineCounts::default();
    let mut reader: Option<(RecordFormat, Box<dyn RecordReader>)> = None;
    let mut batch = Told::default();
    while !stop.load(Ordering::Relaxed)
        && let Some((_, line)) = lines.next_line()?
    {
        if line.is_empty() {
            continue;
        }
        counts.lines += 1;
        if reader.is_none() && counts.lines <= SHOWS_ITSELF_WITHIN {
            reader = format_of(line).map(|format| (format, reader_of(format)));
            // Lines before it may be of any kind.
            if reader.is_some() {
                counts.unknown = 0;
            }
        }
        let kind = match &mut reader {
            Some((_, reader)) => reader.line(line, &mut batch),
            None if line.first() == Some(&b'{') => LineKind::Unknown,
            None => LineKind::Malformed,
        };
        counts.unknown += u64::from(kind == LineKind::Unknown);
        counts.malformed += u64::from(kind == LineKind::Malformed);
        batch.moments.drain(..).for_each(&mut *told);
    }
    counts.oversized = lines.skipped;
    if !stop.load(Ordering::Relaxed)
        && let Some((_, reader)) = &mut reader
    {
        reader.end(&mut batch);
        batch.moments.drain(..).for_each(told);
    }
    Ok((reader.map(|(format, _)| format), counts))
}

fn reader_of(format: RecordFormat) -> Box<dyn RecordReader> {
    match format {
        RecordFormat::Codex => Box::<codex::CodexReader>::default(),
        RecordFormat::Claude => Box::<claude::ClaudeReader>::default(),
        RecordFormat::Rawr => Box::<recorded::EventReader>::default(),
    }
}

/// The format that a line shows by its keys.
fn format_of(line: &[u8]) -> Option<RecordFormat> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Keys {
        payload: Option<serde::de::IgnoredAny>,
        session_id: Option<serde::de::IgnoredAny>,
        parent_uuid: Option<serde::de::IgnoredAny>,
        event: Option<serde::de::IgnoredAny>,
        #[serde(rename = "type")]
        kind: Option<serde::de::IgnoredAny>,
    }
    let keys: Keys = serde_json::from_slice(line).ok()?;
    match keys {
        Keys { payload: Some(_), kind: Some(_), .. } => Some(RecordFormat::Codex),
        Keys { session_id, parent_uuid, kind: Some(_), .. }
            if session_id.is_some() || parent_uuid.is_some() =>
        {
            Some(RecordFormat::Claude)
        }
        Keys { event: Some(_), kind: None, .. } => Some(RecordFormat::Rawr),
        _ => None,
    }
}
