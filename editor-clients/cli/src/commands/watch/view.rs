//! The state of the screen: a fold of news and keys. Pure: it returns requests for the sidecar.

use std::cmp::Reverse;
use std::collections::HashMap;

use rawr_protocol::{
    Action, CompactionStatus, CompactionTrigger, HeadsUp, MessageType,
    SequenceRespondedNotification, ThreadChangedNotification, ThreadListChangedNotification,
    ThreadSummary,
};

use super::link::{ThreadDetails, WatchNews, WatchRequest, WatchTarget};
use crate::render;
use rawr_host::event::NoticeLevel;
use rawr_host::sidecar::{SidecarError, SidecarNotification};

#[derive(Debug, Default)]
pub(super) struct View {
    /// The threads, most recently used first.
    pub threads: Vec<ThreadRow>,
    /// The selected thread, by id because rows move.
    pub selected: Option<String>,
    /// The details of the selected thread, once loaded.
    pub details: Option<ThreadDetails>,
    /// The banners, at most one per thread, newest last.
    pub banners: Vec<WatchBanner>,
    pub page: WatchPage,
    pub question: Option<WatchQuestion>,
    pub said: Option<StatusMessage>,
    /// The scroll position and its maximum.
    pub scroll: usize,
    furthest: usize,
    looking: PendingDetails,
    listing: PendingList,
    pub end: Option<ViewEnd>,
}

/// A thread in the list.
#[derive(Debug, Clone)]
pub(super) struct ThreadRow {
    pub thread: ThreadSummary,
    pub sequence_id: Option<String>,
    pub guards: usize,
}

/// The last banner of a thread.
#[derive(Debug, Clone)]
pub(super) struct WatchBanner {
    pub thread_id: String,
    pub heads_up: HeadsUp,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum WatchPage {
    #[default]
    Threads,
    /// The decision that is this many before the latest.
    Explain(usize),
    Help,
}

/// An open question to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WatchQuestion {
    Cancel { target: WatchTarget, sequence_id: Option<String> },
    ClearGuards { target: WatchTarget, guards: usize },
    Snooze { target: WatchTarget, sequence_id: Option<String>, typed: String },
}

/// The message above the keys, shown until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatusMessage {
    pub level: NoticeLevel,
    pub text: String,
}

#[derive(Debug)]
pub(super) enum ViewEnd {
    Left,
    /// Suspended by the shell.
    Suspended,
    Lost(SidecarError),
}

/// A pending request for details. Only one at a time, because keys and news may be faster than answers.
#[derive(Debug, Default)]
struct PendingDetails {
    at: Option<String>,
    /// The thread changed since.
    is_stale: bool,
}

/// A pending request for the list. Only one at a time.
#[derive(Debug, Default)]
struct PendingList {
    is_asked_for: bool,
    /// The list changed since.
    is_stale: bool,
}

impl View {
    pub(super) fn handle(&mut self, news: WatchNews, now_ms: i64) -> Vec<WatchRequest> {
        match news {
            WatchNews::Watched(threads) => {
                threads.into_iter().for_each(|thread| self.update_thread(thread));
                self.sort();
                let mut wishes = self.list();
                wishes.extend(self.look());
                wishes
            }
            WatchNews::Listed(threads) => self.listed(threads),
            WatchNews::Looked(details) => self.looked(*details),
            WatchNews::NotSeen { thread_id, error } => {
                self.show_message(NoticeLevel::Error, &format!("{thread_id}: {error}"));
                self.seen()
            }
            WatchNews::Note(note) => self.note(*note, now_ms),
            WatchNews::Done { thread_id, said } => {
                self.show_message(NoticeLevel::Info, &said);
                self.news_of(&thread_id)
            }
            WatchNews::Refused(why) => {
                self.show_message(NoticeLevel::Error, &format!("Refused: {why}"));
                self.look()
            }
            WatchNews::Restarted(error) => {
                let text = format!("{error}; it was restarted");
                self.show_message(NoticeLevel::Warning, &text);
                (self.looking, self.listing) = (PendingDetails::default(), PendingList::default());
                Vec::new()
            }
            WatchNews::Lost(error) => {
                self.end = Some(ViewEnd::Lost(error));
                Vec::new()
            }
        }
    }

