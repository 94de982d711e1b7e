//! Tests `packaging/release-notes`: a release has the version of the workspace and a section in the changelog.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use crate::root;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const CARGO: &str = "[workspace]\n\n[workspace.package]\nversion = \"1.2.3\"\nedition = \"2024\"\n\n[workspace.dependencies]\nversion = \"9.9.9\"\n";
const CHANGELOG: &str = "# Changelog\n\n## [Unreleased]\n\n- Later.\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- One.\n\n## [1.2.30] - 2026-01-01\n\n- Other.\n\n## [1.0.0]\n\n[1.2.3]: x\n";

/// What is printed for a tag: the notes, or the error.
fn notes(tag: &str, cargo: &str, changelog: &str) -> Result<String, String> {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("packaging")).unwrap();
    let script = folder.path().join("packaging/release-notes");
    for name in ["release-notes", "version"] {
        let file = format!("packaging/{name}");
        fs::copy(root().join(&file), folder.path().join(&file)).unwrap();
    }
    fs::write(folder.path().join("Cargo.toml"), cargo).unwrap();
    fs::write(folder.path().join("CHANGELOG.md"), changelog).unwrap();
    let output = Command::new("sh").arg(script).arg(tag).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

#[test]
fn the_notes_of_a_release_are_its_section_of_the_changelog() {
    assert_eq!(notes("v1.2.3", CARGO, CHANGELOG).unwrap(), "### Added\n\n- One.\n");
    let last = "## [1.2.3]\n\n- Two.\n\n[1.2.3]: x\n";
    assert_eq!(notes("v1.2.3", CARGO, last).unwrap(), "- Two.\n");
}

#[test]
fn a_tag_that_is_not_the_version_is_refused() {
    for tag in ["1.2.3", "v1.2.4", "v1.2.3-rc.1", "v1.2.30", "v9.9.9"] {
        let error = notes(tag, CARGO, CHANGELOG).unwrap_err();
        assert!(error.contains(&format!("the tag {tag} is not v1.2.3")), "{error}");
    }
}

#[test]
fn a_prerelease_is_refused() {
    let (cargo, changelog) =
        (CARGO.replace("1.2.3", "1.2.3-rc.1"), CHANGELOG.replace("1.2.3", "1.2.3-rc.1"));
    let error = notes("v1.2.3-rc.1", &cargo, &changelog).unwrap_err();
    assert!(error.contains("1.2.3-rc.1 is a prerelease"), "{error}");
}

#[test]
fn a_version_without_a_section_is_refused() {
    for version in ["1.0.0", "1.2.4", "1.2", "1x2.3"] {
        let cargo = CARGO.replace("1.2.3", version);
        let error = notes(&format!("v{version}"), &cargo, CHANGELOG).unwrap_err();
        assert!(error.contains(&format!("no section \"## [{version}]\"")), "{error}");
    }
}

#[test]
fn the_workspace_has_a_version_that_the_script_reads() {
    let cargo = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let changelog = format!("## [{version}] - 2026-01-31\n\n- One.\n");
    assert_eq!(notes(&format!("v{version}"), &cargo, &changelog).unwrap(), "- One.\n");
}
