//! Files that people edit while the sidecar runs: when a saved prompt or configuration file is complete, and what a
//! reload changed. A file is reloaded as a whole or not at all.

use super::{ConfigScope, Workspace, WorkspaceNotice, within};
use crate::config::{Config, UnsavedTexts, is_toml};
use crate::problem::{FileProblem, FileStamp, read_text};
use crate::prompts::{FileStamps, PromptSet};
use crate::watch::{ChangeSet, EditedFiles, POLL_EVERY, TELLS_OF_CLOSING};
use rawr_core::prompt::PromptName;
use rawr_core::units::{ThreadId, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long until a possibly incomplete file is read again. If it is unchanged then, it counts as complete.
const SETTLED_AFTER_MS: u64 = 10;
/// Like [`SETTLED_AFTER_MS`], if files are polled.
const POLLED_SETTLED_AFTER_MS: u64 = 50;
/// The polling interval of scratch files, in milliseconds. Their folder is not watched, because an agent that keeps
/// replacing it must not keep the sidecar busy.
const NOTES_EVERY_MS: u64 = 1000;
/// Editors rename a file away before they write it again. A file that is missing for so long is deleted.
const GONE_AFTER_MS: u64 = 100;

/// The end of writing is not always reported, and some writers keep a file open. A file that is unchanged for so long
/// counts as complete.
const LEFT_OPEN_AFTER_MS: u64 = 1000;

#[derive(Debug, Default)]
pub(in crate::workspace) struct EditTracker {
    /// Files are watched.
    on: bool,
    /// The set of files to watch may have changed.
    moved: bool,
    /// The front matter, a layer of the configuration, has changed.
    config_is_old: bool,
    /// Files that were saved and are not reloaded yet.
    waiting: BTreeMap<PathBuf, WaitingFile>,
    /// The stamp of each configuration file before it was read.
    stamps: FileStamps,
    /// The scratch files of open threads, as of the last notification.
    notes: FileStamps,
    notes_seen_at: Timestamp,
    /// The last valid text of each.
    last_good: UnsavedTexts,
    polled_at: Timestamp,
}

#[derive(Debug)]
struct WaitingFile {
    due: Timestamp,
    /// The state of the file when it was found incomplete.
    seen: Option<FileSnapshot>,
}

/// The state of a file on disk.
#[derive(Debug, PartialEq, Eq)]
struct FileSnapshot {
    stamp: Option<FileStamp>,
    ends_in_a_line: bool,
}

impl FileSnapshot {
    fn at(path: &Path) -> Self {
        Self { stamp: FileStamp::of(path), ends_in_a_line: FileStamp::ends_in_a_line(path) }
    }

    /// How long to wait for a second read that must find the same. `None`: it is complete.
    fn doubtful_for(&self, polled: bool) -> Option<u64> {
        match self.stamp {
            None => Some(GONE_AFTER_MS),
            Some(_) if polled => Some(POLLED_SETTLED_AFTER_MS),
            Some(_) if TELLS_OF_CLOSING && self.ends_in_a_line => None,
            Some(_) => Some(SETTLED_AFTER_MS),
        }
    }
}

impl EditTracker {
    /// These configuration files are about to be read.
    pub(in crate::workspace) fn takes_up<'f>(
        &mut self,
        files: impl IntoIterator<Item = &'f PathBuf>,
    ) {
        for file in files {
            let before = self.stamps.insert(file.clone(), FileStamp::of(file));
            self.moved |= before.is_none();
            match read_text(file) {
                Ok(Some(text)) if is_toml(&text) => drop(self.last_good.insert(file.clone(), text)),
                Ok(None) => drop(self.last_good.remove(file)),
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }

    pub(in crate::workspace) fn looks_at_notes(&mut self, file: PathBuf) {
        if file.is_absolute() && !self.notes.contains_key(&file) {
            let found = FileStamp::of(&file);
            self.notes.insert(file, found);
        }
    }

    /// Changes by this process are not reported.
    pub(in crate::workspace) fn ignore_own_notes(&mut self, file: &Path) {
        if let Some(known) = self.notes.get_mut(file) {
            *known = FileStamp::of(file);
        }
    }

    /// The scratch files that have changed.
    fn changed_notes(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (file, known) in &mut self.notes {
            let found = FileStamp::of(file);
            if *known != found {
                *known = found;
                changed.push(file.clone());
            }
        }
        changed
    }

    pub(in crate::workspace) const fn last_good(&self) -> &UnsavedTexts {
        &self.last_good
    }

    /// Whether the configuration must be read again and none of its files is being written.
    fn can_reconfigure(&self) -> bool {
        self.config_is_old && !self.waiting.keys().any(|file| self.stamps.contains_key(file))
    }

    fn wait_for(&mut self, files: impl IntoIterator<Item = PathBuf>, now: Timestamp) {
        let waiting = |file| (file, WaitingFile { due: now, seen: None });
        self.waiting.extend(files.into_iter().map(waiting));
    }

    fn next_look_at_notes(&self, now: Timestamp) -> Option<Timestamp> {
        let at = self.notes_seen_at.plus_millis(NOTES_EVERY_MS);
        (!self.notes.is_empty()).then(|| within(at, NOTES_EVERY_MS, now))
    }

    fn changed_configs(&self) -> impl Iterator<Item = PathBuf> {
        let changed = self.stamps.iter().filter(|(file, stamp)| FileStamp::of(file) != **stamp);
        changed.map(|(file, _)| file.clone())
    }
}

/// What a reload changed, for clients.
#[derive(Debug)]
pub(crate) struct EditNews {
    before: Arc<PromptSet>,
    prompts: BTreeSet<PromptName>,
    /// By the path that a tier names.
    decisions: Vec<String>,
    /// The configuration of some thread, or the one without a project and a model, has changed.
    pub(crate) config: bool,
}

impl EditNews {
    fn since(before: &Arc<PromptSet>) -> Self {
        let (prompts, decisions) = Default::default();
        Self { before: Arc::clone(before), prompts, decisions, config: false }
    }
}

/// The configuration of the edited files.
pub(crate) struct ReloadedConfig {
    base: (Config, Vec<FileProblem>),
    /// The configuration of each thread that was asked for.
    pub(crate) threads: Vec<(ThreadId, (Config, Vec<FileProblem>))>,
}

/// Edited files. The registry drives this, because changes concern its threads: [`Self::look_at_files`] returns the
/// files that are complete, [`Self::begin_reload`] starts a reload of them, [`Self::read_again`] and [`Self::use_base`]
/// reload the configuration, [`Self::reload_prompts`] the prompts, and [`Self::end_reload`] reports what changed.
impl Workspace {
    /// Whether edited files are reloaded as they are saved.
    pub(crate) const fn is_live(&self) -> bool {
        self.edits.on
    }

    /// Starts to reload edited files as they are saved.
    pub(crate) const fn go_live(&mut self) {
        self.edits.moved |= !self.edits.on;
        self.edits.on = true;
    }

    /// Records what the watcher has reported. `projects`: the project files of open threads.
    pub(crate) fn record_edits(
        &mut self,
        changes: &ChangeSet,
        projects: impl Iterator<Item = PathBuf>,
        now: Timestamp,
    ) {
        let EditedFiles { files, ways } = &changes.edited;
        if changes.all {
            self.watcher.forget_replaced_folders();
        } else if !ways.is_empty() {
            self.watcher.forget_folders(&changes.edited);
        }
        if changes.all || !ways.is_empty() {
            self.edits.moved = true;
            let files = self.edited_files(projects);
            self.edits.wait_for(files, now);
        }
        self.edits.wait_for(files.iter().cloned(), now);
    }

    /// Stops watching the files that only a closed thread needed.
    pub(crate) const fn forget_files(&mut self) {
        self.edits.moved = true;
    }

    /// When edited files must be checked.
    pub(crate) fn next_edit(&self, now: Timestamp) -> Option<Timestamp> {
        let EditTracker { on: true, moved, waiting, polled_at, .. } = &self.edits else {
            return None;
        };
        let at_once = (*moved || self.edits.can_reconfigure()).then(Timestamp::default);
        let poll = self.watcher.polls_files();
        let every = POLL_EVERY.as_millis() as u64;
        let poll = poll.then(|| within(polled_at.plus_millis(every), every, now));
        let waiting = waiting.values().map(|waiting| within(waiting.due, LEFT_OPEN_AFTER_MS, now));
        waiting.chain(at_once).chain(poll).chain(self.edits.next_look_at_notes(now)).min()
    }

    /// The scratch files that were written since the last check, if a check is due. `open` lists those of open threads.
    pub(crate) fn changed_notes(
        &mut self,
        open: impl Iterator<Item = PathBuf>,
        now: Timestamp,
    ) -> Vec<PathBuf> {
        if self.edits.next_look_at_notes(now).is_none_or(|at| at > now) {
            return Vec::new();
        }
        self.edits.notes_seen_at = now;
        let open: BTreeSet<_> = open.collect();
        self.edits.notes.retain(|file, _| open.contains(file));
        self.edits.changed_notes()
    }

    /// Starts to report changes of this scratch file.
    pub(crate) fn watch_notes(&mut self, file: PathBuf) {
        self.edits.looks_at_notes(file);
    }

    /// Does not report the latest change of this scratch file, which was made here.
    pub(crate) fn ignore_own_notes(&mut self, file: &Path) {
        self.edits.ignore_own_notes(file);
    }

    /// The edited files that are complete, with their stamps.
    pub(crate) fn look_at_files(
        &mut self,
        projects: impl Iterator<Item = PathBuf>,
        now: Timestamp,
    ) -> FileStamps {
        if std::mem::take(&mut self.edits.moved) {
            let files = self.edited_files(projects);
            self.watcher.watch_files(files.iter().map(PathBuf::as_path));
            self.edits.stamps.retain(|file, _| files.contains(file));
            self.suspect_changed(now);
        }
        if self.watcher.polls_files() {
            self.edits.polled_at = now;
            self.suspect_changed(now);
        }
        self.settled(now)
    }

    /// Whether the configuration must be read again and no file of it is being written.
    pub(crate) fn can_reconfigure(&self) -> bool {
        self.edits.can_reconfigure()
    }

    /// Every file that a person may edit, whether it exists or not.
    fn edited_files(&self, projects: impl Iterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
        let home = &self.setup.home;
        let mut files = self.prompts.files();
        files.extend([home.rawr_toml(), home.codex_toml()].into_iter().chain(projects));
        files
    }

    fn suspect_changed(&mut self, now: Timestamp) {
        let changed = self.prompts.changed_files().into_iter().chain(self.edits.changed_configs());
        let mut changed: Vec<_> = changed.collect();
        changed.retain(|file| !self.edits.waiting.contains_key(file));
        self.edits.wait_for(changed, now);
    }

    /// The waiting files that are complete.
    fn settled(&mut self, now: Timestamp) -> FileStamps {
        let (watcher, polled) = (&self.watcher, self.watcher.polls_files());
        let mut stamps = FileStamps::new();
        let still_waits = |file: &PathBuf, waiting: &mut WaitingFile| {
            if within(waiting.due, LEFT_OPEN_AFTER_MS, now) > now {
                return true;
            }
            let look = FileSnapshot::at(file);
            if watcher.is_being_written(file) {
                if waiting.seen.as_ref() != Some(&look) {
                    let due = now.plus_millis(LEFT_OPEN_AFTER_MS);
                    *waiting = WaitingFile { due, seen: Some(look) };
                    return true;
                }
                watcher.treat_as_complete(file);
            }
            match look.doubtful_for(polled) {
                Some(wait) if waiting.seen.as_ref() != Some(&look) => {
                    *waiting = WaitingFile { due: now.plus_millis(wait), seen: Some(look) };
                    true
                }
                _ => {
                    stamps.insert(file.clone(), look.stamp);
                    false
                }
            }
        };
        self.edits.waiting.retain(still_waits);
        stamps
    }

    /// Starts a reload of these files. Returns the configuration files among them.
    pub(crate) fn begin_reload(&mut self, files: &FileStamps) -> (FileStamps, EditNews) {
        let configs = files.iter().filter(|(file, _)| self.edits.stamps.contains_key(*file));
        let configs: FileStamps =
            configs.map(|(file, stamp)| (file.clone(), stamp.clone())).collect();
        self.edits.config_is_old |= !configs.is_empty();
        (configs, EditNews::since(self.prompts.set()))
    }

    pub(crate) fn reload_prompts(&mut self, files: &FileStamps, news: &mut EditNews) {
        let before = Arc::clone(self.prompts.set());
        let (names, decisions) = self.prompts.reload_files(files);
        news.prompts.extend(names);
        news.decisions.extend(decisions);
        self.edits.config_is_old |=
            self.prompts.set().packet_front_matter() != before.packet_front_matter();
    }

    /// Reads the files of home and of these threads' projects again, if one of them has changed; `None` if none has, or
    /// if one is being written meanwhile. `whole`: the stamps of files that were complete.
    pub(crate) fn read_again(
        &mut self,
        whole: &FileStamps,
        threads: impl Iterator<Item = (ThreadId, ConfigScope)>,
        now: Timestamp,
    ) -> Option<ReloadedConfig> {
        if !self.edits.can_reconfigure() {
            return None;
        }
        self.edits.config_is_old = false;
        let files: Vec<_> = self.edits.stamps.keys().cloned().collect();
        self.edits.takes_up(&files);
        let reader = self.config_reader();
        let mut known = HashMap::new();
        let mut read = |scope: ConfigScope| {
            known.entry(scope).or_insert_with_key(|scope| reader.read(scope)).clone()
        };
        let base = read(ConfigScope::default());
        let threads: Vec<_> = threads.map(|(id, scope)| (id, read(scope))).collect();
        if whole.iter().any(|(file, stamp)| self.edits.stamps.get(file) != Some(stamp))
            || self.edits.changed_configs().next().is_some()
        {
            // A file is being written, so that only a part may have been read.
            self.edits.config_is_old = true;
            let changed: Vec<_> =
                self.edits.changed_configs().chain(whole.keys().cloned()).collect();
            self.edits.wait_for(changed, now.plus_millis(SETTLED_AFTER_MS));
            return None;
        }
        Some(ReloadedConfig { base, threads })
    }

    /// Uses the configuration without a project and a model, and the prompt files that it names.
    pub(crate) fn use_base(&mut self, read: ReloadedConfig, news: &mut EditNews) {
        let (config, problems) = read.base;
        news.config |= config.effective() != self.base.0.effective() || problems != self.base.1;
        let decisions = |config: &Config| config.decision_prompts().collect();
        let (before, named): (Vec<_>, Vec<_>) = (decisions(&self.base.0), decisions(&config));
        if config.prompt_paths != self.base.0.prompt_paths {
            let changed = self.prompts.use_paths(&config.prompt_paths);
            news.prompts.extend(changed);
            self.edits.moved = true;
        }
        if named != before {
            self.prompts.use_decisions(named);
            self.edits.moved = true;
        }
        self.base = (config, problems);
    }

    /// Reports what a reload changed, and marks files that were written meanwhile to be checked again. `threads`: the
    /// problems of open threads' configurations.
    pub(crate) fn end_reload<'p>(
        &mut self,
        files: &FileStamps,
        news: &EditNews,
        threads: impl Iterator<Item = &'p FileProblem>,
        now: Timestamp,
    ) {
        self.tell_prompts(news);
        if news.config {
            let (config, mut problems) = (&self.base.0, self.base.1.clone());
            for problem in threads {
                if !problems.contains(problem) {
                    problems.push(problem.clone());
                }
            }
            (self.tell)(WorkspaceNotice::ConfigChanged { config, problems: &problems });
        }
        let missed = |(file, stamp): (&PathBuf, &Option<FileStamp>)| FileStamp::of(file) != *stamp;
        let missed = files.iter().filter(|entry| missed(*entry)).map(|(file, _)| file.clone());
        self.edits.wait_for(missed.collect::<Vec<_>>(), now.plus_millis(SETTLED_AFTER_MS));
    }

    fn tell_prompts(&mut self, news: &EditNews) {
        for name in &news.prompts {
            let (before, now) = (news.before.get(*name), self.prompts.set().get(*name));
            // A file that only moved has the same text.
            if (&before.version, &before.problems) != (&now.version, &now.problems) {
                let (name, version, problems) = (name.name(), &now.version, &now.problems);
                (self.tell)(WorkspaceNotice::PromptChanged { name, version, problems });
            }
        }
        for name in &news.decisions {
            if let Some((version, problems)) = self.prompts.decision(name) {
                (self.tell)(WorkspaceNotice::PromptChanged { name, version: &version, problems });
            }
        }
    }

    /// Reads changed prompt files now, except those that are being saved at this moment.
    pub(crate) fn refresh_prompts(&mut self) {
        let files = self.without_unsettled(self.prompts.changed_files());
        if files.is_empty() {
            return;
        }
        let mut news = EditNews::since(self.prompts.set());
        self.reload_prompts(&files, &mut news);
        self.tell_prompts(&news);
    }

    /// Changed configuration files, except those that are being saved at this moment.
    pub(crate) fn changed_configs(&self) -> FileStamps {
        self.without_unsettled(self.edits.changed_configs().collect())
    }

    /// Removes files that are being written, which the watcher reports once they are saved. Blocks for the second read
    /// of a text that may be incomplete, because the caller wants the current file.
    fn without_unsettled(&self, files: BTreeSet<PathBuf>) -> FileStamps {
        let free = |file: &PathBuf| !self.edits.on || !self.watcher.is_being_written(file);
        let found = files.into_iter().filter(free).map(|file| {
            let look = FileSnapshot::at(&file);
            (file, look)
        });
        let found: Vec<_> = found.collect();
        let settled = |look: &FileSnapshot| !self.edits.on || look.doubtful_for(false).is_none();
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
