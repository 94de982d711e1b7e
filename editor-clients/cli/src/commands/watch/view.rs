//! What the screen shows: a fold of news and keys. It reads no clock, draws nothing and calls nobody; what is to be done
//! comes back as wishes.

use std::cmp::Reverse;
use std::collections::HashMap;

use rawr_protocol::{
    Action, Choice, CompactionStatus, CompactionTrigger, HeadsUp, MessageType,
    SequenceRespondedNotification, ThreadChangedNotification, ThreadListChangedNotification,
    ThreadSummary,
};

use super::link::{Details, News, Target, WatchRequest};
use crate::render;
use rawr_host::event::Level;
use rawr_host::sidecar::{Note, SidecarError};

#[derive(Debug, Default)]
pub(super) struct View {
    /// Newest first.
    pub threads: Vec<Row>,
    /// By name: rows move.
    pub selected: Option<String>,
    /// Of the selected thread, once they are known.
    pub details: Option<Details>,
    /// At most one a thread, the newest last.
    pub banners: Vec<Banner>,
    pub page: Page,
    pub question: Option<Question>,
    pub said: Option<StatusMessage>,
    /// How far down the page, and how far it goes.
    pub scroll: usize,
    furthest: usize,
    looking: Looking,
    listing: Listing,
    pub end: Option<End>,
}

/// A thread in the list.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub thread: ThreadSummary,
    pub sequence_id: Option<String>,
    pub guards: usize,
}

/// A thread's banner, as the sidecar last told it.
#[derive(Debug, Clone)]
pub(super) struct Banner {
    pub thread_id: String,
    pub heads_up: HeadsUp,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Page {
    #[default]
    Threads,
    /// So many decisions before the latest.
    Explain(usize),
    Help,
}

/// What is asked before something is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    Cancel { target: Target, sequence_id: Option<String> },
    ClearGuards { target: Target, guards: usize },
    Snooze { target: Target, sequence_id: Option<String>, typed: String },
}

/// The line above the keys, until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatusMessage {
    pub level: Level,
    pub text: String,
}

#[derive(Debug)]
pub(super) enum End {
    Left,
    /// For as long as the shell wants the terminal.
    Suspended,
    Lost(SidecarError),
}

/// One look at a time: keys and news come faster than answers.
#[derive(Debug, Default)]
struct Looking {
    at: Option<String>,
    /// Something has happened since.
    is_stale: bool,
}

/// One list at a time.
#[derive(Debug, Default)]
struct Listing {
    is_asked_for: bool,
    /// Something has happened since.
    is_stale: bool,
}

impl View {
    pub(super) fn hear(&mut self, news: News, now_ms: i64) -> Vec<WatchRequest> {
        match news {
            News::Watched(threads) => {
                threads.into_iter().for_each(|thread| self.put(thread));
                self.sort();
                let mut wishes = self.list();
                wishes.extend(self.look());
                wishes
            }
            News::Listed(threads) => self.listed(threads),
            News::Looked(details) => self.looked(*details),
            News::NotSeen { thread_id, error } => {
                self.say(Level::Error, &format!("{thread_id}: {error}"));
                self.seen()
            }
            News::Note(note) => self.note(*note, now_ms),
            News::Done { thread_id, said } => {
                self.say(Level::Info, &said);
                self.news_of(&thread_id)
            }
            News::Refused(why) => {
                self.say(Level::Error, &format!("Refused: {why}"));
                self.look()
            }
            News::Restarted(error) => {
                let text = format!("{error}; it was started again, and the watch goes on");
                self.say(Level::Warning, &text);
                (self.looking, self.listing) = (Looking::default(), Listing::default());
                Vec::new()
            }
            News::Lost(error) => {
                self.end = Some(End::Lost(error));
                Vec::new()
            }
        }
    }

    fn note(&mut self, note: Note, now_ms: i64) -> Vec<WatchRequest> {
        match note {
            Note::Changed(changed) => self.changed(&changed, now_ms),
            Note::ListChanged(changed) => self.list_changed(changed),
            // The change that comes with it has the banner.
            Note::HeadsUp(heads_up) => self.news_of(&heads_up.thread_id),
            Note::Decided(decided) => self.news_of(&decided.thread_id),
            Note::Compaction(update) => {
                if update.status != CompactionStatus::InProgress {
                    let words = render::compaction(&update);
                    let words = words.last().map(|line| render::plain(line)).unwrap_or_default();
                    let level = match update.status {
                        CompactionStatus::Failed => Level::Error,
                        _ => Level::Info,
                    };
                    self.say(level, &format!("{}: {}", update.thread_id, words.trim()));
                }
                self.news_of(&update.thread_id)
            }
            Note::Responded(responded) => self.responded(&responded),
            Note::JudgeAsked(asked) => self.news_of(&asked.thread_id),
            Note::Judged(judged) => self.news_of(&judged.thread_id),
            Note::Log(line) => {
                match line.level {
                    MessageType::Error => self.say(Level::Error, &line.message),
                    MessageType::Warning => self.say(Level::Warning, &line.message),
                    _ => {}
                }
                Vec::new()
            }
            Note::Garbled { method, error } => {
                let text = format!("the sidecar's {method} is not understood: {error}");
                self.say(Level::Warning, &text);
                Vec::new()
            }
            // A watcher owns nothing, and shows neither prompts nor configuration.
            Note::Perform(_)
            | Note::StoreFailed(_)
            | Note::StoreRecovered(_)
            | Note::Prompt(_)
            | Note::Config(_) => Vec::new(),
        }
    }

