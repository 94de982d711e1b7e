//! The current prompts: the user's files, and the shipped texts for missing or unusable ones. Problems of files are
//! reported and never fatal. Renders and sends nothing.

mod decisions;
mod file;
mod samples;
mod seed;

pub use file::{FRONT_MATTER_KEYS, FrontMatterKey, PacketFrontMatter, ParsedPrompt, parse};
pub use samples::{sample, with_samples};

use crate::problem::{FileProblem, FileStamp, read_text};
use decisions::DecisionPrompts;
use rawr_core::prompt::{PromptName, Prompts};
use rawr_core::units::stable_hash;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The whole file as shipped with rawr, including front matter.
pub const fn shipped(name: PromptName) -> &'static str {
    match name {
        PromptName::AutoCompact => include_str!("../prompts/auto-compact.md"),
        PromptName::HeadsUp => include_str!("../prompts/heads-up.md"),
        PromptName::ScratchWrite => include_str!("../prompts/scratch-write.md"),
        PromptName::Judgment => include_str!("../prompts/judgment.md"),
        PromptName::JudgmentContext => include_str!("../prompts/judgment-context.md"),
        PromptName::WatcherPacket => include_str!("../prompts/watcher-packet.md"),
        PromptName::Handoff => include_str!("../prompts/handoff.md"),
        PromptName::CalledOff => include_str!("../prompts/called-off.md"),
        PromptName::Compact => include_str!("../prompts/compact.md"),
        PromptName::SummaryPrefix => include_str!("../prompts/summary-prefix.md"),
    }
}

/// Where a prompt's text is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptSource {
    /// The embedded text.
    Shipped,
    /// The user's file.
    User,
}

/// One prompt that is in use.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Which prompt this is.
    pub name: PromptName,
    /// The prompt's file. `None` if there is none and the embedded text is used.
    pub path: Option<PathBuf>,
    /// Where its text is from.
    pub origin: PromptSource,
    /// Changes exactly when the text or its front matter does. The same on every platform.
    pub version: String,
    /// The text without front matter.
    pub text: String,
    /// The parsed front matter, if there is any.
    pub front_matter: Option<Map<String, Value>>,
    /// Problems of its file, which may be why another text is used.
    pub problems: Vec<FileProblem>,
    packet: PacketFrontMatter,
}

/// A snapshot of all prompts. A sequence keeps the set that it started with.
#[derive(Debug)]
pub struct PromptSet {
    all: Vec<Prompt>,
    prompts: Prompts,
    folder: Option<FileProblem>,
    /// Problems of the decision prompts that tiers name.
    decisions: Vec<FileProblem>,
}

impl PromptSet {
    /// The embedded texts, for callers without a prompt folder.
    pub fn shipped() -> Self {
        Self::of(PromptName::ALL.map(Prompt::shipped).to_vec(), None, &DecisionPrompts::default())
    }

    fn of(all: Vec<Prompt>, folder: Option<FileProblem>, decisions: &DecisionPrompts) -> Self {
        let prompts = Prompts::new(|name| all[name as usize].text.clone());
        let prompts = prompts.with_decisions(decisions.texts());
        Self { all, prompts, folder, decisions: decisions.problems().cloned().collect() }
    }

    /// For the core.
    pub const fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// The prompt with this name.
    pub fn get(&self, name: PromptName) -> &Prompt {
        &self.all[name as usize]
    }

    /// All prompts, in the order of [`PromptName::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = &Prompt> {
        self.all.iter()
    }

    /// The front matter of the packet request, a layer of the configuration.
    pub fn packet_front_matter(&self) -> &PacketFrontMatter {
        &self.get(PromptName::AutoCompact).packet
    }

    /// The problems of all prompt files.
    pub fn problems(&self) -> impl Iterator<Item = FileProblem> {
        let files = self.all.iter().flat_map(|prompt| &prompt.problems);
        self.folder.iter().chain(files).chain(&self.decisions).cloned()
    }
}

impl Prompt {
    fn shipped(name: PromptName) -> Self {
        let source = shipped(name);
        match parse(name, source, None) {
            Ok(parsed) => Self::of(name, None, source, parsed),
            // A test guarantees that this cannot happen. An unchecked prompt is better than none.
            Err(problems) => {
                let (front_matter, packet) = (None, PacketFrontMatter::default());
                let parsed =
                    ParsedPrompt { text: source.to_owned(), front_matter, packet, problems };
                Self::of(name, None, source, parsed)
            }
        }
    }

