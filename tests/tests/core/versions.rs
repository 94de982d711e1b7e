//! Everything that is published has the workspace's version.

use serde_json::Value;
use toml::Table;

use crate::root;

/// The manifests, and where in each the version is. That of the Neovim plugin is generated.
const MANIFESTS: [(&str, &str); 4] = [
    ("editor-clients/claude-code/.claude-plugin/plugin.json", "/version"),
    ("editor-clients/vscode/package.json", "/version"),
    ("editor-clients/vscode/package-lock.json", "/version"),
    ("editor-clients/vscode/package-lock.json", "/packages//version"),
];

#[test]
fn each_manifest_has_the_version_of_the_workspace() {
    for (path, pointer) in MANIFESTS {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        let version = manifest.pointer(pointer).and_then(Value::as_str);
        assert_eq!(version, Some(env!("CARGO_PKG_VERSION")), "{path} {pointer}");
    }
}

/// Cargo has no inheritance for the version of a dependency.
#[test]
fn published_crates_need_each_other_in_the_version_of_the_workspace() {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: Table = text.parse().unwrap();
    let dependencies = manifest["workspace"]["dependencies"].as_table().unwrap();
    let of_the_workspace = dependencies.iter().filter(|(_, spec)| spec.get("path").is_some());
    let mut names = Vec::new();
    for (name, spec) in of_the_workspace {
        let version = spec.get("version").and_then(|version| version.as_str());
        assert_eq!(version, Some(concat!("=", env!("CARGO_PKG_VERSION"))), "{name}");
        names.push(name);
    }
    assert!(!names.is_empty(), "Cargo.toml names no crates of the workspace");
}
