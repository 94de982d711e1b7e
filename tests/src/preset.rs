//! The preset of the tests that end a turn and expect the compaction at once.

use std::fs;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use toml::{Table, Value};

const SPEC: &str = "\n[rawr_auto_compaction]\npreset = \"spec\"\n";

/// Selects the preset `spec` in the weakest file of a home, Codex's own, so that a test can configure everything else.
pub fn compact_at_turn_end(home: &Path) {
    let path = home.join("config.toml");
    let file = OpenOptions::new().create(true).append(true).open(&path);
    file.and_then(|mut file| file.write_all(SPEC.as_bytes()))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Writes `rawr.toml` with the preset `spec`, for homes in which a real Codex reads its own file.
pub fn configure_with_spec(home: &Path, text: &str) {
    let mut config: Table = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let rawr = config.entry("rawr_auto_compaction").or_insert_with(|| Table::new().into());
    if let Value::Table(rawr) = rawr {
        rawr.entry("preset").or_insert_with(|| "spec".into());
    }
    let path = home.join("rawr.toml");
    fs::write(&path, config.to_string())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
