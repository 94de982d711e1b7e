//! Writes each shipped prompt once to the folder where people edit them. A deleted file stays deleted, and an edited one is
//! never changed. A file that no one has edited follows the shipped text of later releases.

use super::{shipped, version};
use crate::problem::FileProblem;
use rawr_core::prompt::PromptName;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// In the prompt folder: one line for each time that a prompt was written, with the version of its text. The last one counts.
const LIST: &str = ".seeded";
/// The file already existed.
pub(super) const NOT_OURS: &str = "-";

/// The prompts that were written, now or earlier, and their versions.
pub(super) type SeededPrompts = BTreeMap<PromptName, String>;

pub(super) fn path_of(folder: &Path, name: PromptName) -> PathBuf {
    folder.join(format!("{}.md", name.name()))
}

pub(super) fn seed(folder: &Path) -> (SeededPrompts, Option<FileProblem>) {
    let problem = |error: io::Error| {
        let message = format!("failed to write the shipped prompts: {error}");
        FileProblem::warning("prompt-folder", message)
            .in_file(Some(folder))
            .help("rawr uses the built-in texts, which cannot be edited".to_owned())
    };
    let written = match written(folder) {
        Ok(written) => written,
        Err(error) => return (SeededPrompts::new(), Some(problem(error))),
    };
    let mut seeded = SeededPrompts::new();
    for (name, version) in &written {
        // Two processes may have started at once. The one that wrote the file knows its version.
        if version != NOT_OURS || !seeded.contains_key(name) {
            seeded.insert(*name, version.clone());
        }
    }
    let is_new = |name: &PromptName| match seeded.get(name) {
        None => true,
        Some(known) => is_outdated(folder, *name, known, &written),
    };
    let wanted: Vec<_> = PromptName::ALL.into_iter().filter(is_new).collect();
    if wanted.is_empty() {
        return (seeded, None);
    }
    let outdated = wanted.iter().filter(|name| seeded.contains_key(name)).copied().collect();
    match write_prompts(folder, &wanted, &outdated) {
        Ok(put) => {
            seeded.extend(put);
            (seeded, None)
        }
        Err(error) => (seeded, Some(problem(error))),
    }
}

/// Whether the file is a shipped text of an earlier release that no one has edited. A text that was written before is not
/// written again, so that an older rawr that still runs does not bring its own back.
fn is_outdated(
    folder: &Path,
    name: PromptName,
    known: &str,
    written: &[(PromptName, String)],
) -> bool {
    let current = version(shipped(name));
    let was_written = written.iter().any(|(of, version)| *of == name && *version == current);
    !was_written
        && std::fs::read_to_string(path_of(folder, name)).is_ok_and(|text| version(&text) == known)
}

fn written(folder: &Path) -> io::Result<Vec<(PromptName, String)>> {
    let text = match std::fs::read_to_string(folder.join(LIST)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let entry = |line: &str| {
        let (file, version) = line.split_once(' ')?;
        Some((PromptName::from_name(file.strip_suffix(".md")?)?, version.trim().to_owned()))
    };
    Ok(text.lines().filter_map(entry).collect())
}

fn write_prompts(
    folder: &Path,
    wanted: &[PromptName],
    outdated: &BTreeSet<PromptName>,
) -> io::Result<SeededPrompts> {
    make_folder(folder)?;
    let mut put = SeededPrompts::new();
    for name in wanted {
        let text = shipped(*name);
        let is_ours = if outdated.contains(name) {
            replace(&path_of(folder, *name), text)?;
            true
        } else {
            write_new(folder, *name, text)?
        };
        let version = if is_ours { version(text) } else { NOT_OURS.to_owned() };
        put.insert(*name, version);
    }
    let lines: String =
        put.iter().map(|(name, version)| format!("{}.md {version}\n", name.name())).collect();
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(folder.join(LIST))?.write_all(lines.as_bytes())?;
    Ok(put)
}

/// Atomic, and never replaces an existing file. A temporary file is readable only by its owner.
fn write_new(folder: &Path, name: PromptName, text: &str) -> io::Result<bool> {
    let path = path_of(folder, name);
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// Replaces the file atomically. If it is a symbolic link, the target of the link is replaced.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
