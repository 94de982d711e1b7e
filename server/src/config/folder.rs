//! Whether a thread works in a folder. Both may be named through links, and on some systems in other cases of letters.

use std::path::Path;

/// Whether `path` is the folder or below it. What is not there is compared by its name.
pub fn is_within(folder: &Path, path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.starts_with(folder) || real(path).starts_with(real(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_any_of_its_names() {
        let root = tempfile::tempdir().unwrap();
        let (real, link) = (root.path().join("real"), root.path().join("link"));
        std::fs::create_dir_all(real.join("below")).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for (folder, path, expected) in [
            (&real, link.join("below"), true),
            (&link, real.join("below"), true),
            (&link, real.clone(), true),
            (&real.join("below"), link.clone(), false),
            (&real, root.path().join("real-not"), false),
            (&root.path().join("gone"), root.path().join("gone/below"), true),
        ] {
            assert_eq!(
                is_within(folder, &path),
                expected,
                "{} {}",
                folder.display(),
                path.display()
            );
        }
    }
}
