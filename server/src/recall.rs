//! Finds where words were said: in a thread's own log, in its notes, in the histories that were kept and in the host's
//! transcript. It reads from beginning to end and keeps only the newest places, so that a long life costs no memory;
//! it changes nothing and needs no index.

mod events;
mod items;
mod lines;
mod notes;
mod time;
mod transcript;
mod words;

pub use words::Words;

use crate::capsule::Capsules;
use lines::Problem;
use rawr_core::units::{ThreadId, Timestamp, stable_hash};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is searched of one thread.
#[derive(Debug, Clone)]
pub struct Source {
    pub thread: ThreadId,
    /// Where rawr keeps the thread.
    pub folder: PathBuf,
    pub cwd: PathBuf,
    /// Relative to `cwd`.
    pub scratch_file: String,
    /// The host's own record.
    pub transcript: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Packet,
    Handoff,
    Directive,
    Scratch,
    UserMessage,
    AgentMessage,
    ToolCall,
    ToolOutput,
    Summary,
}

/// One text in which all words occur. The order is that of time, then of files and lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecallHit {
    pub at: Option<Timestamp>,
    pub thread: ThreadId,
    pub file: PathBuf,
    pub line: u64,
    pub kind: Kind,
    pub snippet: String,
}

#[derive(Debug, Default)]
pub struct Found {
    /// The newest first.
    pub places: Vec<RecallHit>,
    /// So many older ones are not among them.
    pub more: u64,
    /// What could not be searched, and why.
    pub unread: Vec<(PathBuf, String)>,
}

/// Searches all of it, unless nobody wants to know any more.
pub fn search(sources: &[Source], words: &Words, limit: usize, is_cancelled: &AtomicBool) -> Found {
    let mut search = Search {
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
    Found {
        places: newest.into_iter().map(|Reverse(place)| place).collect(),
        more: search.more,
        unread: search.unread,
    }
}

/// A search under way.
struct Search<'s> {
    words: &'s Words,
    limit: usize,
    is_cancelled: &'s AtomicBool,
    /// The oldest of them on top.
    newest: BinaryHeap<Reverse<RecallHit>>,
    more: u64,
    unread: Vec<(PathBuf, String)>,
}

/// Texts that are not to be named again, by their hashes.
#[derive(Default)]
struct Seen(HashSet<u64>);

impl Seen {
    /// Beyond so many a text may be named twice.
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

/// A text that was met.
struct RecalledText<'t> {
    kind: Kind,
    at: Option<Timestamp>,
    text: &'t str,
}

/// Where a search is.
struct Spot<'p> {
    thread: &'p ThreadId,
    file: &'p Path,
    line: u64,
}

impl Search<'_> {
    fn thread(&mut self, source: &Source) {
        let has_transcript = self.transcript(source);
        let seen = self.histories(source);
        self.events(source, has_transcript, &seen);
        self.notes(source);
    }

    /// Whether there is one that could be read.
    fn transcript(&mut self, source: &Source) -> bool {
        let path = source.transcript.as_deref().map(transcript::find);
        path.is_some_and(|path| self.items(source, &path, None, None))
    }

    /// What one history holds that an older one holds too is named once. Returns what was named.
    fn histories(&mut self, source: &Source) -> Seen {
        let mut seen = Seen::default();
        match Capsules::of(&source.folder).histories() {
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

    fn met(&mut self, spot: &Spot<'_>, said: &RecalledText<'_>) -> bool {
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

    fn could_not(&mut self, file: &Path, problem: &Problem) {
        self.unread.push((file.to_owned(), problem.to_string()));
    }
}