    fn of(name: PromptName, path: Option<PathBuf>, source: &str, parsed: ParsedPrompt) -> Self {
        Self {
            name,
            path,
            origin: if source == shipped(name) {
                PromptSource::Shipped
            } else {
                PromptSource::User
            },
            version: version(source),
            text: parsed.text,
            front_matter: parsed.front_matter,
            problems: parsed.problems,
            packet: parsed.packet,
        }
    }
}

/// Short, and the same on every platform and release.
fn version(source: &str) -> String {
    format!("{:016x}", stable_hash(source))
}

/// The stamps of files when they were read completely. `None`: the file did not exist.
pub type FileStamps = BTreeMap<PathBuf, Option<FileStamp>>;

/// Reads the prompt files at start and on request, and keeps the last valid text of each.
#[derive(Debug)]
pub struct PromptStore {
    folder: PathBuf,
    /// Files outside of the folder. Relative paths start in the folder.
    paths: BTreeMap<PromptName, PathBuf>,
    decisions: DecisionPrompts,
    seeded: seed::SeededPrompts,
    set: Arc<PromptSet>,
    /// The stamp of each file before it was read.
    stamps: [Option<FileStamp>; PromptName::ALL.len()],
}

impl PromptStore {
    /// Writes shipped prompts that are new to the folder, and reads all files.
    pub fn open(folder: &Path, paths: &BTreeMap<PromptName, PathBuf>) -> Self {
        let (seeded, problem) = seed::seed(folder);
        let set = PromptSet { folder: problem, ..PromptSet::shipped() };
        let mut store = Self {
            folder: folder.to_owned(),
            paths: paths.clone(),
            decisions: DecisionPrompts::default(),
            seeded,
            set: Arc::new(set),
            stamps: Default::default(),
        };
        store.reload();
        store
    }

    /// A snapshot. Clone the `Arc` to keep it.
    pub const fn set(&self) -> &Arc<PromptSet> {
        &self.set
    }

    /// Changes the paths of prompts after a change of the configuration.
    pub fn use_paths(&mut self, paths: &BTreeMap<PromptName, PathBuf>) -> Vec<PromptName> {
        self.paths.clone_from(paths);
        self.reload()
    }

    /// Changes the decision prompts that the tiers name.
    pub fn use_decisions(&mut self, paths: impl IntoIterator<Item = String>) {
        self.decisions.use_paths(paths);
        self.refresh_decisions();
    }

    fn refresh_decisions(&mut self) {
        let changed = self.decisions.changed(&self.folder).into_iter().map(|path| {
            let stamp = FileStamp::of(&self.folder.join(&path));
            (path, stamp)
        });
        let changed = changed.collect();
        self.read_decisions(&changed);
    }

    /// Returns the configured paths of those whose text or problems have changed.
    fn read_decisions(&mut self, paths: &BTreeMap<String, Option<FileStamp>>) -> Vec<String> {
        if paths.is_empty() {
            return Vec::new();
        }
        let changed = self.decisions.read(&self.folder, paths);
        let (all, folder) = (self.set.all.clone(), self.set.folder.clone());
        self.set = Arc::new(PromptSet::of(all, folder, &self.decisions));
        changed
    }

    /// Reads every file again and returns the prompts whose text or problems have changed.
    pub fn reload(&mut self) -> Vec<PromptName> {
        let names = PromptName::ALL.map(|name| (name, FileStamp::of(&self.path(name))));
        self.read(&names)
    }

    /// Like [`Self::reload`], for these files, if they have this stamp before and after reading, and for the decision
    /// prompts among them, returned by their configured paths. A file with another stamp is skipped.
    pub fn reload_files(&mut self, files: &FileStamps) -> (Vec<PromptName>, Vec<String>) {
        let meant = |name| Some((name, files.get(&self.path(name))?.clone()));
        let names: Vec<_> = PromptName::ALL.into_iter().filter_map(meant).collect();
        let meant =
            |path: &str| Some((path.to_owned(), files.get(&self.folder.join(path))?.clone()));
        let decisions = self.decisions.paths().filter_map(meant).collect();
        (self.read(&names), self.read_decisions(&decisions))
    }

