//! Writes each shipped prompt once to the folder where people edit them. A deleted file stays deleted, and an existing
//! file is never changed.

use super::{shipped, version};
use crate::problem::FileProblem;
use rawr_core::prompt::PromptName;
use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// In the prompt folder: one line for each prompt that was written, with the version of its text.
const LIST: &str = ".seeded";
/// The file already existed.
const NOT_OURS: &str = "-";

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
    let mut seeded = match seeded(folder) {
        Ok(seeded) => seeded,
        Err(error) => return (SeededPrompts::new(), Some(problem(error))),
    };
    let missing: Vec<_> =
        PromptName::ALL.into_iter().filter(|name| !seeded.contains_key(name)).collect();
    if missing.is_empty() {
        return (seeded, None);
    }
    match put(folder, &missing) {
        Ok(put) => {
            seeded.extend(put);
            (seeded, None)
        }
        Err(error) => (seeded, Some(problem(error))),
    }
}

fn seeded(folder: &Path) -> io::Result<SeededPrompts> {
    let text = match std::fs::read_to_string(folder.join(LIST)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(SeededPrompts::new()),
        read => read?,
    };
    let entry = |line: &str| {
        let (file, version) = line.split_once(' ')?;
        Some((PromptName::from_name(file.strip_suffix(".md")?)?, version.trim().to_owned()))
    };
    let mut seeded = SeededPrompts::new();
    for (name, version) in text.lines().filter_map(entry) {
        // Two processes may have started at once. The one that wrote the file knows its version.
        let known = seeded.entry(name).or_insert_with(|| version.clone());
        if known == NOT_OURS {
            *known = version;
        }
    }
    Ok(seeded)
}

fn put(folder: &Path, missing: &[PromptName]) -> io::Result<SeededPrompts> {
    make_folder(folder)?;
    let mut put = SeededPrompts::new();
    for name in missing {
        let text = shipped(*name);
        let version =
            if put_one(folder, *name, text)? { version(text) } else { NOT_OURS.to_owned() };
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
fn put_one(folder: &Path, name: PromptName, text: &str) -> io::Result<bool> {
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
pub(super) fn put_back(path: &Path, text: &str) -> io::Result<()> {
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
