//! `rawr.toml` as JSON Schema, for editors that complete and check TOML with one. Generated from the table of keys.

use super::keys::{ConfigKey, KeyKind};
use super::models::{self, may_set};
use super::table::TABLES;
use rawr_core::boundary::Boundary;
use serde_json::{Map, Value, json};

/// Draft 7, which editors support.
pub fn json_schema() -> Value {
    let mut root =
        object("What rawr does with your context. A project's `.rawr.toml` has the same keys.");
    let mut of_a_model = object("For threads with such a model.");
    for table in TABLES.iter().filter(|table| table.path != models::TABLE) {
        for key in table.keys {
            let path: Vec<_> = key.path.split('.').collect();
            insert(&mut root, &path, of_key(key));
            if may_set(key.path) {
                let mut for_it = of_key(key);
                // The default of such a key is the general value.
                for_it.as_object_mut().map(|schema| schema.remove("default"));
                insert(&mut of_a_model, &path[1..], for_it);
            }
        }
        describe(&mut root, &table.path.split('.').collect::<Vec<_>>(), table.doc);
        if may_set(table.path) {
            let path: Vec<_> = table.path.split('.').skip(1).collect();
            describe(&mut of_a_model, &path, table.doc);
        }
    }
    let doc = TABLES.iter().find(|table| table.path == models::TABLE).map(|table| table.doc);
    let mut tables = object(doc.unwrap_or_default());
    tables["additionalProperties"] = json!({ "$ref": "#/definitions/model" });
    insert(&mut root, &models::TABLE.split('.').collect::<Vec<_>>(), tables);
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["title"] = json!("rawr.toml");
    root["definitions"] = json!({ "model": of_a_model });
    root
}

/// Undeclared keys are errors in the schema, as they are problems here.
fn object(doc: &str) -> Value {
    let mut object = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    if !doc.is_empty() {
        object["description"] = json!(doc);
    }
    object
}

fn insert(object_at: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else { return };
    let Some(properties) = object_at["properties"].as_object_mut() else { return };
    if rest.is_empty() {
        properties.insert((*first).to_owned(), value);
    } else {
        insert(properties.entry(*first).or_insert_with(|| object("")), rest, value);
    }
}

fn describe(object_at: &mut Value, path: &[&str], doc: &str) {
    let Some((first, rest)) = path.split_first() else {
        if !doc.is_empty() {
            object_at["description"] = json!(doc);
        }
        return;
    };
    if let Some(below) = object_at["properties"].get_mut(*first) {
        describe(below, rest, doc);
    }
}

fn of_key(key: &'static ConfigKey) -> Value {
    let mut schema = Map::new();
    schema.insert("description".to_owned(), json!(key.doc));
    if let Some(default) = key.default_value() {
        schema.insert("default".to_owned(), default);
    }
    for (keyword, rule) in rules(&key.kind) {
        schema.insert(keyword.to_owned(), rule);
    }
    Value::Object(schema)
}

fn rules(kind: &KeyKind) -> Vec<(&'static str, Value)> {
    let text = || ("type", json!("string"));
    match kind {
        KeyKind::Switch => vec![("type", json!("boolean"))],
        KeyKind::Number(range) => vec![
            ("type", json!("integer")),
            ("minimum", json!(range.start())),
            ("maximum", json!(range.end())),
        ],
        KeyKind::Percent(range) => {
            let number =
                json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() });
            let sign = json!({ "type": "string", "pattern": "^ *[0-9]{1,3} *%$" });
            vec![("anyOf", json!([number, sign]))]
        }
        KeyKind::Word(words) => vec![("enum", json!(words))],
        KeyKind::Text | KeyKind::ScratchTemplate => vec![text()],
        KeyKind::Url => vec![text(), ("pattern", json!("^([hH][tT][tT][pP][sS]?://[^#]*)?$"))],
        KeyKind::Variable => vec![text(), ("pattern", json!("^([A-Za-z_][A-Za-z0-9_]*)?$"))],
        KeyKind::Boundaries { .. } => {
            vec![
                ("type", json!("array")),
                ("items", json!({ "enum": Boundary::ALL.map(Boundary::name) })),
            ]
        }
        KeyKind::Phrases => {
            vec![("type", json!("array")), ("items", json!({ "type": "string", "minLength": 1 }))]
        }
    }
}
