//! Generates `schema.json` and `openrpc.json` from the method table.

use crate::lsp::{LSP_METHODS, LspMethod};
use crate::methods::{Direction, METHODS, Method, MethodKind};
use crate::{ErrorCode, ErrorData, PROTOCOL_VERSION, ReplayTurnRow};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

const NOTE: &str = "Generated from the method table of rawr-protocol; do not edit.";
const NOTE_OF_ROW: &str = "Generated from ReplayTurnRow of rawr-protocol; do not edit.";
const LSP: &str = "https://microsoft.github.io/language-server-protocol/";
const DEFINITIONS: &str = "#/definitions/";
const COMPONENTS: &str = "#/components/schemas/";

/// Why no schema can be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A type is both read and written and looks different in the two: it must become two types.
    #[error("the type {name} is read in another shape than it is written in")]
    TwoShapes {
        /// The type.
        name: String,
    },
    /// A method's params are not an object with a name.
    #[error("the params of {method} are not a named type")]
    Nameless {
        /// The method.
        method: &'static str,
    },
}

/// `schema.json`: JSON Schema draft-07 with one definition per type.
pub fn schema() -> Result<Value, SchemaError> {
    let (_, definitions) = describe()?;
    Ok(sorted(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "rawr protocol",
        "description": NOTE,
        "x-protocolVersion": PROTOCOL_VERSION,
        "definitions": definitions,
    })))
}

/// `replay-row.schema.json`: a line of `rawr replay --jsonl`.
pub fn replay_row() -> Value {
    // A row has all its columns, so what is unknown is null.
    let settings = SchemaSettings::draft07().with_transform(RecursiveTransform(plain_numbers));
    let schema = settings.for_serialize().into_generator().into_root_schema_for::<ReplayTurnRow>();
    let mut schema = schema.to_value();
    schema["$comment"] = json!(NOTE_OF_ROW);
    sorted(schema)
}

/// `openrpc.json`: an OpenRPC document with every method, notifications included.
pub fn openrpc() -> Result<Value, SchemaError> {
    let (described, definitions) = describe()?;
    let ours = described.iter().map(|described| openrpc_method(described, &definitions));
    let methods = ours.chain(LSP_METHODS.iter().map(|method| Ok(lsp_method(method))));
    let errors = ErrorCode::ALL.iter().map(|code| {
        (code.name().to_owned(), json!({ "code": code.code(), "message": code.message() }))
    });
    let mut document = json!({
        "openrpc": "1.3.2",
        "info": { "title": "rawr protocol", "version": PROTOCOL_VERSION.to_string(), "description": NOTE },
        "methods": methods.collect::<Result<Vec<_>, _>>()?,
        "x-errorData": { "$ref": format!("{DEFINITIONS}ErrorData") },
        "components": { "schemas": definitions, "errors": errors.collect::<Map<_, _>>() },
    });
    point_to_components(&mut document);
    Ok(sorted(document))
}

struct Described {
    method: &'static Method,
    params: Schema,
    result: Option<Schema>,
}

/// What is read is described as it may be read, what is written as it is written: a list that may be left out in
/// params is always there in a result.
fn describe() -> Result<(Vec<Described>, Map<String, Value>), SchemaError> {
    let settings = || SchemaSettings::draft07().with_transform(RecursiveTransform(tidy));
    let mut read = settings().for_deserialize().into_generator();
    let mut written = settings().for_serialize().into_generator();
    let described = METHODS.iter().map(|method| Described {
        method,
        params: (method.params)(match method.direction {
            Direction::ToServer => &mut read,
            Direction::ToClient => &mut written,
        }),
        result: method.result.map(|result| result(&mut written)),
    });
    let described = described.collect();
    written.subschema_for::<ErrorData>();
    Ok((described, merge(&mut read, &mut written)?))
}

fn merge(
    read: &mut SchemaGenerator,
    written: &mut SchemaGenerator,
) -> Result<Map<String, Value>, SchemaError> {
    let mut all = read.take_definitions(true);
    for (name, shape) in written.take_definitions(true) {
        match all.get(&name) {
            Some(other) if *other != shape => return Err(SchemaError::TwoShapes { name }),
            _ => all.insert(name, shape),
        };
    }
    all.insert("ErrorCode".to_owned(), error_codes());
    Ok(all)
}

