//! Readers of recorded sessions. A reader folds the lines of one format into [`TimedMoment`]s, one line in memory at a
//! time. What it does not know is counted and never fatal.

mod claude;
mod codex;
mod recorded;
mod shorten;

pub use claude::{NO_ANSWER, RecordedPlan};

use crate::lenient::{OddLine, Openings};
use crate::lines::{FileLines, ReadError};
use crate::moment::{Moment, TimedMoment};
use crate::profile::{CLAUDE, CODEX};
use crate::turns::RecordedTurn;
use rawr_core::units::Timestamp;
use serde::Serialize;
use std::path::Path;
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
            Self::Codex => CODEX.name,
            Self::Claude => CLAUDE.name,
            Self::Rawr => "rawr",
        }
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Codex => CODEX.title,
            Self::Claude => CLAUDE.title,
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

impl LineCounts {
    /// Adds the counts of another record.
    pub fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.unknown += other.unknown;
        self.malformed += other.malformed;
        self.oversized += other.oversized;
    }
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
    /// What the record's clock showed then.
    clock: Timestamp,
    /// The time of the first of the lines that came late at last, and how many there are.
    late: Option<(Timestamp, u32)>,
    /// What the clock showed when it was set back, and the time then.
    before: Option<(Timestamp, Timestamp)>,
}

impl Told {
    /// Time never goes back in what is told. Single lines may come late; when the clock was set back, all do, and time goes
    /// on from there. A leap of more than a year is an error of the record.
    fn time(&mut self, clock: Timestamp) {
        const YEAR: u64 = 366 * 86_400;
        const OUT_OF_ORDER: u64 = 60;
        const MOST_LATE: u32 = 3;
        if self.clock.0 == 0 {
            (self.at, self.clock) = (clock, clock);
        } else if clock.plus_seconds(OUT_OF_ORDER) >= self.clock {
            self.late = None;
            if clock > self.clock && clock <= self.clock.plus_seconds(YEAR) {
                // Where a clock that was set back reaches its old time, only some lines were late.
                let (from, at) = self.before.take_if(|(old, _)| clock >= *old).unzip();
                self.advance(from.unwrap_or(self.clock), clock, at.unwrap_or(self.at));
            }
        } else {
            let (first, lines) = self.late.get_or_insert((clock, 0));
            *lines += 1;
            if *lines > MOST_LATE {
                let first = *first;
                self.late = None;
                self.before = Some((self.clock, self.at));
                self.advance(first, clock, self.at);
            }
        }
    }

    /// From the time `at`, the clock went on.
    fn advance(&mut self, from: Timestamp, to: Timestamp, at: Timestamp) {
        let passed = u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0);
        self.at = self.at.max(at.plus_millis(passed));
        self.clock = to;
    }

    fn add(&mut self, what: Moment) {
        self.add_at(self.at, what);
    }

    fn add_at(&mut self, at: Timestamp, what: Moment) {
        self.moments.push(TimedMoment { at, what });
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
    read_with(None, lines, stop, told)
}

/// Like [`read`], for a record of this format, or for the end of one, which need not show it.
///
/// # Errors
///
/// As for [`read`].
pub fn read_as(
    format: RecordFormat,
    lines: &mut FileLines,
    told: &mut dyn FnMut(TimedMoment),
) -> Result<LineCounts, ReadError> {
    let (_, counts) =
        read_with(Some((format, reader_of(format))), lines, &AtomicBool::new(false), told)?;
    Ok(counts)
}

fn read_with(
    mut reader: Option<(RecordFormat, Box<dyn RecordReader>)>,
    lines: &mut FileLines,
    stop: &AtomicBool,
    told: &mut dyn FnMut(TimedMoment),
) -> Result<(Option<RecordFormat>, LineCounts), ReadError> {
    let mut counts = LineCounts::default();
    let mut batch = Told::default();
    let mut openings = Openings::default();
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
            Some((_, reader)) => read_next(&mut **reader, line, &mut openings, &mut batch),
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

/// The turns of a rollout of Codex, oldest first. An unreadable file has none.
pub fn codex_turns(path: &Path) -> Vec<RecordedTurn> {
    let mut reader = codex::TurnsReader::default();
    fold(path, &mut reader);
    reader.turns
}

/// The turns of a transcript of Claude Code, oldest first. An unreadable file has none.
pub fn claude_turns(path: &Path) -> Vec<RecordedTurn> {
    let mut reader = claude::TurnsReader::default();
    fold(path, &mut reader);
    reader.turns
}

fn fold(path: &Path, reader: &mut dyn RecordReader) {
    let Ok(Some(mut lines)) = FileLines::of(path) else { return };
    let (mut openings, mut told) = (Openings::default(), Told::default());
    while let Ok(Some((_, line))) = lines.next_line() {
        read_next(reader, line, &mut openings, &mut told);
    }
}

/// Reads the next line of a record, and learns how its lines begin.
fn read_next(
    reader: &mut dyn RecordReader,
    line: &[u8],
    openings: &mut Openings,
    told: &mut Told,
) -> LineKind {
    let kind = read_line(reader, line, openings, told);
    if kind != LineKind::Malformed {
        openings.learn(line);
    }
    kind
}

/// Reads a line, and what can be read of one that is no record.
fn read_line(
    reader: &mut dyn RecordReader,
    line: &[u8],
    openings: &Openings,
    told: &mut Told,
) -> LineKind {
    let kind = reader.line(line, told);
    if kind != LineKind::Malformed {
        return kind;
    }
    match OddLine::of(line, openings) {
        OddLine::Mended(line) => reader.line(line.as_bytes(), told),
        OddLine::Records { records, is_torn } => {
            let kinds =
                records.into_iter().map(|record| read_line(reader, &line[record], openings, told));
            // All are read.
            let is_odd = kinds.fold(is_torn, |odd, kind| odd | (kind == LineKind::Malformed));
            if is_odd { LineKind::Malformed } else { LineKind::Known }
        }
        OddLine::Unreadable => LineKind::Malformed,
    }
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
    // What follows it on the line may be odd.
    let start = line.iter().position(|byte| *byte == b'{')?;
    let mut values = serde_json::Deserializer::from_slice(&line[start..]).into_iter();
    let keys: Keys = values.next()?.ok()?;
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
