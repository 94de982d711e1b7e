//! Puts the shipped prompts where people can edit them, each once: a file that somebody deleted stays deleted, and
//! one that is there is never touched.

use super::{shipped, version};
use crate::problem::Problem;
use rawr_core::prompt::PromptName;
use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// In the prompt folder: a line for each prompt that was put there, with the version of its text.
const LIST: &str = ".seeded";
/// Somebody else's file was there already.
const NOT_OURS: &str = "-";

/// Which prompts were put there, now or earlier, and in which version.
pub(super) type Seeded = BTreeMap<PromptName, String>;

pub(super) fn path_of(folder: &Path, name: PromptName) -> PathBuf {
    folder.join(format!("{}.md", name.name()))
}

pub(super) fn seed(folder: &Path) -> (Seeded, Option<Problem>) {
    let problem = |error: io::Error| {
        let message = format!("the shipped prompts cannot be put here: {error}");
        Problem::warning("prompt-folder", message)
            .in_file(Some(folder))
            .help("they are used all the same, and cannot be edited".to_owned())
    };
    let mut seeded = match seeded(folder) {
        Ok(seeded) => seeded,
        Err(error) => return (Seeded::new(), Some(problem(error))),
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

fn seeded(folder: &Path) -> io::Result<Seeded> {
    let text = match std::fs::read_to_string(folder.join(LIST)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Seeded::new()),
        read => read?,
    };
    let entry = |line: &str| {
        let (file, version) = line.split_once(' ')?;
        Some((PromptName::from_name(file.strip_suffix(".md")?)?, version.trim().to_owned()))
    };
    let mut seeded = Seeded::new();
    for (name, version) in text.lines().filter_map(entry) {
        // Two processes may have started at once; one of them put the file there and knows its version.
        let known = seeded.entry(name).or_insert_with(|| version.clone());
        if known == NOT_OURS {
            *known = version;
        }
    }
    Ok(seeded)
}

fn put(folder: &Path, missing: &[PromptName]) -> io::Result<Seeded> {
    make_folder(folder)?;
    let mut put = Seeded::new();
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

/// Whole or not at all, and never over a file that is there. A temporary file is readable by its owner alone.
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

/// Over what is there, whole or not at all. What a link leads to is replaced, and not the link.
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
