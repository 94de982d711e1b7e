//! Versions of npm packages that the tests pin.

use std::path::Path;

use serde_json::Value;

/// The version of a package in a folder's `package.json`.
pub fn pinned_version(folder: &Path, package: &str) -> String {
    let path = folder.join("package.json");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let manifest: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let version = manifest["dependencies"][package].as_str();
    version.unwrap_or_else(|| panic!("{} does not pin {package}", path.display())).to_owned()
}
