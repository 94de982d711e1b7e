//! Reads the state of a repository: branch, commit, changed files, Graphite's stack. Takes no git locks, writes
//! nothing, fetches nothing, and runs only `git` and, if configured, `gt`.

mod program;

use program::{Program, ProgramOutput};
use rawr_core::event::{Repo, RepoObserved};
use rawr_settings::config::RepoObservation;
use rustix::fs::Access;
use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// The most paths that are listed. Others are only counted.
const MOST_FILES: usize = 50;
/// The most bytes that are read of a list of changed files. If there are more, the numbers are lower bounds.
const LIST_LIMIT: usize = 4 << 20;
const SHORT_LIMIT: usize = 64 << 10;

/// Inspects the work tree that contains `cwd`. `None` if there is none, or if git fails or times out.
///
/// Paths are relative to its root. Each is one line: control characters are escaped, and invalid UTF-8 is replaced.
/// Among dirty files, a renamed file counts twice, an untracked folder once, and files inside a submodule not at all.
///
/// Changed files are those since the commit `since`; commits are those since the `last` inspection.
pub async fn observe(
    cwd: &Path,
    settings: &RepoObservation,
    since: Option<&str>,
    last: Option<&Repo>,
) -> Option<RepoObserved> {
    let cwd = work_tree(cwd)?;
    let path = env::var_os("PATH")?;
    let git = find("git", &path)?;
    let gt = if settings.graphite_enabled { find("gt", &path) } else { None };
    RepoProbe { git, gt, cwd, settings }.observe(since, last).await
}

/// Whether there is anything to inspect. Starts no process.
pub fn is_work_tree(cwd: &Path) -> bool {
    work_tree(cwd).is_some()
}

/// The folder itself, if it or a parent looks like a work tree. Starts no process.
fn work_tree(cwd: &Path) -> Option<PathBuf> {
    // A relative path would have another meaning here than for the agent.
    let cwd = cwd.is_absolute().then(|| cwd.canonicalize().ok())??;
    let is_tree = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
    cwd.ancestors().any(is_tree).then_some(cwd)
}

/// Ignores relative folders in `PATH`, with which a repository could supply its own git.
fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| file.is_file() && rustix::fs::access(file, Access::EXEC_OK).is_ok())
}

/// One inspection of one repository.
struct RepoProbe<'s> {
    git: PathBuf,
    gt: Option<PathBuf>,
    cwd: PathBuf,
    settings: &'s RepoObservation,
}

/// Options that keep configured programs from running, and git from writing.
const HARMLESS: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "safe.bareRepository=explicit",
];

const FILTERS: &[&str] = &["config", "-z", "--name-only", "--get-regexp", r"^filter\."];

/// Without renames, for which git would read files, and without submodules, for which it would start another git.
const STATUS: &[&str] = &[
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--untracked-files=normal",
    "--ignored=no",
    "--ignore-submodules=dirty",
    "--no-renames",
    "--no-ahead-behind",
];

const DIFF: &[&str] = &["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff"];

/// The reflog of HEAD, newest first: the commit and the operation.
const MOVES: &[&str] = &[
    "log",
    "--walk-reflogs",
    "-z",
    "--format=%H %gs",
    "--no-patch",
    "--no-show-signature",
    "--max-count=100",
    "HEAD",
    "--",
];

