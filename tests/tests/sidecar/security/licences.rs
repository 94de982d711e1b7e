//! The licenses of all dependencies, checked without cargo-deny. `deny.toml` has the same list for cargo-deny.

use rawr_tests::root;
use serde_json::Value;
use std::process::Command;

/// The list of `deny.toml`, which is its only source.
fn allowed() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let list = text.split("allow = [").nth(1).unwrap().split(']').next().unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// One license of an alternative is enough; of a conjunction, all are needed.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    let one = |name: &str| allowed.iter().any(|allowed| allowed == name.trim());
    expression.split(" AND ").all(|part| part.split(" OR ").any(one))
}

#[test]
fn every_dependency_has_an_allowed_license() {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        // Not offline: the list contains crates of other platforms, which a build does not fetch.
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let allowed = allowed();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or("none named");
        if !is_allowed(licence, &allowed) {
            wrong.push(format!("{}: {licence}", package["name"]));
        }
    }
    assert!(wrong.is_empty(), "not in deny.toml: {wrong:#?}");
}

#[test]
fn an_alternative_is_enough_and_a_conjunction_is_not() {
    let allowed = ["MIT".to_owned()];
    assert!(is_allowed("MIT OR GPL-3.0", &allowed) && is_allowed("MIT/Apache-2.0", &allowed));
    assert!(!is_allowed("(MIT OR Zlib) AND ISC", &allowed) && !is_allowed("GPL-3.0", &allowed));
}
