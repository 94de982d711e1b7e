//! The agent's file tools. They must not read or write outside the working directory, also not through links.

use std::io::{BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// The largest answer in bytes. The model can ask for the following lines.
const READ_BYTES: usize = 32 * 1024;

/// Reads lines of a text file, with line numbers.
pub(super) fn read(
    cwd: &Path,
    path: &str,
    first_line: Option<usize>,
    lines: Option<usize>,
) -> Result<String, String> {
    let file = inside(cwd, path)?;
    let cannot = |error: std::io::Error| format!("{path} cannot be read: {error}");
    let about = file.metadata().map_err(cannot)?;
    // A pipe or a device might never end.
    if !about.is_file() {
        return Err(format!("{path} is not a regular file"));
    }
    let first = first_line.unwrap_or(1).max(1);
    let mut reader = BufReader::new(std::fs::File::open(&file).map_err(cannot)?);
    let mut text = String::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        // Limit the length of one line.
        let most = (READ_BYTES as u64) + 1;
        if (&mut reader).take(most).read_until(b'\n', &mut line).map_err(cannot)? == 0 {
            break;
        }
        if number < first {
            continue;
        }
        if lines.is_some_and(|lines| number - first >= lines) {
            return Ok(text);
        }
        let shown = String::from_utf8_lossy(&line);
        if text.len() + shown.len() > READ_BYTES {
            text.push_str(&format!("… (more from line {number} on)\n"));
            return Ok(text);
        }
        text.push_str(&format!("{number}\t{}\n", shown.trim_end_matches(['\n', '\r'])));
    }
    Ok(text)
}

/// Writes a whole file and creates its missing folders.
pub(super) fn write(cwd: &Path, path: &str, content: &str) -> Result<(), String> {
    let file = inside(cwd, path)?;
    if file.metadata().is_ok_and(|about| !about.is_file()) {
        return Err(format!("{path} is not a regular file"));
    }
    let folder = file.parent().unwrap_or(cwd);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, content));
    written.map_err(|error| format!("{path} cannot be written: {error}"))
}

/// Resolves a path. Fails if it is not below the working directory.
fn inside(cwd: &Path, path: &str) -> Result<PathBuf, String> {
    let outside = || format!("{path} is not below the working directory");
    let root = cwd.canonicalize().map_err(|error| format!("the working directory: {error}"))?;
    let below = Path::new(path);
    let below = below.strip_prefix(cwd).or_else(|_| below.strip_prefix(&root)).unwrap_or(below);
    let mut real = root.clone();
    let mut is_missing = false;
    for part in below.components() {
        match part {
            Component::Normal(name) => real.push(name),
            Component::CurDir => continue,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
        // Below a missing folder there can be no link.
        if is_missing {
            continue;
        }
        match real.symlink_metadata() {
            // A dangling link is refused as well, because writing would create its target.
            Ok(about) if about.is_symlink() => {
                real = real.canonicalize().map_err(|_| outside())?;
                if !real.starts_with(&root) {
                    return Err(outside());
                }
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => is_missing = true,
            Err(error) => return Err(format!("{path}: {error}")),
        }
    }
    if real == root { Err(outside()) } else { Ok(real) }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A working directory beside a folder that is none of its business.
    struct WorkspaceFile {
        all: TempDir,
    }

    impl WorkspaceFile {
        fn new() -> Self {
            let all = TempDir::new().unwrap();
            for folder in ["work/inner", "other"] {
                std::fs::create_dir_all(all.path().join(folder)).unwrap();
            }
            std::fs::write(all.path().join("other/secret.txt"), "secret\n").unwrap();
            Self { all }
        }

        fn work(&self) -> PathBuf {
            self.all.path().join("work")
        }

        fn link(&self, name: &str, to: &str) {
            let to = if to.starts_with('/') { PathBuf::from(to) } else { self.all.path().join(to) };
            std::os::unix::fs::symlink(to, self.work().join(name)).unwrap();
        }

        fn check_refused(&self, path: &str) {
            for error in [
                write(&self.work(), path, "x").unwrap_err(),
                read(&self.work(), path, None, None).unwrap_err(),
            ] {
                assert!(error.contains("not below the working directory"), "{path}: {error}");
            }
        }
    }

    #[test]
    fn paths_outside_the_working_directory_are_refused() {
        let place = WorkspaceFile::new();
        for path in ["../up.txt", "/tmp/rawr-never.txt", "a/../../up.txt", "a/../b.txt", "", "."] {
            place.check_refused(path);
        }
    }

    #[test]
    fn links_outside_the_working_directory_are_refused() {
        let place = WorkspaceFile::new();
        place.link("file.txt", "other/secret.txt");
        place.link("folder", "other");
        place.link("inner/deep", "other");
        place.link("nowhere", "other/not-there.txt");
        place.link("up", "work/..");
        for path in [
            "file.txt",
            "folder/secret.txt",
            "folder/new.txt",
            "inner/deep/new.txt",
            "nowhere",
            "up/other/x",
        ] {
            place.check_refused(path);
        }
        assert_eq!(std::fs::read_dir(place.all.path().join("other")).unwrap().count(), 1);
    }

    #[test]
    fn links_inside_the_working_directory_are_followed() {
        let place = WorkspaceFile::new();
        place.link("shortcut", "work/inner");
        write(&place.work(), "shortcut/a.txt", "one\n").unwrap();
        assert_eq!(read(&place.work(), "inner/a.txt", None, None).unwrap(), "1\tone\n");
    }

    #[test]
    fn an_absolute_path_below_the_working_directory_is_accepted() {
        let place = WorkspaceFile::new();
        let path = place.work().join("new/a.txt");
        write(&place.work(), path.to_str().unwrap(), "one\n").unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "one\n");
    }

    #[test]
    fn lines_are_numbered_and_a_long_answer_names_the_next_line() {
        let place = WorkspaceFile::new();
        let long = "x".repeat(99);
        let text: String = (0..1000).map(|_| format!("{long}\n")).collect();
        write(&place.work(), "long.txt", &text).unwrap();
        let check = |first, lines| read(&place.work(), "long.txt", first, lines).unwrap();
        assert_eq!(check(Some(7), Some(2)), format!("7\t{long}\n8\t{long}\n"));
        let whole = check(None, None);
        assert!(whole.ends_with("on)\n") && whole.len() < READ_BYTES + 100, "{}", whole.len());
        assert_eq!(check(Some(2000), None), "");
    }

    #[test]
    fn only_regular_files_are_read_and_written() {
        let place = WorkspaceFile::new();
        let error = read(&place.work(), "inner", None, None).unwrap_err();
        assert_eq!(error, "inner is not a regular file");
        assert!(write(&place.work(), "inner", "x").is_err());
    }
}
