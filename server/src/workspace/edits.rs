//! Files that people edit while the sidecar runs: when a saved prompt or configuration file is complete, and what a
//! reload changed. A file is reloaded as a whole or not at all.

use super::{
    ConfigReader, ConfigScope, Settings, Workspace, WorkspaceNews, WorkspaceNotice, within,
};
use crate::watch::{EditedFiles, POLL_EVERY, TELLS_OF_CLOSING};
use rawr_core::prompt::PromptName;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_settings::config::{Config, UnsavedTexts, is_toml};
use rawr_settings::problem::{FileStamp, read_text};
use rawr_settings::prompts::{FileStamps, PromptSet};
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

    /// The set of files to watch may have changed.
    pub(in crate::workspace) const fn mark_moved(&mut self) {
        self.moved = true;
    }

    fn next_look_at_notes(&self, now: Timestamp) -> Option<Timestamp> {
        let at = self.notes_seen_at.plus_millis(NOTES_EVERY_MS);
        (!self.notes.is_empty()).then(|| within(at, NOTES_EVERY_MS, now))
    }

    pub(in crate::workspace) fn changed_configs(&self) -> impl Iterator<Item = PathBuf> {
        let changed = self.stamps.iter().filter(|(file, stamp)| FileStamp::of(file) != **stamp);
        changed.map(|(file, _)| file.clone())
    }
}

/// What a reload changed.
#[derive(Debug)]
pub(in crate::workspace) struct Reloaded {
    before: Arc<PromptSet>,
    prompts: BTreeSet<PromptName>,
    /// By the path that a tier names.
    decisions: Vec<String>,
    /// The configuration of some thread, or the one without a project and a model, has changed.
    config: bool,
    /// Threads whose configuration has changed.
    threads: BTreeSet<ThreadId>,
}

impl Reloaded {
    fn since(before: &Arc<PromptSet>) -> Self {
        let (prompts, decisions, threads) = Default::default();
        Self { before: Arc::clone(before), prompts, decisions, config: false, threads }
    }
}

/// Edited files: those that were saved and are complete are read again.
impl Workspace {
    /// Starts to reload edited files as they are saved.
    pub(in crate::workspace) const fn go_live(&mut self) {
        self.edits.moved |= !self.edits.on;
        self.edits.on = true;
    }

    /// Records what the watcher has reported.
    pub(in crate::workspace) fn record_edits(
        &mut self,
        edited: &EditedFiles,
        all: bool,
        now: Timestamp,
    ) {
        let EditedFiles { files, ways } = edited;
        if all {
            self.watcher.forget_replaced_folders();
        } else if !ways.is_empty() {
            self.watcher.forget_folders(edited);
        }
        if all || !ways.is_empty() {
            self.edits.moved = true;
            let files = self.edited_files();
            self.edits.wait_for(files, now);
        }
        self.edits.wait_for(files.iter().cloned(), now);
    }

