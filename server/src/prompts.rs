//! The prompts in force: the user's files, and the shipped texts where there is none or none that can be used. What is
//! wrong with a file is told and never stops anybody. Nothing is rendered or sent here.

mod decisions;
mod file;
mod seed;

pub use file::{FRONT_MATTER_KEYS, FrontMatterKey, PacketFrontMatter, Parsed, parse};

use crate::problem::{Problem, Stamp, read_text};
use decisions::Decisions;
use rawr_core::prompt::{PromptName, Prompts};
use rawr_core::units::stable_hash;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The whole file as it came with rawr, front matter included.
pub const fn shipped(name: PromptName) -> &'static str {
    match name {
        PromptName::AutoCompact => include_str!("../../prompts/auto-compact.md"),
        PromptName::HeadsUp => include_str!("../../prompts/heads-up.md"),
        PromptName::ScratchWrite => include_str!("../../prompts/scratch-write.md"),
        PromptName::Judgment => include_str!("../../prompts/judgment.md"),
        PromptName::JudgmentContext => include_str!("../../prompts/judgment-context.md"),
        PromptName::WatcherPacket => include_str!("../../prompts/watcher-packet.md"),
        PromptName::Handoff => include_str!("../../prompts/handoff.md"),
        PromptName::Compact => include_str!("../../prompts/compact.md"),
        PromptName::SummaryPrefix => include_str!("../../prompts/summary-prefix.md"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Shipped,
    User,
}

/// One prompt in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub name: PromptName,
    /// Its file; `None` where there is none, and the embedded text holds.
    pub path: Option<PathBuf>,
    pub origin: Origin,
    /// Changes whenever the text in force, or its front matter, does; the same on every platform.
    pub version: String,
    pub text: String,
    pub front_matter: Option<Map<String, Value>>,
    /// What is wrong with its file, which may be why another text is in force.
    pub problems: Vec<Problem>,
    packet: PacketFrontMatter,
}

/// All prompts at one moment. A sequence keeps the set that it started with.
#[derive(Debug)]
pub struct PromptSet {
    all: Vec<Prompt>,
    prompts: Prompts,
    folder: Option<Problem>,
    /// Of the decision prompts that tiers name.
    decisions: Vec<Problem>,
}

impl PromptSet {
    /// The embedded texts, for whoever has no folder.
    pub fn shipped() -> Self {
        Self::of(PromptName::ALL.map(Prompt::shipped).to_vec(), None, &Decisions::default())
    }

    fn of(all: Vec<Prompt>, folder: Option<Problem>, decisions: &Decisions) -> Self {
        let prompts = Prompts::new(|name| all[name as usize].text.clone());
        let prompts = prompts.with_decisions(decisions.texts());
        Self { all, prompts, folder, decisions: decisions.problems().cloned().collect() }
    }

    /// For the core.
    pub const fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    pub fn get(&self, name: PromptName) -> &Prompt {
        &self.all[name as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &Prompt> {
        self.all.iter()
    }

    pub fn packet_front_matter(&self) -> &PacketFrontMatter {
        &self.get(PromptName::AutoCompact).packet
    }

    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        let files = self.all.iter().flat_map(|prompt| &prompt.problems);
        self.folder.iter().chain(files).chain(&self.decisions).cloned()
    }
}

impl Prompt {
    fn shipped(name: PromptName) -> Self {
        let source = shipped(name);
        match parse(name, source, None) {
            Ok(parsed) => Self::of(name, None, source, parsed),
            // A test holds that this cannot be. Better an unchecked prompt than none.
            Err(problems) => {
                let (front_matter, packet) = (None, PacketFrontMatter::default());
                let parsed = Parsed { text: source.to_owned(), front_matter, packet, problems };
                Self::of(name, None, source, parsed)
            }
        }
    }

