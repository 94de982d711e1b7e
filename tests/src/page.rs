//! Pages of the repository with a part that a test makes.

use std::path::Path;

/// The root of the repository.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Fails if the part of this name is another one in the page; where `UPDATE` is set, replaces it. `tests` are the arguments of
/// `cargo test` that do so.
pub fn check_generated(page: &str, name: &str, tests: &str, part: &str) {
    let path = root().join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let open = format!("<!-- generated: {name}; `UPDATE=1 cargo test {tests}` rewrites it -->\n");
    let close = "<!-- end -->";
    let (before, rest) = text.split_once(&open).unwrap_or_else(|| panic!("{page} lacks {open}"));
    let (_, after) = rest.split_once(close).unwrap_or_else(|| panic!("{page} lacks {close}"));
    let made = format!("{before}{open}{part}{close}{after}");
    if made != text && std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap_or_else(|error| panic!("{page}: {error}"));
        return;
    }
    assert!(made == text, "{page} is out of date: run `UPDATE=1 cargo test {tests}`");
}