    fn note(&mut self, note: SidecarNotification, now_ms: i64) -> Vec<WatchRequest> {
        match note {
            SidecarNotification::Changed(changed) => self.changed(&changed, now_ms),
            SidecarNotification::ListChanged(changed) => self.list_changed(changed),
            // The following change contains the banner.
            SidecarNotification::HeadsUp(heads_up) => self.news_of(&heads_up.thread_id),
            SidecarNotification::Decided(decided) => self.news_of(&decided.thread_id),
            SidecarNotification::Compaction(update) => {
                if update.status != CompactionStatus::InProgress {
                    let words = render::compaction(&update);
                    let words = words.last().map(|line| render::plain(line)).unwrap_or_default();
                    let level = match update.status {
                        CompactionStatus::Failed => NoticeLevel::Error,
                        _ => NoticeLevel::Info,
                    };
                    self.show_message(level, &format!("{}: {}", update.thread_id, words.trim()));
                }
                self.news_of(&update.thread_id)
            }
            SidecarNotification::Responded(responded) => self.responded(&responded),
            SidecarNotification::JudgeAsked(asked) => self.news_of(&asked.thread_id),
            SidecarNotification::Judged(judged) => self.news_of(&judged.thread_id),
            SidecarNotification::Log(line) => {
                match line.level {
                    MessageType::Error => self.show_message(NoticeLevel::Error, &line.message),
                    MessageType::Warning => self.show_message(NoticeLevel::Warning, &line.message),
                    _ => {}
                }
                Vec::new()
            }
            SidecarNotification::Garbled { method, error } => {
                let text = format!("failed to parse the sidecar's {method}: {error}");
                self.show_message(NoticeLevel::Warning, &text);
                Vec::new()
            }
            // Not shown here, or sent only to owners.
            SidecarNotification::Perform(_)
            | SidecarNotification::StoreFailed(_)
            | SidecarNotification::StoreRecovered(_)
            | SidecarNotification::Prompt(_)
            | SidecarNotification::Config(_) => Vec::new(),
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
                self.banners.extend(heads_up.map(|heads_up| WatchBanner { thread_id, heads_up }));
            }
        }
    }

    fn changed(&mut self, changed: &ThreadChangedNotification, now_ms: i64) -> Vec<WatchRequest> {
        self.show_banner(&changed.thread_id, changed.heads_up.clone());
        let row = self.threads.iter_mut().find(|row| row.id() == changed.thread_id);
        let Some(row) = row else {
            // The working folder and the owner are in the list.
            return self.list();
        };
        row.thread.title.clone_from(&changed.title);
        row.thread.phase = changed.phase;
        row.thread.tier = changed.tier;
        row.thread.percent_remaining = changed.percent_remaining;
        row.thread.updated_at_ms = now_ms;
        row.thread.breaker.clone_from(&changed.breaker);
        row.thread.last_fate.clone_from(&changed.last_fate);
        row.thread.proposal.clone_from(&changed.proposal);
        row.sequence_id = changed.sequence_id.clone();
        row.guards = changed.guards.len();
        self.sort();
        self.news_of(&changed.thread_id)
    }

    fn responded(&mut self, responded: &SequenceRespondedNotification) -> Vec<WatchRequest> {
        let SequenceRespondedNotification { thread_id, choice, by, .. } = responded;
        let by = by.as_deref().unwrap_or("another client");
        let text = format!("{thread_id}: answered by {by}: {}", choice.label());
        self.show_message(NoticeLevel::Info, &text);
        self.news_of(thread_id)
    }

    fn list_changed(&mut self, changed: ThreadListChangedNotification) -> Vec<WatchRequest> {
        // A pending list may be older than this change.
        self.listing.is_stale |= self.listing.is_asked_for;
        self.threads.retain(|row| !changed.gone.iter().any(|id| id == row.id()));
        self.banners.retain(|banner| !changed.gone.contains(&banner.thread_id));
        changed.threads.into_iter().for_each(|thread| self.update_thread(thread));
        self.sort();
        self.look()
    }

    fn listed(&mut self, threads: Vec<ThreadSummary>) -> Vec<WatchRequest> {
        self.listing.is_asked_for = false;
        let rows = std::mem::take(&mut self.threads).into_iter();
        let mut rows: HashMap<_, _> = rows.map(|row| (row.id().to_owned(), row)).collect();
        let row = |thread: ThreadSummary| match rows.remove(&thread.thread_id) {
            Some(row) => ThreadRow { thread, ..row },
            None => ThreadRow::new(thread),
        };
        self.threads = threads.into_iter().map(row).collect();
        self.sort();
        let mut wishes = self.look();
        if std::mem::take(&mut self.listing.is_stale) {
            wishes.extend(self.list());
        }
        wishes
    }

    fn looked(&mut self, details: ThreadDetails) -> Vec<WatchRequest> {
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

    /// Details arrived. Requests them again if they are outdated or of another thread.
    fn seen(&mut self) -> Vec<WatchRequest> {
        let at = self.looking.at.take();
        if std::mem::take(&mut self.looking.is_stale) || at != self.selected {
            return self.look();
        }
        Vec::new()
    }

    /// Requests the details of the selected thread.
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

    fn update_thread(&mut self, thread: ThreadSummary) {
        match self.threads.iter_mut().find(|row| row.id() == thread.thread_id) {
            Some(row) => row.thread = thread,
            None => self.threads.push(ThreadRow::new(thread)),
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

    /// Moves the selection by this many rows, up to the ends.
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

    /// Limits the scroll position to the drawn page.
    pub(super) fn reaches(&mut self, furthest: usize) {
        self.furthest = furthest;
        self.scroll = self.scroll.min(furthest);
    }

    pub(super) fn turn_to(&mut self, page: WatchPage) {
        (self.page, self.scroll) = (page, 0);
    }

    pub(super) fn show_message(&mut self, level: NoticeLevel, text: &str) {
        self.said = Some(StatusMessage { level, text: text.to_owned() });
    }

    pub(super) fn position(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.threads.iter().position(|row| row.id() == selected)
    }

    pub(super) fn row(&self) -> Option<&ThreadRow> {
        self.threads.get(self.position()?)
    }

    /// The banner of the selected thread, otherwise the newest one.
    pub(super) fn banner(&self) -> Option<&WatchBanner> {
        let of_selected = self.selected.as_ref().and_then(|id| self.banner_of(id));
        of_selected.or(self.banners.last())
    }

    pub(super) fn banner_of(&self, thread_id: &str) -> Option<&WatchBanner> {
        self.banners.iter().find(|banner| banner.thread_id == thread_id)
    }

    /// The number of loaded decisions.
    pub(super) fn decisions(&self) -> usize {
        self.details.as_ref().map_or(0, |details| details.decisions.len())
    }
}

impl ThreadRow {
    fn new(thread: ThreadSummary) -> Self {
        Self { thread, sequence_id: None, guards: 0 }
    }

    pub(super) fn id(&self) -> &str {
        &self.thread.thread_id
    }

    pub(super) fn target(&self) -> WatchTarget {
        let ThreadSummary { thread_id, cwd, owner, .. } = self.thread.clone();
        WatchTarget { thread_id, cwd, owner }
    }
}

impl ThreadDetails {
    /// The built-in compaction has neither a heads-up nor a packet.
    pub(super) fn is_inline(&self) -> bool {
        self.thread.pending_actions.iter().any(|pending| {
            matches!(
                pending.action,
                Action::Compact { trigger: CompactionTrigger::Inline { .. }, .. }
            )
        })
    }
}
