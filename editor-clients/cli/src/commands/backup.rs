//! Backs up a user's file before it is replaced.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// Copies a file to its name plus this ending, with a number if that name is taken.
pub(super) fn keep(path: &Path, ending: &str) -> anyhow::Result<PathBuf> {
    let named = |ending: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let mut names = std::iter::once(named(ending.to_owned()))
        .chain((2..).map(|count| named(format!("{ending}.{count}"))));
    let copy = names.find(|name| name.symlink_metadata().is_err()).context("no name is free")?;
    std::fs::copy(path, &copy).with_context(|| {
        format!("failed to back up {} as {}; nothing was changed", path.display(), copy.display())
    })?;
    Ok(copy)
}