    fn show_banner(&mut self, thread_id: &str, heads_up: Option<HeadsUp>) {
        let known = self.banners.iter().position(|banner| banner.thread_id == thread_id);
        match (known, heads_up) {
            (Some(at), Some(heads_up)) if self.banners[at].heads_up.stage == heads_up.stage => {
                self.banners[at].heads_up = heads_up;
            }
            (known, heads_up) => {
                known.map(|at| self.banners.remove(at));
                let thread_id = thread_id.to_owned();
                self.banners.extend(heads_up.map(|heads_up| Banner { thread_id, heads_up }));
            }
        }
    }

    fn changed(&mut self, changed: &ThreadChangedNotification, now_ms: i64) -> Vec<WatchRequest> {
        self.show_banner(&changed.thread_id, changed.heads_up.clone());
        let row = self.threads.iter_mut().find(|row| row.id() == changed.thread_id);
        let Some(row) = row else {
            // Where it works and who runs it is in the list.
            return self.list();
        };
        row.thread.phase = changed.phase;
        row.thread.tier = changed.tier;
        row.thread.percent_remaining = changed.percent_remaining;
        row.thread.updated_at_ms = now_ms;
        row.thread.breaker.clone_from(&changed.breaker);
        row.thread.last_fate.clone_from(&changed.last_fate);
        row.sequence_id = changed.sequence_id.clone();
        row.guards = changed.guards.len();
        self.sort();
        self.news_of(&changed.thread_id)
    }

    fn responded(&mut self, responded: &SequenceRespondedNotification) -> Vec<WatchRequest> {
        let SequenceRespondedNotification { thread_id, choice, by, .. } = responded;
        let by = by.as_deref().unwrap_or("another client");
        let text = format!("{thread_id}: answered by {by}: {}", choice.label());
        self.say(Level::Info, &text);
        self.news_of(thread_id)
    }

    fn list_changed(&mut self, changed: ThreadListChangedNotification) -> Vec<WatchRequest> {
        // A list that is on its way may be older than this.
        self.listing.is_stale |= self.listing.is_asked_for;
        self.threads.retain(|row| !changed.gone.iter().any(|id| id == row.id()));
        self.banners.retain(|banner| !changed.gone.contains(&banner.thread_id));
        changed.threads.into_iter().for_each(|thread| self.put(thread));
        self.sort();
        self.look()
    }

    fn listed(&mut self, threads: Vec<ThreadSummary>) -> Vec<WatchRequest> {
        self.listing.is_asked_for = false;
        let rows = std::mem::take(&mut self.threads).into_iter();
        let mut rows: HashMap<_, _> = rows.map(|row| (row.id().to_owned(), row)).collect();
        let row = |thread: ThreadSummary| match rows.remove(&thread.thread_id) {
            Some(row) => Row { thread, ..row },
            None => Row::new(thread),
        };
        self.threads = threads.into_iter().map(row).collect();
        self.sort();
        let mut wishes = self.look();
        if std::mem::take(&mut self.listing.is_stale) {
            wishes.extend(self.list());
        }
        wishes
    }

    fn looked(&mut self, details: Details) -> Vec<WatchRequest> {
        let thread = &details.thread;
        if let Some(row) = self.threads.iter_mut().find(|row| row.id() == thread.thread.thread_id) {
            row.thread = thread.thread.clone();
            row.sequence_id = thread.sequence_id.clone();
            row.guards = thread.guards.len();
        }
        self.show_banner(&thread.thread.thread_id, thread.heads_up.clone());
        if self.selected.as_ref() == Some(&thread.thread.thread_id) {
            self.details = Some(details);
        }
        self.sort();
        self.seen()
    }

    /// A look has ended: where it went to the wrong thread or came too early, there is another.
    fn seen(&mut self) -> Vec<WatchRequest> {
        let at = self.looking.at.take();
        if std::mem::take(&mut self.looking.is_stale) || at != self.selected {
            return self.look();
        }
        Vec::new()
    }