fn openrpc_method(
    described: &Described,
    definitions: &Map<String, Value>,
) -> Result<Value, SchemaError> {
    let Described { method, params, result } = described;
    let name =
        params.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(DEFINITIONS));
    let shape = name.and_then(|name| definitions.get(name));
    let shape = shape.ok_or(SchemaError::Nameless { method: method.name })?;
    let mut entry = json!({
        "name": method.name,
        "summary": method.summary,
        "paramStructure": "by-name",
        "params": openrpc_params(shape),
        "x-params": params,
        "x-direction": direction(method.direction),
        "x-kind": kind(method.kind),
        "x-source": method.source,
    });
    if let Some(result) = result {
        entry["result"] = json!({ "name": "result", "schema": result });
        entry["errors"] = errors(method.errors);
    }
    Ok(entry)
}

/// The payloads are described where that protocol is.
fn lsp_method(method: &LspMethod) -> Value {
    let mut entry = json!({
        "name": method.name,
        "summary": method.summary,
        "paramStructure": "by-name",
        "params": [],
        "externalDocs": { "description": method.params.unwrap_or("no params"), "url": LSP },
        "x-direction": direction(method.direction),
        "x-kind": kind(method.kind),
        "x-source": "LSP 3.18",
    });
    if method.kind == MethodKind::Request {
        entry["result"] = json!({ "name": "result", "schema": {} });
    }
    if (method.kind, method.direction) == (MethodKind::Request, Direction::ToServer) {
        entry["errors"] = errors(&[]);
    }
    entry
}

const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::ToServer => "client_to_server",
        Direction::ToClient => "server_to_client",
    }
}

const fn kind(kind: MethodKind) -> &'static str {
    match kind {
        MethodKind::Request => "request",
        MethodKind::Notification => "notification",
    }
}

fn errors(of_this: &[ErrorCode]) -> Value {
    let all = ErrorCode::OF_ANY_REQUEST.iter().chain(of_this);
    all.map(|code| json!({ "$ref": format!("#/components/errors/{}", code.name()) })).collect()
}

/// OpenRPC describes every field of the params on its own. Its order is ours to choose: required ones first.
fn openrpc_params(shape: &Value) -> Vec<Value> {
    let fields = shape["properties"].as_object().into_iter().flatten();
    let required = shape["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut fields: Vec<_> = fields
        .map(|(name, schema)| (!required.iter().any(|it| it == name), name, schema))
        .collect();
    fields.sort_by_key(|(optional, name, _)| (*optional, *name));
    fields
        .into_iter()
        .map(|(optional, name, schema)| json!({ "name": name, "required": !optional, "schema": schema }))
        .collect()
}

fn error_codes() -> Value {
    let codes = ErrorCode::ALL.iter().map(|code| {
        let description = format!("`{}`: {}.", code.name(), code.message());
        json!({ "description": description, "type": "integer", "const": code.code() })
    });
    json!({ "description": "Why a request failed.", "oneOf": codes.collect::<Vec<_>>() })
}

/// Whether serde_json keeps the order of keys depends on features of other crates; the files must not.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> =
                fields.into_iter().map(|(key, field)| (key, sorted(field))).collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(entries) => entries.into_iter().map(sorted).collect(),
        other => other,
    }
}

fn point_to_components(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(to)) = fields.get_mut("$ref")
                && let Some(name) = to.strip_prefix(DEFINITIONS)
            {
                *to = format!("{COMPONENTS}{name}");
            }
            fields.values_mut().for_each(point_to_components);
        }
        Value::Array(entries) => entries.iter_mut().for_each(point_to_components),
        _ => {}
    }
}

/// `null` is tolerated when read and never written, so the schema does not offer it.
fn tidy(schema: &mut Schema) {
    plain_numbers(schema);
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|it| it != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            // A reference has no siblings in draft-07, so a description beside it needs the wrapping.
            if only.contains_key("$ref") && schema.get("description").is_some() {
                schema.insert("allOf".to_owned(), json!([only]));
            } else {
                for (key, value) in only {
                    schema.insert(key, value);
                }
            }
        }
    }
}

/// Formats describe how Rust stores a number, which clients need not know. A `u8` is always a percentage here.
fn plain_numbers(schema: &mut Schema) {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default().to_owned();
    if ["uint8", "uint32", "uint64", "int64"].contains(&format.as_str()) {
        schema.remove("format");
    }
    if format == "uint8" {
        schema.insert("maximum".to_owned(), json!(100));
    }
}