impl RepoProbe<'_> {
    async fn observe(&self, since: Option<&str>, last: Option<&Repo>) -> Option<RepoObserved> {
        let deadline = Instant::now() + Duration::from_secs(self.settings.timeout_seconds);
        let quiet = self.without_filters(deadline).await?;
        let status = self.git(&quiet, STATUS, &[], LIST_LIMIT, deadline).await?;
        let mut state = read_status(&status)?;
        // From here on, what takes too long is left out.
        if let (Some(since), Some(head)) = (since.filter(|hash| is_hash(hash)), &state.head)
            && since != head
        {
            let changed = self.git(&quiet, DIFF, &[since, head, "--"], SHORT_LIMIT, deadline).await;
            state.changed = changed.iter().flat_map(names).take(MOST_FILES).collect();
        }
        let committed = match last.filter(|last| last.head != state.head) {
            Some(last) => self.committed(&quiet, last.head.as_deref(), deadline).await,
            None => None,
        };
        state.stack = self.stack(&quiet, deadline).await;
        Some(RepoObserved { repo: state, committed })
    }

    /// The subject of the newest commit since the last inspection. The reflog of HEAD tells commits, by whatever
    /// program, from switches, pulls, merges, rebases and resets, which do not complete any work. Without a reflog, no
    /// commit is reported.
    async fn committed(
        &self,
        quiet: &[String],
        last: Option<&str>,
        deadline: Instant,
    ) -> Option<String> {
        let moves = self.git(quiet, MOVES, &[], SHORT_LIMIT, deadline).await?;
        let moves: Vec<_> = moves.parts().map(name).collect();
        let moves = moves.iter().filter_map(|line| line.split_once(' '));
        moves.take_while(|(head, _)| Some(*head) != last).find_map(|(_, what)| made(what))
    }

    /// Disables all configured filters, because git would run these programs on changed files.
    async fn without_filters(&self, deadline: Instant) -> Option<Vec<String>> {
        let mut program = Program::new(&self.git, &self.cwd, deadline);
        program.arguments(HARMLESS).arguments(FILTERS);
        let output = program.run(SHORT_LIMIT).await?;
        // Git also fails if there are no filters.
        if output.cut {
            return None;
        }
        let mut taken_away: Vec<String> = Vec::new();
        for key in output.parts() {
            let key = std::str::from_utf8(key).ok()?;
            // Git would end the key at the `=`.
            if key.contains('=') {
                return None;
            }
            let value = if key.ends_with(".required") { "false" } else { "" };
            taken_away.extend(["-c".to_owned(), format!("{key}={value}")]);
        }
        Some(taken_away)
    }

    async fn git(
        &self,
        quiet: &[String],
        command: &[&str],
        rest: &[&str],
        limit: usize,
        deadline: Instant,
    ) -> Option<ProgramOutput> {
        let mut program = Program::new(&self.git, &self.cwd, deadline);
        program.arguments(HARMLESS).arguments(quiet).arguments(command).arguments(rest);
        program.run(limit).await.filter(|output| output.success || output.cut)
    }

    async fn stack(&self, quiet: &[String], deadline: Instant) -> Option<String> {
        let gt = self.gt.as_ref().filter(|_| self.settings.graphite_max_chars > 0)?;
        // In a repository that it does not manage, Graphite would initialize itself.
        let common = &["rev-parse", "--git-common-dir"];
        let common = self.git(quiet, common, &[], SHORT_LIMIT, deadline).await?;
        let folder = self.cwd.join(OsStr::from_bytes(common.bytes.trim_ascii_end()));
        if !folder.join(".graphite_repo_config").is_file() {
            return None;
        }
        let mut program = Program::new(gt, &self.cwd, deadline);
        program.arguments(&["log", "short", "--stack", "--no-interactive"]);
        let output = program.run(LIST_LIMIT).await.filter(|output| output.success)?;
        let text = String::from_utf8_lossy(&output.bytes);
        cut(&plain(&text), self.settings.graphite_max_chars)
    }
}

/// The subject of a commit, from a line of the reflog of HEAD.
fn made(what: &str) -> Option<String> {
    let (how, subject) = what.split_once(": ")?;
    let verb = how.split(' ').next().unwrap_or_default();
    matches!(verb, "commit" | "cherry-pick" | "revert" | "am").then(|| subject.to_owned())
}

/// A full hash, which git cannot interpret as an option, a branch or a range.
fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Parses the output of `git status --porcelain=v2 --branch -z`. `None` if it is something else.
fn read_status(output: &ProgramOutput) -> Option<Repo> {
    let mut state = Repo::default();
    let mut is_status = false;
    let mut parts = output.parts();
    while let Some(part) = parts.next() {
        if let Some(header) = part.strip_prefix(b"# ") {
            is_status = true;
            let header = String::from_utf8_lossy(header);
            match header.split_once(' ') {
                Some(("branch.oid", hash)) => {
                    state.head = Some(hash.to_owned()).filter(|h| is_hash(h))
                }
                Some(("branch.head", "(detached)")) => {}
                Some(("branch.head", branch)) => state.branch = Some(one_line(branch)),
                _ => {}
            }
            continue;
        }
        let fields = match part.first() {
            Some(b'1') => 8,
            Some(b'2') => 9,
            Some(b'u') => 10,
            Some(b'?') => 1,
            _ => continue,
        };
        let Some(path) = part.splitn(fields + 1, |byte| *byte == b' ').nth(fields) else {
            continue;
        };
        state.dirty = state.dirty.saturating_add(1);
        if state.files.len() < MOST_FILES {
            state.files.push(name(path));
        }
        // The old name of a renamed file follows.
        if part.starts_with(b"2") {
            parts.next();
        }
    }
    is_status.then_some(state)
}

fn names(output: &ProgramOutput) -> impl Iterator<Item = String> {
    output.parts().map(name)
}

fn name(path: &[u8]) -> String {
    one_line(&String::from_utf8_lossy(path))
}

/// Names are listed in texts that a model reads, so that a name must not span several lines.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

/// Lines without colors and trailing blanks, and without empty lines at the end.
fn plain(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((before, escape)) = rest.split_once("\x1b[") {
            lines.push_str(before);
            let ends = |c: char| ('@'..='~').contains(&c);
            rest = escape.split_once(ends).map_or("", |(_, after)| after);
        }
        lines.extend(rest.chars().filter(|c| !c.is_control()));
        lines.truncate(lines.trim_end_matches(' ').len());
        lines.push('\n');
    }
    lines.trim_end().to_owned()
}

fn cut(text: &str, most: usize) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    if text.chars().count() <= most {
        return Some(text.to_owned());
    }
    Some(text.chars().take(most.saturating_sub(1)).chain(['…']).collect())
}

#[cfg(test)]
mod tests;