    fn of(name: PromptName, path: Option<PathBuf>, source: &str, parsed: Parsed) -> Self {
        Self {
            name,
            path,
            origin: if source == shipped(name) { Origin::Shipped } else { Origin::User },
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

/// What files looked like when they were found to be whole; `None`: there was none.
pub type Stamps = BTreeMap<PathBuf, Option<Stamp>>;

/// Reads the prompt files, at start and whenever it is asked to, and keeps the last good text of each.
#[derive(Debug)]
pub struct PromptStore {
    folder: PathBuf,
    /// Files elsewhere; relative ones start in the folder.
    paths: BTreeMap<PromptName, PathBuf>,
    decisions: Decisions,
    seeded: seed::Seeded,
    set: Arc<PromptSet>,
    /// What each file looked like before it was read.
    stamps: [Option<Stamp>; PromptName::ALL.len()],
}

impl PromptStore {
    /// Puts the shipped prompts into the folder where they have never been, and reads what is there.
    pub fn open(folder: &Path, paths: &BTreeMap<PromptName, PathBuf>) -> Self {
        let (seeded, problem) = seed::seed(folder);
        let set = PromptSet { folder: problem, ..PromptSet::shipped() };
        let mut store = Self {
            folder: folder.to_owned(),
            paths: paths.clone(),
            decisions: Decisions::default(),
            seeded,
            set: Arc::new(set),
            stamps: Default::default(),
        };
        store.reload();
        store
    }

    /// A snapshot: cloning the `Arc` keeps it.
    pub const fn set(&self) -> &Arc<PromptSet> {
        &self.set
    }

    /// Takes up other files, as after a change of the configuration.
    pub fn use_paths(&mut self, paths: &BTreeMap<PromptName, PathBuf>) -> Vec<PromptName> {
        self.paths.clone_from(paths);
        self.reload()
    }

    /// Takes up the decision prompts that the tiers name.
    pub fn use_decisions(&mut self, paths: impl IntoIterator<Item = String>) {
        self.decisions.use_paths(paths);
        self.refresh_decisions();
    }

    fn refresh_decisions(&mut self) {
        let changed = self.decisions.changed(&self.folder).into_iter().map(|path| {
            let stamp = Stamp::of(&self.folder.join(&path));
            (path, stamp)
        });
        let changed = changed.collect();
        self.read_decisions(&changed);
    }

    /// Those of them that are not what they were, or whose problems are not, by their paths as configured.
    fn read_decisions(&mut self, paths: &BTreeMap<String, Option<Stamp>>) -> Vec<String> {
        if paths.is_empty() {
            return Vec::new();
        }
        let changed = self.decisions.read(&self.folder, paths);
        let (all, folder) = (self.set.all.clone(), self.set.folder.clone());
        self.set = Arc::new(PromptSet::of(all, folder, &self.decisions));
        changed
    }

    /// Reads every file again and names the prompts that are not what they were, or whose problems are not.
    pub fn reload(&mut self) -> Vec<PromptName> {
        let names = PromptName::ALL.map(|name| (name, Stamp::of(&self.path(name))));
        self.read(&names)
    }

    /// The same for these files, as long as they look like that before and after; and the decision prompts among them, by
    /// their paths as configured. A file that does not is left for another time.
    pub fn reload_files(&mut self, files: &Stamps) -> (Vec<PromptName>, Vec<String>) {
        let meant = |name| Some((name, files.get(&self.path(name))?.clone()));
        let names: Vec<_> = PromptName::ALL.into_iter().filter_map(meant).collect();
        let meant =
            |path: &str| Some((path.to_owned(), files.get(&self.folder.join(path))?.clone()));
        let decisions = self.decisions.paths().filter_map(meant).collect();
        (self.read(&names), self.read_decisions(&decisions))
    }

    /// Writes the shipped text over a prompt's file, whole or not at all.
    pub fn put_back(&self, name: PromptName) -> io::Result<PathBuf> {
        let path = self.path(name);
        seed::put_back(&path, shipped(name))?;
        Ok(path)
    }

    /// The same for files that look changed. Called when a sequence starts.
    pub fn refresh_if_changed(&mut self) -> Vec<PromptName> {
        let files = self.changed_files().into_iter().map(|file| {
            let stamp = Stamp::of(&file);
            (file, stamp)
        });
        self.reload_files(&files.collect()).0
    }

    /// Every file that prompts are read from, there or not.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let decisions = self.decisions.paths().map(|path| self.folder.join(path));
        PromptName::ALL.into_iter().map(|name| self.path(name)).chain(decisions).collect()
    }

    /// Those that look otherwise than when they were read.
    pub fn changed_files(&self) -> BTreeSet<PathBuf> {
        let changed =
            |name: &PromptName| Stamp::of(&self.path(*name)) != self.stamps[*name as usize];
        let prompts = PromptName::ALL.into_iter().filter(changed).map(|name| self.path(name));
        let decisions = self.decisions.changed(&self.folder).into_iter();
        prompts.chain(decisions.map(|path| self.folder.join(path))).collect()
    }

    /// A decision prompt in force, by its path as configured: its version, and what is wrong with it.
    pub fn decision(&self, path: &str) -> Option<(String, &[Problem])> {
        let (text, problems) = self.decisions.get(path)?;
        Some((version(text.unwrap_or_default()), problems))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where its file is, or would be.
    pub fn path(&self, name: PromptName) -> PathBuf {
        match self.paths.get(&name) {
            Some(path) => self.folder.join(path),
            None => seed::path_of(&self.folder, name),
        }
    }

    fn read(&mut self, names: &[(PromptName, Option<Stamp>)]) -> Vec<PromptName> {
        let mut all = self.set.all.clone();
        let mut changed = Vec::new();
        for (name, stamp) in names {
            let (name, path) = (*name, self.path(*name));
            let prompt = self.read_one(name, path.clone());
            // Somebody is writing to it: what was read may be half of it.
            if Stamp::of(&path) != *stamp {
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
        let parsed = match read_text(&path) {
            Ok(Some(source)) => parse(name, &source, Some(&path)).map(|parsed| (source, parsed)),
            Ok(None) if self.paths.contains_key(&name) => {
                Err(vec![Problem::error("no-file", "there is no such file").in_file(Some(&path))])
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
                Prompt { path: Some(path), problems, ..last_good }
            }
        }
    }

    /// A copy that nobody edited, of a text that has changed since.
    fn outdated(&self, name: PromptName, source: &str, path: &Path) -> Option<Problem> {
        let untouched = !self.paths.contains_key(&name)
            && self.seeded.get(&name).is_some_and(|seeded| *seeded == version(source));
        (untouched && source != shipped(name)).then(|| {
            Problem::hint("shipped-text-changed", "this is the shipped text of an earlier release")
                .in_file(Some(path))
                .help("delete the file to use the present one".to_owned())
        })
    }
}

#[cfg(test)]
mod tests;
