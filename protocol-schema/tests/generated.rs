//! The committed schema files are those that the method table gives.

use rawr_protocol::schema::{self, SchemaError};
use serde_json::Value;
use std::path::Path;

type TestResult = Result<(), Box<dyn std::error::Error>>;

fn check(file: &str, generated: Result<Value, SchemaError>) -> TestResult {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = format!("{:#}\n", generated?);
    if std::env::var_os("UPDATE").is_some_and(|update| update == "1") {
        std::fs::write(&path, &text)?;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        committed == text,
        "{file} is not what the method table gives. Run\n    \
         UPDATE=1 cargo test -p rawr-protocol --features schema --test generated"
    );
    Ok(())
}

#[test]
fn schema_is_current() -> TestResult {
    check("schema.json", schema::schema())
}

#[test]
fn replay_row_is_current() -> TestResult {
    check("replay-row.schema.json", Ok(schema::replay_row()))
}

#[test]
fn openrpc_is_current() -> TestResult {
    check("openrpc.json", schema::openrpc())
}

#[test]
fn everything_is_described_and_every_reference_leads_somewhere() {
    for document in [schema::schema().unwrap(), schema::openrpc().unwrap()] {
        inspect(&document, &document, "");
    }
}

fn inspect(document: &Value, value: &Value, at: &str) {
    match value {
        Value::Object(fields) => {
            if let Some(to) = fields.get("$ref").and_then(Value::as_str) {
                let found = to.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
                assert!(found.is_some(), "{at}: {to} leads nowhere");
            }
            if let Some(Value::Object(properties)) = fields.get("properties") {
                for (name, property) in properties {
                    let tag = property.get("const").is_some();
                    assert!(
                        tag || property.get("description").is_some(),
                        "{at}/{name} is not described"
                    );
                }
            }
            fields
                .iter()
                .for_each(|(name, field)| inspect(document, field, &format!("{at}/{name}")));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| inspect(document, entry, at)),
        _ => {}
    }
}
