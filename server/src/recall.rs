//! Searches a thread's log, its notes, its stored histories and the host's transcript for words. Reads sequentially and
//! keeps only the newest hits, so that memory stays bounded. Changes nothing and needs no index.

mod events;
mod items;
mod notes;
mod words;

pub use words::SearchWords;

use rawr_core::units::{ThreadId, Timestamp, stable_hash};
use rawr_records::lines::ReadError;
use rawr_records::said::SaidKind;
use rawr_records::{time, transcript};
use rawr_storage::capsule::CapsuleStore;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a file, or a part of it, was not searched.
#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("outside of the thread's folder")]
    Outside,
    #[error("{0} lines could not be read")]
    Lines(u64),
}

impl From<std::io::Error> for SearchError {
    fn from(error: std::io::Error) -> Self {
        Self::Read(error.into())
    }
}

/// What to search of one thread.
#[derive(Debug, Clone)]
pub struct RecallSource {
    pub thread: ThreadId,
    /// The thread's folder in the store.
    pub folder: PathBuf,
    /// The thread's working folder.
    pub cwd: PathBuf,
    /// Relative to `cwd`.
    pub scratch_file: String,
    /// The host's own transcript.
    pub transcript: Option<PathBuf>,
}

/// What kind of text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HitKind {
    Packet,
    Handoff,
    /// A standing instruction.
    Directive,
    /// A paragraph of the agent's notes.
    Scratch,
    UserMessage,
    AgentMessage,
    /// A tool call of the agent.
    ToolCall,
    ToolOutput,
    /// The summary of a compaction.
    Summary,
}

impl From<SaidKind> for HitKind {
    fn from(kind: SaidKind) -> Self {
        match kind {
            SaidKind::UserMessage => Self::UserMessage,
            SaidKind::AgentMessage => Self::AgentMessage,
            SaidKind::ToolCall => Self::ToolCall,
            SaidKind::ToolOutput => Self::ToolOutput,
            SaidKind::Summary => Self::Summary,
        }
    }
}

/// One text that contains all words. Ordered by time, then by file and line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecallHit {
    /// When it was written, if known.
    pub at: Option<Timestamp>,
    /// The thread that it belongs to.
    pub thread: ThreadId,
    /// The file that contains it.
    pub file: PathBuf,
    /// The line in this file, from 1.
    pub line: u64,
    /// The kind of text.
    pub kind: HitKind,
    /// The redacted text around the first word, on one line.
    pub snippet: String,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct RecallResult {
    /// Newest first.
    pub places: Vec<RecallHit>,
    /// The number of older hits that were left out.
    pub more: u64,
    /// Files that could not be searched, and why.
    pub unread: Vec<(PathBuf, String)>,
}

/// Searches all sources until it is cancelled.
pub fn search(
    sources: &[RecallSource],
    words: &SearchWords,
    limit: usize,
    is_cancelled: &AtomicBool,
) -> RecallResult {
    let mut search = RecallSearch {
        words,
        limit,
        is_cancelled,
        newest: BinaryHeap::new(),
        more: 0,
        unread: Vec::new(),
    };
    for source in sources {
        search.thread(source);
    }
    let newest = search.newest.into_sorted_vec();
    RecallResult {
        places: newest.into_iter().map(|Reverse(place)| place).collect(),
        more: search.more,
        unread: search.unread,
    }
}

/// A running search.
struct RecallSearch<'s> {
    words: &'s SearchWords,
    limit: usize,
    is_cancelled: &'s AtomicBool,
    /// A heap with the oldest hit on top.
    newest: BinaryHeap<Reverse<RecallHit>>,
    more: u64,
    unread: Vec<(PathBuf, String)>,
}

/// Hashes of texts that must not be reported twice.
#[derive(Default)]
struct SeenTexts(HashSet<u64>);

impl SeenTexts {
    /// The limit of hashes. Above it, a text may be reported twice.
    const MOST: usize = 1 << 16;

    fn has(&self, text: &str) -> bool {
        self.0.contains(&stable_hash(text))
    }

    fn note(&mut self, text: &str) {
        if self.0.len() < Self::MOST {
            self.0.insert(stable_hash(text));
        }
    }
}

/// A text that was read.
struct RecalledText<'t> {
    kind: HitKind,
    at: Option<Timestamp>,
    text: &'t str,
}

/// The current position of a search.
struct SearchPosition<'p> {
    thread: &'p ThreadId,
    file: &'p Path,
    line: u64,
}

impl RecallSearch<'_> {
    fn thread(&mut self, source: &RecallSource) {
        let has_transcript = self.transcript(source);
        let seen = self.histories(source);
        self.events(source, has_transcript, &seen);
        self.notes(source);
    }

    /// Returns whether there is one that could be read.
    fn transcript(&mut self, source: &RecallSource) -> bool {
        let path = source.transcript.as_deref().map(transcript::find);
        path.is_some_and(|path| self.items(source, &path, None, None))
    }

    /// Reports a text that several histories contain only once. Returns what was reported.
    fn histories(&mut self, source: &RecallSource) -> SeenTexts {
        let mut seen = SeenTexts::default();
        match CapsuleStore::of(&source.folder).histories() {
            Ok(mut files) => {
                files.sort_by_cached_key(|file| (time::of_file(file), file.clone()));
                for file in files {
                    self.items(source, &file, time::of_file(&file), Some(&mut seen));
                }
            }
            Err(error) => self.unread.push((source.folder.clone(), error.to_string())),
        }
        seen
    }

    fn met(&mut self, spot: &SearchPosition<'_>, said: &RecalledText<'_>) -> bool {
        let Some(snippet) = self.words.snippet(said.text) else { return false };
        let place = RecallHit {
            at: said.at,
            thread: spot.thread.clone(),
            file: spot.file.to_owned(),
            line: spot.line,
            kind: said.kind,
            snippet,
        };
        self.newest.push(Reverse(place));
        if self.newest.len() > self.limit {
            self.newest.pop();
            self.more += 1;
        }
        true
    }

    fn is_over(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    fn mark_failed(&mut self, file: &Path, problem: &SearchError) {
        self.unread.push((file.to_owned(), problem.to_string()));
    }
}
