//! Whether a thread works in a folder. Compares real paths, because of symbolic links and case-insensitive file
//! systems.

use std::path::Path;

/// Whether `path` is the folder or inside it. Missing files are compared by name.
pub fn is_within(folder: &Path, path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.starts_with(folder) || real(path).starts_with(real(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_a_folder_count_as_the_folder() {
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
