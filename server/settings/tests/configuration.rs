//! The table of keys in the documentation is made from the keys themselves. `UPDATE=1` rewrites it.

use rawr_settings::config::{ConfigKey, keys};
use std::path::Path;

const OPEN: &str = "<!-- generated: configuration -->\n";
const CLOSE: &str = "<!-- end -->";

#[test]
fn the_documentation_lists_every_key_with_its_default() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/configuration.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(OPEN).unwrap();
    let (_, after) = rest.split_once(CLOSE).unwrap();
    let rows: String = keys().map(row).collect();
    let made = format!(
        "{before}{OPEN}| key | default | what it does |\n| --- | --- | --- |\n{rows}{CLOSE}{after}"
    );
    if made != page && std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap();
        return;
    }
    assert!(
        made == page,
        "docs/src/configuration.md is out of date: run `UPDATE=1 cargo test -p rawr-server --test configuration`"
    );
}

fn row(key: &'static ConfigKey) -> String {
    let default = match key.default_value() {
        None => "–".to_owned(),
        Some(value) if value.to_string().len() > 60 => "a list; `rawr init` shows it".to_owned(),
        Some(value) => format!("`{value}`"),
    };
    format!("| `{}` | {default} | {} |\n", key.path, key.doc.replace('\n', " ").replace('|', "\\|"))
}