    /// Looks at the selected thread.
    pub(super) fn look(&mut self) -> Vec<WatchRequest> {
        if self.looking.at.is_some() {
            self.looking.is_stale = true;
            return Vec::new();
        }
        let Some(row) = self.row() else { return Vec::new() };
        let target = row.target();
        self.looking.at = Some(target.thread_id.clone());
        vec![WatchRequest::Look(target)]
    }

    fn news_of(&mut self, thread_id: &str) -> Vec<WatchRequest> {
        if self.selected.as_deref() == Some(thread_id) { self.look() } else { Vec::new() }
    }

    fn list(&mut self) -> Vec<WatchRequest> {
        if self.listing.is_asked_for {
            self.listing.is_stale = true;
            return Vec::new();
        }
        self.listing.is_asked_for = true;
        vec![WatchRequest::List]
    }

    fn put(&mut self, thread: ThreadSummary) {
        match self.threads.iter_mut().find(|row| row.id() == thread.thread_id) {
            Some(row) => row.thread = thread,
            None => self.threads.push(Row::new(thread)),
        }
    }

    fn sort(&mut self) {
        self.threads.sort_by_key(|row| Reverse(row.thread.updated_at_ms));
        if self.row().is_none() {
            self.select(self.threads.first().map(|row| row.id().to_owned()));
        }
    }

    fn select(&mut self, thread_id: Option<String>) {
        if self.selected != thread_id {
            (self.selected, self.details, self.scroll) = (thread_id, None, 0);
        }
    }

    /// Selects the row so many rows from here; the ends hold.
    pub(super) fn move_by(&mut self, rows: isize) -> Vec<WatchRequest> {
        let at = self.position().unwrap_or(0).saturating_add_signed(rows);
        let at = at.min(self.threads.len().saturating_sub(1));
        self.go_to(self.threads.get(at).map(|row| row.id().to_owned()))
    }

    pub(super) fn go_to(&mut self, thread_id: Option<String>) -> Vec<WatchRequest> {
        self.select(thread_id);
        if self.details.is_none() { self.look() } else { Vec::new() }
    }

    pub(super) fn scroll_by(&mut self, lines: isize) {
        self.scroll = self.scroll.saturating_add_signed(lines).min(self.furthest);
    }

    /// The page as it was drawn goes no further.
    pub(super) fn reaches(&mut self, furthest: usize) {
        self.furthest = furthest;
        self.scroll = self.scroll.min(furthest);
    }

    pub(super) fn turn_to(&mut self, page: Page) {
        (self.page, self.scroll) = (page, 0);
    }

    pub(super) fn say(&mut self, level: Level, text: &str) {
        self.said = Some(StatusMessage { level, text: text.to_owned() });
    }

    pub(super) fn position(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.threads.iter().position(|row| row.id() == selected)
    }

    pub(super) fn row(&self) -> Option<&Row> {
        self.threads.get(self.position()?)
    }

    /// The selected thread's, or else the newest.
    pub(super) fn banner(&self) -> Option<&Banner> {
        let of_selected = self.selected.as_ref().and_then(|id| self.banner_of(id));
        of_selected.or(self.banners.last())
    }

    pub(super) fn banner_of(&self, thread_id: &str) -> Option<&Banner> {
        self.banners.iter().find(|banner| banner.thread_id == thread_id)
    }

    /// How many decisions can be explained.
    pub(super) fn decisions(&self) -> usize {
        self.details.as_ref().map_or(0, |details| details.decisions.len())
    }
}

impl Row {
    fn new(thread: ThreadSummary) -> Self {
        Self { thread, sequence_id: None, guards: 0 }
    }

    pub(super) fn id(&self) -> &str {
        &self.thread.thread_id
    }

    pub(super) fn target(&self) -> Target {
        let ThreadSummary { thread_id, cwd, owner, .. } = self.thread.clone();
        Target { thread_id, cwd, owner }
    }
}

impl Banner {
    /// What `c` answers here.
    pub(super) fn yes(&self) -> Option<Choice> {
        let is_yes = |choice: &Choice| matches!(choice, Choice::Approve | Choice::CompactNow);
        self.heads_up.choices.iter().map(|offered| offered.choice).find(is_yes)
    }
}

impl Details {
    /// The built-in compaction has neither notice nor packet.
    pub(super) fn is_inline(&self) -> bool {
        self.thread.pending_actions.iter().any(|pending| {
            matches!(
                pending.action,
                Action::Compact { trigger: CompactionTrigger::Inline { .. }, .. }
            )
        })
    }
}
