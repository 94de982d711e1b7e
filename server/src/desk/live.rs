//! What people edit while the desk works: prompts and configuration are taken up as they are saved, whole or not at all,
//! and clients hear of it. What follows for a thread is the core's to say.

use super::disk::within;
use super::settings::ConfigScope;
use super::{Desk, NOBODYS, Notice};
use crate::config::{Config, Unsaved, is_toml};
use crate::problem::{Problem, Stamp, read_text};
use crate::prompts::{PromptSet, Stamps};
use crate::watch::{ChangeSet, Edited, POLL_EVERY, TELLS_OF_CLOSING};
use rawr_core::Input;
use rawr_core::prompt::PromptName;
use rawr_core::units::{ThreadId, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A text that may be half written is looked at again after so long, and taken if it is still the same.
const SETTLED_AFTER_MS: u64 = 10;
/// The same where nobody tells of changes.
const POLLED_SETTLED_AFTER_MS: u64 = 50;
/// Agents' notes are looked at this often and not listened for: their folder is the agent's, and whoever replaces it without
/// end must not keep the sidecar busy.
const NOTES_EVERY_MS: u64 = 1000;
/// Editors move a file away before they write it anew: one that stays away for so long is gone.
const GONE_AFTER_MS: u64 = 100;

/// The end of writing is not always told, and some writers keep a file open. What stays the same for so long is taken as it is.
const LEFT_OPEN_AFTER_MS: u64 = 1000;

#[derive(Debug, Default)]
pub(super) struct Live {
    /// Files are listened for.
    on: bool,
    /// Other files than those that are listened for may be meant by now.
    moved: bool,
    /// The front matter that it begins with has changed.
    config_is_old: bool,
    /// Files that somebody saved, and that are not taken up yet.
    waiting: BTreeMap<PathBuf, Waiting>,
    /// What each file of configuration looked like before it was read.
    stamps: Stamps,
    /// The notes of open threads, as clients were told of them last.
    notes: Stamps,
    notes_seen_at: Timestamp,
    /// The text of each of them when it could be read last.
    last_good: Unsaved,
    polled_at: Timestamp,
}

#[derive(Debug)]
struct Waiting {
    due: Timestamp,
    /// As it was found when it could not be taken up at once.
    seen: Option<FileSnapshot>,
}

/// A file from outside.
#[derive(Debug, PartialEq, Eq)]
struct FileSnapshot {
    stamp: Option<Stamp>,
    ends_in_a_line: bool,
}

impl FileSnapshot {
    fn at(path: &Path) -> Self {
        Self { stamp: Stamp::of(path), ends_in_a_line: Stamp::ends_in_a_line(path) }
    }

    /// How long to wait for a second look that must find the same; `None`: it is whole.
    fn doubtful_for(&self, polled: bool) -> Option<u64> {
        match self.stamp {
            None => Some(GONE_AFTER_MS),
            Some(_) if polled => Some(POLLED_SETTLED_AFTER_MS),
            Some(_) if TELLS_OF_CLOSING && self.ends_in_a_line => None,
            Some(_) => Some(SETTLED_AFTER_MS),
        }
    }
}

impl Live {
    /// These files of configuration are about to be read.
    pub(super) fn takes_up<'f>(&mut self, files: impl IntoIterator<Item = &'f PathBuf>) {
        for file in files {
            let before = self.stamps.insert(file.clone(), Stamp::of(file));
            self.moved |= before.is_none();
            match read_text(file) {
                Ok(Some(text)) if is_toml(&text) => drop(self.last_good.insert(file.clone(), text)),
                Ok(None) => drop(self.last_good.remove(file)),
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }

    pub(super) fn looks_at_notes(&mut self, file: PathBuf) {
        if file.is_absolute() && !self.notes.contains_key(&file) {
            let found = Stamp::of(&file);
            self.notes.insert(file, found);
        }
    }

    /// What was added to them here is no news.
    pub(super) fn has_heard_of_notes(&mut self, file: &Path) {
        if let Some(known) = self.notes.get_mut(file) {
            *known = Stamp::of(file);
        }
    }

    /// Those that are others than they were.
    fn changed_notes(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (file, known) in &mut self.notes {
            let found = Stamp::of(file);
            if *known != found {
                *known = found;
                changed.push(file.clone());
            }
        }
        changed
    }

    pub(super) const fn last_good(&self) -> &Unsaved {
        &self.last_good
    }

    /// The configuration is to be read again, and nobody is in the middle of writing it.
    fn can_reconfigure(&self) -> bool {
        self.config_is_old && !self.waiting.keys().any(|file| self.stamps.contains_key(file))
    }

    fn wait_for(&mut self, files: impl IntoIterator<Item = PathBuf>, now: Timestamp) {
        let waiting = |file| (file, Waiting { due: now, seen: None });
        self.waiting.extend(files.into_iter().map(waiting));
    }

    fn next_look_at_notes(&self, now: Timestamp) -> Option<Timestamp> {
        let at = self.notes_seen_at.plus_millis(NOTES_EVERY_MS);
        (!self.notes.is_empty()).then(|| within(at, NOTES_EVERY_MS, now))
    }

    fn changed_configs(&self) -> impl Iterator<Item = PathBuf> {
        let changed = self.stamps.iter().filter(|(file, stamp)| Stamp::of(file) != **stamp);
        changed.map(|(file, _)| file.clone())
    }
}

/// What a reload came to, for clients.
#[derive(Debug)]
struct News {
    before: Arc<PromptSet>,
    prompts: BTreeSet<PromptName>,
    /// By their path, as a tier names it.
    decisions: Vec<String>,
    config: bool,
}

impl News {
    fn since(before: &Arc<PromptSet>) -> Self {
        let (prompts, decisions) = Default::default();
        Self { before: Arc::clone(before), prompts, decisions, config: false }
    }
}

impl Desk {
    pub const fn is_live(&self) -> bool {
        self.live.on
    }

    /// From now on edited files are taken up as they are saved.
    pub const fn go_live(&mut self) {
        self.live.moved |= !self.live.on;
        self.live.on = true;
    }

    pub fn heard_of_edits(&mut self, changes: &ChangeSet, now: Timestamp) {
        let Edited { files, ways } = &changes.edited;
        if changes.all {
            self.watcher.distrust_replaced_folders();
        } else if !ways.is_empty() {
            self.watcher.distrust_folders(&changes.edited);
        }
        if changes.all || !ways.is_empty() {
            self.live.moved = true;
            self.live.wait_for(self.edited_files(), now);
        }
        self.live.wait_for(files.iter().cloned(), now);
        self.take_up_edits(now);
    }

    /// The files of a thread that is gone are nobody's concern.
    pub(super) const fn forget_files(&mut self) {
        self.live.moved = true;
    }

    /// When edited files are to be looked at.
    pub(super) fn next_edit(&self, now: Timestamp) -> Option<Timestamp> {
        let Live { on: true, moved, waiting, polled_at, .. } = &self.live else { return None };
        let at_once = (*moved || self.live.can_reconfigure()).then(Timestamp::default);
        let poll = self.watcher.polls_files();
        let every = POLL_EVERY.as_millis() as u64;
        let poll = poll.then(|| within(polled_at.plus_millis(every), every, now));
        let waiting = waiting.values().map(|waiting| within(waiting.due, LEFT_OPEN_AFTER_MS, now));
        waiting.chain(at_once).chain(poll).chain(self.live.next_look_at_notes(now)).min()
    }

    pub(super) fn take_up_edits(&mut self, now: Timestamp) {
        if self.next_edit(now).is_none_or(|at| at > now) {
            return;
        }
        self.ticket = NOBODYS;
        if self.live.next_look_at_notes(now).is_some_and(|at| at <= now) {
            self.live.notes_seen_at = now;
            let open: BTreeSet<_> = self.notes_files().collect();
            self.live.notes.retain(|file, _| open.contains(file));
            for notes in self.live.changed_notes() {
                self.tell_of_notes(&notes, None);
            }
        }
        if std::mem::take(&mut self.live.moved) {
            let files = self.edited_files();
            self.watcher.watch_files(files.iter().map(PathBuf::as_path));
            self.live.stamps.retain(|file, _| files.contains(file));
            self.suspect_changed(now);
        }
        if self.watcher.polls_files() {
            self.live.polled_at = now;
            self.suspect_changed(now);
        }
        let settled = self.settled(now);
        if !settled.is_empty() || self.live.can_reconfigure() {
            self.reload(&settled, now);
        }
    }

    /// Every file that somebody may edit, there or not.
    fn edited_files(&self) -> BTreeSet<PathBuf> {
        let home = &self.setup.home;
        let projects = self.threads.values().filter_map(|open| open.scope.project_toml());
        let mut files = self.prompts.files();
        files.extend([home.rawr_toml(), home.codex_toml()].into_iter().chain(projects));
        files
    }

    fn suspect_changed(&mut self, now: Timestamp) {
        let changed = self.prompts.changed_files().into_iter().chain(self.live.changed_configs());
        let mut changed: Vec<_> = changed.collect();
        changed.retain(|file| !self.live.waiting.contains_key(file));
        self.live.wait_for(changed, now);
    }

    /// Of the files that wait, those that nobody is in the middle of writing.
    fn settled(&mut self, now: Timestamp) -> Stamps {
        let (watcher, polled) = (&self.watcher, self.watcher.polls_files());
        let mut stamps = Stamps::new();
        let still_waits = |file: &PathBuf, waiting: &mut Waiting| {
            if within(waiting.due, LEFT_OPEN_AFTER_MS, now) > now {
                return true;
            }
            let look = FileSnapshot::at(file);
            if watcher.is_being_written(file) {
                if waiting.seen.as_ref() != Some(&look) {
                    let due = now.plus_millis(LEFT_OPEN_AFTER_MS);
                    *waiting = Waiting { due, seen: Some(look) };
                    return true;
                }
                watcher.waits_for_no_end(file);
            }
            match look.doubtful_for(polled) {
                Some(wait) if waiting.seen.as_ref() != Some(&look) => {
                    *waiting = Waiting { due: now.plus_millis(wait), seen: Some(look) };
                    true
                }
                _ => {
                    stamps.insert(file.clone(), look.stamp);
                    false
                }
            }
        };
        self.live.waiting.retain(still_waits);
        stamps
    }

    fn reload(&mut self, files: &Stamps, now: Timestamp) {
        let mut news = News::since(self.prompts.set());
        let configs = files.iter().filter(|(file, _)| self.live.stamps.contains_key(*file));
        let configs: Stamps = configs.map(|(file, stamp)| (file.clone(), stamp.clone())).collect();
        self.live.config_is_old |= !configs.is_empty();
        self.reconfigure(&configs, &mut news, now);
        self.reload_prompts(files, &mut news);
        self.reconfigure(&Stamps::new(), &mut news, now);
        self.tell_news(&news);
        let missed = |(file, stamp): (&PathBuf, &Option<Stamp>)| Stamp::of(file) != *stamp;
        let missed = files.iter().filter(|entry| missed(*entry)).map(|(file, _)| file.clone());
        self.live.wait_for(missed.collect::<Vec<_>>(), now.plus_millis(SETTLED_AFTER_MS));
    }

    fn reload_prompts(&mut self, files: &Stamps, news: &mut News) {
        let before = Arc::clone(self.prompts.set());
        let (names, decisions) = self.prompts.reload_files(files);
        news.prompts.extend(names);
        news.decisions.extend(decisions);
        self.live.config_is_old |=
            self.prompts.set().packet_front_matter() != before.packet_front_matter();
    }

    /// If something of them is old: the files of the threads' projects and of home are read again, and every open thread
    /// goes by what they say now. `whole`: what some of them looked like when nobody was writing to them.
    fn reconfigure(&mut self, whole: &Stamps, news: &mut News, now: Timestamp) {
        if !self.live.can_reconfigure() {
            return;
        }
        self.live.config_is_old = false;
        let files: Vec<_> = self.live.stamps.keys().cloned().collect();
        self.live.takes_up(&files);
        let mut known = HashMap::new();
        let mut read = |scope: &ConfigScope| {
            let read = || self.configure(scope);
            known.entry(scope.clone()).or_insert_with(read).clone()
        };
        let (config, problems) = read(&ConfigScope::default());
        let threads = self.threads.iter().map(|(id, open)| (id.clone(), read(&open.scope)));
        let threads: Vec<_> = threads.collect();
        if whole.iter().any(|(file, stamp)| self.live.stamps.get(file) != Some(stamp))
            || self.live.changed_configs().next().is_some()
        {
            // Somebody is writing to them: what was read may be half of it.
            self.live.config_is_old = true;
            let changed: Vec<_> =
                self.live.changed_configs().chain(whole.keys().cloned()).collect();
            return self.live.wait_for(changed, now.plus_millis(SETTLED_AFTER_MS));
        }
        news.config |= threads.iter().any(|(id, settings)| self.is_news(id, settings));
        news.config |= config.effective() != self.base.0.effective() || problems != self.base.1;
        let decisions = |config: &Config| config.decision_prompts().collect();
        let (before, named): (Vec<_>, Vec<_>) = (decisions(&self.base.0), decisions(&config));
        if config.prompt_paths != self.base.0.prompt_paths {
            let changed = self.prompts.use_paths(&config.prompt_paths);
            news.prompts.extend(changed);
            self.live.moved = true;
        }
        if named != before {
            self.prompts.use_decisions(named);
            self.live.moved = true;
        }
        self.base = (config, problems);
        for (id, settings) in threads {
            self.go_by_edited(&id, settings, now);
        }
    }

    fn is_news(&self, id: &ThreadId, (config, problems): &(Config, Vec<Problem>)) -> bool {
        self.threads.get(id).is_some_and(|open| {
            *problems != open.problems || config.effective() != open.config.effective()
        })
    }

    fn go_by_edited(&mut self, id: &ThreadId, settings: (Config, Vec<Problem>), now: Timestamp) {
        let Some(open) = self.threads.get(id) else { return };
        let is_news = open.config.policy != settings.0.policy;
        let owned = open.owner.is_some();
        self.go_by(id, settings, now);
        // A deadline may have passed by now, and what waited may go on.
        if is_news
            && owned
            && let Err(error) = self.handle_in_time(id, Input::Tick, now)
        {
            tracing::error!(thread = %id, %error, "a new configuration could not be taken up");
        }
    }

    fn tell_news(&mut self, news: &News) {
        for name in &news.prompts {
            let (before, now) = (news.before.get(*name), self.prompts.set().get(*name));
            // One that only lies elsewhere says what it said.
            if (&before.version, &before.problems) != (&now.version, &now.problems) {
                let (name, version, problems) = (name.name(), &now.version, &now.problems);
                (self.tell)(Notice::PromptChanged { name, version, problems });
            }
        }
        for name in &news.decisions {
            if let Some((version, problems)) = self.prompts.decision(name) {
                (self.tell)(Notice::PromptChanged { name, version: &version, problems });
            }
        }
        if news.config {
            let (config, mut problems) = (&self.base.0, self.base.1.clone());
            for problem in self.threads.values().flat_map(|open| &open.problems) {
                if !problems.contains(problem) {
                    problems.push(problem.clone());
                }
            }
            (self.tell)(Notice::ConfigChanged { config, problems: &problems });
        }
    }

    /// Prompts as they are on the disk now, but for those that somebody is in the middle of saving.
    pub fn refresh_prompts(&mut self) {
        let files = self.without_unsettled(self.prompts.changed_files());
        if files.is_empty() {
            return;
        }
        let mut news = News::since(self.prompts.set());
        self.reload_prompts(&files, &mut news);
        self.tell_news(&news);
    }

    /// The same for the configuration.
    pub fn refresh_config(&mut self, now: Timestamp) {
        let files = self.without_unsettled(self.live.changed_configs().collect());
        if !files.is_empty() {
            self.reload(&files, now);
        }
    }

    /// The others are heard of once they are saved. Whoever asks waits for the second look at a text that may be half
    /// written: he wants it as it is now.
    fn without_unsettled(&self, files: BTreeSet<PathBuf>) -> Stamps {
        let free = |file: &PathBuf| !self.live.on || !self.watcher.is_being_written(file);
        let found = files.into_iter().filter(free).map(|file| {
            let look = FileSnapshot::at(&file);
            (file, look)
        });
        let found: Vec<_> = found.collect();
        let settled = |look: &FileSnapshot| !self.live.on || look.doubtful_for(false).is_none();
        if found.iter().any(|(_, look)| look.stamp.is_some() && !settled(look)) {
            std::thread::sleep(Duration::from_millis(SETTLED_AFTER_MS));
        }
        let still = |file: &Path, look: &FileSnapshot| {
            look.stamp.is_some() && FileSnapshot::at(file) == *look
        };
        let whole = found.into_iter().filter(|(file, look)| settled(look) || still(file, look));
        whole.map(|(file, look)| (file, look.stamp)).collect()
    }
}