    /// When edited files must be checked.
    pub(in crate::workspace) fn next_edit(&self, now: Timestamp) -> Option<Timestamp> {
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

    /// Takes up what was edited, if a check is due.
    pub(in crate::workspace) fn take_up_edits(&mut self, now: Timestamp) {
        if self.next_edit(now).is_none_or(|at| at > now) {
            return;
        }
        self.check_notes(now);
        let files = self.complete_files(now);
        if !files.is_empty() || self.edits.can_reconfigure() {
            self.apply(&files, now);
        }
    }

    /// Reports the scratch files that were written since the last check, if a check is due.
    fn check_notes(&mut self, now: Timestamp) {
        if self.edits.next_look_at_notes(now).is_none_or(|at| at > now) {
            return;
        }
        self.edits.notes_seen_at = now;
        let open: BTreeSet<_> = self.threads.values().filter_map(|of| of.notes.clone()).collect();
        self.edits.notes.retain(|file, _| open.contains(file));
        for path in self.edits.changed_notes() {
            self.report_notes(&path, None);
        }
    }

    /// Reports what this client has appended to a scratch file.
    pub(in crate::workspace) fn notes_appended(&mut self, path: &Path, by: &str) {
        self.edits.ignore_own_notes(path);
        self.report_notes(path, Some(by));
    }

    /// The edited files that are complete, with their stamps.
    fn complete_files(&mut self, now: Timestamp) -> FileStamps {
        if std::mem::take(&mut self.edits.moved) {
            let files = self.edited_files();
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

    /// Every file that a person may edit, whether it exists or not.
    fn edited_files(&self) -> BTreeSet<PathBuf> {
        let home = &self.setup.home;
        let mut files = self.prompts.files();
        files.extend([home.rawr_toml(), home.host_toml()].into_iter().chain(self.projects()));
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

    /// Reads these complete files again, and sends each thread that it concerns what has changed.
    fn apply(&mut self, files: &FileStamps, now: Timestamp) -> Reloaded {
        let configs = files.iter().filter(|(file, _)| self.edits.stamps.contains_key(*file));
        let configs: FileStamps =
            configs.map(|(file, stamp)| (file.clone(), stamp.clone())).collect();
        self.edits.config_is_old |= !configs.is_empty();
        let mut reloaded = Reloaded::since(self.prompts.set());
        self.reconfigure(&configs, &mut reloaded, now);
        // The front matter of a prompt is a layer of the configuration, which names prompts.
        self.reload_prompts(files, &mut reloaded);
        self.reconfigure(&FileStamps::new(), &mut reloaded, now);
        self.report(&reloaded);
        let was_missed =
            |(file, stamp): (&PathBuf, &Option<FileStamp>)| FileStamp::of(file) != *stamp;
        let missed = files.iter().filter(|entry| was_missed(*entry)).map(|(file, _)| file.clone());
        self.edits.wait_for(missed.collect::<Vec<_>>(), now.plus_millis(SETTLED_AFTER_MS));
        reloaded
    }

    fn reload_prompts(&mut self, files: &FileStamps, reloaded: &mut Reloaded) {
        let before = Arc::clone(self.prompts.set());
        let versions = |workspace: &Self| -> BTreeMap<String, _> {
            let version = |path: &str| workspace.prompts.decision(path).map(|(version, _)| version);
            let named = workspace.base.config.decision_prompts();
            named.map(|path| (path.clone(), version(&path))).collect()
        };
        let versions_before = versions(self);
        let (names, mut decisions) = self.prompts.reload_files(files);
        let versions = versions(self);
        // A file that only moved has the same text.
        decisions.retain(|path| versions.get(path) != versions_before.get(path));
        reloaded.prompts.extend(names);
        reloaded.decisions.extend(decisions);
        self.edits.config_is_old |=
            self.prompts.set().packet_front_matter() != before.packet_front_matter();
    }

    /// Reads the files of home and of the threads' projects again, if one of them has changed and none is being written
    /// meanwhile. `whole`: the stamps of files that were complete.
    fn reconfigure(&mut self, whole: &FileStamps, reloaded: &mut Reloaded, now: Timestamp) {
        if !self.edits.can_reconfigure() {
            return;
        }
        self.edits.config_is_old = false;
        let files: Vec<_> = self.edits.stamps.keys().cloned().collect();
        self.edits.takes_up(&files);
        let mut read = KnownSettings { reader: self.config_reader(), known: HashMap::new() };
        let base = read.of(&ConfigScope::default());
        let threads: Vec<_> =
            self.threads.iter().map(|(id, of)| (id.clone(), read.of(&of.scope))).collect();
        if whole.iter().any(|(file, stamp)| self.edits.stamps.get(file) != Some(stamp))
            || self.edits.changed_configs().next().is_some()
        {
            // A file is being written, so that only a part may have been read.
            self.edits.config_is_old = true;
            let changed: Vec<_> =
                self.edits.changed_configs().chain(whole.keys().cloned()).collect();
            self.edits.wait_for(changed, now.plus_millis(SETTLED_AFTER_MS));
            return;
        }
        self.use_base(&base, reloaded);
        for (id, settings) in threads {
            let Some(thread) = self.threads.get_mut(&id) else { continue };
            reloaded.config |= is_news(&thread.settings, &settings);
            reloaded.threads.insert(id);
            thread.settings = settings;
        }
    }

    /// Uses the configuration without a project and a model, and the prompt files that it names.
    fn use_base(&mut self, base: &Settings, reloaded: &mut Reloaded) {
        reloaded.config |= is_news(&self.base, base);
        let decisions = |config: &Config| config.decision_prompts().collect();
        let (before, named): (Vec<_>, Vec<_>) =
            (decisions(&self.base.config), decisions(&base.config));
        if base.config.prompt_paths != self.base.config.prompt_paths {
            let changed = self.prompts.use_paths(&base.config.prompt_paths);
            reloaded.prompts.extend(changed);
            self.edits.moved = true;
        }
        if named != before {
            self.prompts.use_decisions(named);
            self.edits.moved = true;
        }
        self.base = base.clone();
    }

    /// One message to each thread that a reload concerns, and to the client what has changed.
    fn report(&mut self, reloaded: &Reloaded) {
        let has_new_prompts = !Arc::ptr_eq(&reloaded.before, self.prompts.set());
        for (id, thread) in &self.threads {
            if has_new_prompts {
                (thread.listener)(WorkspaceNews::Prompts(Arc::clone(self.prompts.set())));
            }
            if reloaded.threads.contains(id) {
                let settings = Arc::clone(&thread.settings);
                (thread.listener)(WorkspaceNews::Settings(thread.scope.clone(), settings));
            }
        }
        self.report_prompts(reloaded);
        if reloaded.config {
            let (config, mut problems) = (&self.base.config, self.base.problems.clone());
            for problem in self.threads.values().flat_map(|thread| &thread.settings.problems) {
                if !problems.contains(problem) {
                    problems.push(problem.clone());
                }
            }
            (self.listener)(WorkspaceNotice::ConfigChanged { config, problems: &problems });
        }
    }

    fn report_prompts(&mut self, reloaded: &Reloaded) {
        for name in &reloaded.prompts {
            let (before, now) = (reloaded.before.get(*name), self.prompts.set().get(*name));
            // A file that only moved has the same text.
            if (&before.version, &before.problems) != (&now.version, &now.problems) {
                let (name, version, problems) = (name.name(), &now.version, &now.problems);
                (self.listener)(WorkspaceNotice::PromptChanged { name, version, problems });
            }
        }
        for name in &reloaded.decisions {
            if let Some((version, problems)) = self.prompts.decision(name) {
                (self.listener)(WorkspaceNotice::PromptChanged {
                    name,
                    version: &version,
                    problems,
                });
            }
        }
    }

    /// Reads changed prompt files now, except those that are being saved at this moment.
    pub(in crate::workspace) async fn refresh_prompts(&mut self) {
        let files = self.whole_files(self.prompts.changed_files()).await;
        self.apply_prompts(&files);
    }

    /// Like [`Self::refresh_prompts`], without a second look at a text that may be incomplete.
    pub(in crate::workspace) fn refresh_prompts_now(&mut self) {
        let found = self.snapshots(self.prompts.changed_files());
        let settled = |look: &FileSnapshot| self.is_settled(look);
        let whole = found.into_iter().filter(|(_, look)| settled(look));
        let files = whole.map(|(file, look)| (file, look.stamp)).collect();
        self.apply_prompts(&files);
    }

    fn apply_prompts(&mut self, files: &FileStamps) {
        if !files.is_empty() {
            let mut reloaded = Reloaded::since(self.prompts.set());
            self.reload_prompts(files, &mut reloaded);
            self.report(&reloaded);
        }
    }

    /// Reads changed configuration files now, except those that are being saved at this moment.
    pub(in crate::workspace) async fn refresh_config(&mut self, now: Timestamp) {
        let files = self.whole_files(self.edits.changed_configs().collect()).await;
        if !files.is_empty() {
            self.apply(&files, now);
        }
    }

    fn is_settled(&self, look: &FileSnapshot) -> bool {
        !self.edits.on || look.doubtful_for(false).is_none()
    }

    /// Without files that are being written, which the watcher reports once they are saved.
    fn snapshots(&self, files: BTreeSet<PathBuf>) -> Vec<(PathBuf, FileSnapshot)> {
        let is_free = |file: &PathBuf| !self.edits.on || !self.watcher.is_being_written(file);
        let free = files.into_iter().filter(is_free);
        free.map(|file| (file.clone(), FileSnapshot::at(&file))).collect()
    }

    /// The files that are complete. A text that may be incomplete is looked at a second time, because the caller wants the
    /// current file.
    async fn whole_files(&mut self, files: BTreeSet<PathBuf>) -> FileStamps {
        let found = self.snapshots(files);
        if found.iter().any(|(_, look)| look.stamp.is_some() && !self.is_settled(look)) {
            tokio::time::sleep(Duration::from_millis(SETTLED_AFTER_MS)).await;
        }
        let is_unchanged = |file: &Path, look: &FileSnapshot| {
            look.stamp.is_some() && FileSnapshot::at(file) == *look
        };
        let whole = found
            .into_iter()
            .filter(|(file, look)| self.is_settled(look) || is_unchanged(file, look));
        whole.map(|(file, look)| (file, look.stamp)).collect()
    }
}

fn is_news(before: &Settings, now: &Settings) -> bool {
    before.problems != now.problems || before.config.effective() != now.config.effective()
}

/// Threads with the same folder and model share what is read.
struct KnownSettings {
    reader: ConfigReader,
    known: HashMap<ConfigScope, Arc<Settings>>,
}

impl KnownSettings {
    fn of(&mut self, scope: &ConfigScope) -> Arc<Settings> {
        let known = self.known.entry(scope.clone());
        Arc::clone(known.or_insert_with_key(|scope| Arc::new(self.reader.read(scope))))
    }
}