    /// Overwrites a prompt's file with the shipped text, atomically.
    pub fn reset(&self, name: PromptName) -> io::Result<PathBuf> {
        let path = self.path(name);
        seed::replace(&path, shipped(name))?;
        Ok(path)
    }

    /// Like [`Self::reload`], for files that have changed. Called when a sequence starts.
    pub fn refresh_if_changed(&mut self) -> Vec<PromptName> {
        let files = self.changed_files().into_iter().map(|file| {
            let stamp = FileStamp::of(&file);
            (file, stamp)
        });
        self.reload_files(&files.collect()).0
    }

    /// Every file that prompts are read from, whether it exists or not.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let decisions = self.decisions.paths().map(|path| self.folder.join(path));
        PromptName::ALL.into_iter().map(|name| self.path(name)).chain(decisions).collect()
    }

    /// The files that have changed since they were read.
    pub fn changed_files(&self) -> BTreeSet<PathBuf> {
        let changed =
            |name: &PromptName| FileStamp::of(&self.path(*name)) != self.stamps[*name as usize];
        let prompts = PromptName::ALL.into_iter().filter(changed).map(|name| self.path(name));
        let decisions = self.decisions.changed(&self.folder).into_iter();
        prompts.chain(decisions.map(|path| self.folder.join(path))).collect()
    }

    /// A decision prompt by its configured path: its version and its problems.
    pub fn decision(&self, path: &str) -> Option<(String, &[FileProblem])> {
        let (text, problems) = self.decisions.get(path)?;
        Some((version(text.unwrap_or_default()), problems))
    }

    /// The prompt folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of its file, whether it exists or not.
    pub fn path(&self, name: PromptName) -> PathBuf {
        match self.paths.get(&name) {
            Some(path) => self.folder.join(path),
            None => seed::path_of(&self.folder, name),
        }
    }

    fn read(&mut self, names: &[(PromptName, Option<FileStamp>)]) -> Vec<PromptName> {
        let mut all = self.set.all.clone();
        let mut changed = Vec::new();
        for (name, stamp) in names {
            let (name, path) = (*name, self.path(*name));
            let prompt = self.read_one(name, path.clone());
            // The file is being written, so that only a part may have been read.
            if FileStamp::of(&path) != *stamp {
                continue;
            }
            self.stamps[name as usize].clone_from(stamp);
            if all[name as usize] != prompt {
                changed.push(name);
                all[name as usize] = prompt;
            }
        }
        if !changed.is_empty() {
            let folder = self.set.folder.clone();
            self.set = Arc::new(PromptSet::of(all, folder, &self.decisions));
        }
        changed
    }

    fn read_one(&self, name: PromptName, path: PathBuf) -> Prompt {
        let mut unusable = None;
        let parsed = match read_text(&path) {
            Ok(Some(source)) => match parse(name, &source, Some(&path)) {
                Ok(parsed) => Ok((source, parsed)),
                Err(problems) => {
                    unusable = Some(source);
                    Err(problems)
                }
            },
            Ok(None) if self.paths.contains_key(&name) => {
                Err(vec![FileProblem::error("no-file", "file not found").in_file(Some(&path))])
            }
            Ok(None) => return Prompt::shipped(name),
            Err(problem) => Err(vec![problem]),
        };
        match parsed {
            Ok((source, parsed)) => {
                let hint = self.outdated(name, &source, &path);
                let mut prompt = Prompt::of(name, Some(path), &source, parsed);
                prompt.problems.extend(hint);
                prompt
            }
            Err(problems) => {
                let last_good = self.set.get(name).clone();
                let packet = last_good.packet.clone().of_unusable(unusable.as_deref(), &path);
                Prompt { path: Some(path), problems, packet, ..last_good }
            }
        }
    }

    /// An edited copy of a text that a later release has changed.
    fn outdated(&self, name: PromptName, source: &str, path: &Path) -> Option<FileProblem> {
        let is_behind = !self.paths.contains_key(&name)
            && self.seeded.get(&name).is_some_and(|seeded| {
                seeded != seed::NOT_OURS && *seeded != version(shipped(name))
            });
        (is_behind && source != shipped(name)).then(|| {
            let message = "the shipped text has changed since this one was edited";
            FileProblem::hint("shipped-text-changed", message).in_file(Some(path)).help(format!(
                "`rawr prompts diff {0}` shows both, `rawr prompts reset {0}` takes the shipped one",
                name.name()
            ))
        })
    }
}

#[cfg(test)]
mod tests;
