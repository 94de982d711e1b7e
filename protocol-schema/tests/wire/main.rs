//! What every payload must hold on the wire, checked on the table of samples.

mod samples;
mod validator;

use rawr_protocol::*;
use samples::Sample;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Fields whose content is defined by another protocol.
const OPAQUE: [&str; 9] = [
    "capabilities",
    "config",
    "effective",
    "experimental",
    "frontMatter",
    "history",
    "outputSchema",
    "value",
    "values",
];

#[test]
fn samples_are_read_and_written_unchanged() {
    for Sample { name, wire, round_trip } in samples::all() {
        assert_eq!(round_trip(&wire).map_err(|error| error.to_string()), Ok(wire), "{name}");
    }
}

// rule: client.unknown-fields
#[test]
fn unknown_fields_are_ignored() {
    for Sample { name, wire, round_trip } in samples::all() {
        let mut more = wire.clone();
        each_object(&mut more, &mut |fields| {
            fields.insert(
                "fromTheFuture".to_owned(),
                json!({ "list": [1, "two", { "kind": "three" }] }),
            );
        });
        assert_eq!(round_trip(&more).map_err(|error| error.to_string()), Ok(wire), "{name}");
    }
}

// rule: client.never-null
#[test]
fn null_is_absent() {
    for Sample { name, wire, round_trip } in samples::all() {
        for path in paths(&wire) {
            let (mut with_null, mut without) = (wire.clone(), wire.clone());
            edit(&mut with_null, &path, |fields, name| {
                drop(fields.insert(name.to_owned(), Value::Null))
            });
            edit(&mut without, &path, |fields, name| drop(fields.remove(name)));
            assert_eq!(round_trip(&with_null).ok(), round_trip(&without).ok(), "{name}: {path:?}");
        }
    }
}

// rule: client.never-null
#[test]
fn null_is_never_written() {
    for Sample { name, wire, round_trip } in samples::all() {
        let mut least = wire.clone();
        for path in paths(&wire).into_iter().rev() {
            let mut without = least.clone();
            edit(&mut without, &path, |fields, name| drop(fields.remove(name)));
            if round_trip(&without).is_ok() {
                least = without;
            }
        }
        let written = round_trip(&least).unwrap();
        assert!(!has_null(&written), "{name}: {written}");
    }
}

// rule: client.capabilities
#[test]
fn a_missing_capability_means_no() {
    let host: Host = serde_json::from_value(json!({ "name": "host" })).unwrap();
    assert_eq!(host.capabilities, HostCapabilities::default());
    let none = serde_json::to_value(host.capabilities).unwrap();
    assert!(none.as_object().unwrap().values().all(|able| *able == json!(false)), "{none}");
}

// rule: client.compaction-progress
#[test]
fn the_progress_of_a_compaction_has_the_names_of_the_agent_client_protocol() {
    let names: Vec<_> = CompactionStatus::ALL.iter().map(|status| json!(status)).collect();
    assert_eq!(names, ["in_progress", "completed", "failed", "cancelled"]);
}

#[test]
fn samples_fit_the_schema() {
    let document = schema::schema().unwrap();
    for Sample { name, wire, .. } in samples::all() {
        let misfit = validator::misfit(&document, &document["definitions"][name], &wire);
        assert_eq!(misfit, None, "{name}: {wire}");
    }
}

#[test]
fn every_payload_has_a_sample() {
    let document = schema::openrpc().unwrap();
    let mut payloads = BTreeSet::new();
    for method in document["methods"].as_array().unwrap() {
        for schema in [&method["x-params"], &method["result"]["schema"]] {
            payloads.extend(
                schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()).map(str::to_owned),
            );
        }
    }
    let sampled: BTreeSet<_> = samples::all().iter().map(|sample| sample.name.to_owned()).collect();
    assert_eq!(payloads.difference(&sampled).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn absent_null_and_luas_empty_table_are_empty_params() {
    for text in [None, Some(""), Some("null"), Some("{}"), Some("[]"), Some(" [ ] ")] {
        assert_eq!(
            read_params::<ConfigGetParams>(text).unwrap(),
            ConfigGetParams { thread_id: None },
            "{text:?}"
        );
    }
    let options = read_params::<InitializeParams>(Some(
        r#"{"processId":null,"capabilities":[],"initializationOptions":[],"workspaceFolders":null,"trace":"compact"}"#,
    ));
    assert_eq!(options.unwrap(), InitializeParams::default());
    let values = read_params::<PromptRenderParams>(Some(r#"{"name":"n","values":[]}"#));
    assert!(values.unwrap().values.is_empty());
}

#[test]
fn lists_leave_out_what_a_newer_peer_added() {
    let result: SignalReportResult = serde_json::from_value(
        json!({ "boundaries": ["commit", "lunch", { "kind": "x" }, null, "plan_update"] }),
    )
    .unwrap();
    assert_eq!(result.boundaries, [Boundary::Commit, Boundary::PlanUpdate]);

    let opened: ThreadOpenResult = serde_json::from_value(json!({
        "threadId": "t", "phase": "idle", "scratchFile": "s", "owner": true,
        "pendingActions": [
            { "kind": "teleport", "actionId": "a1", "sequenceId": "s1", "where": "home" },
            { "kind": "sample_packet", "actionId": "a2", "sequenceId": "s1", "prompt": "p" },
        ],
    }))
    .unwrap();
    let ids: Vec<_> =
        opened.pending_actions.iter().map(|pending| pending.action_id.as_str()).collect();
    assert_eq!(ids, ["a2"]);
}

#[test]
fn a_plan_keeps_every_step() {
    let signal =
        json!({ "kind": "plan_updated", "steps": [{ "step": "wait", "status": "blocked" }] });
    let expected = PlanStep { step: "wait".to_owned(), status: StepStatus::Pending };
    assert_eq!(
        serde_json::from_value::<Signal>(signal).unwrap(),
        Signal::PlanUpdated { steps: vec![expected], explanation: None },
    );
}

#[test]
fn a_history_with_an_unknown_item_is_refused() {
    let params = json!({ "items": [{ "role": "oracle", "text": "x" }], "summary": "s" });
    assert!(serde_json::from_value::<CompactionRewriteParams>(params).is_err());
}

#[test]
fn initialize_tells_the_protocol() {
    let result = InitializeResult::new("0.1.0");
    assert_eq!(result.protocol_version(), Some(PROTOCOL_VERSION));
    assert_eq!(result.capabilities["positionEncoding"], "utf-16");
}

#[test]
fn methods_are_found_by_name_and_named_once() {
    let names: BTreeSet<_> = METHODS.iter().map(|method| method.name).collect();
    assert_eq!(names.len(), METHODS.len());
    let perform = methods::find(methods::ActionPerform::METHOD).unwrap();
    assert_eq!((perform.kind, perform.direction), (MethodKind::Notification, Direction::ToClient));
    assert!(methods::find("rawr/nothing").is_none());
}

/// The way to every field that is ours: names, and indices of lists as text.
fn paths(value: &Value) -> Vec<Vec<String>> {
    let entries: Vec<(String, &Value, bool)> = match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), field, true)).collect()
        }
        Value::Array(entries) => {
            entries.iter().enumerate().map(|(at, entry)| (at.to_string(), entry, false)).collect()
        }
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for (name, entry, is_field) in
        entries.into_iter().filter(|(name, ..)| !OPAQUE.contains(&name.as_str()))
    {
        if is_field {
            found.push(vec![name.clone()]);
        }
        found.extend(paths(entry).into_iter().map(|rest| [vec![name.clone()], rest].concat()));
    }
    found
}

fn edit(value: &mut Value, path: &[String], change: impl FnOnce(&mut Map<String, Value>, &str)) {
    let Some((name, above)) = path.split_last() else { return };
    let pointer: String = above.iter().map(|name| format!("/{name}")).collect();
    if let Some(Value::Object(fields)) = value.pointer_mut(&pointer) {
        change(fields, name);
    }
}

fn each_object(value: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                if !OPAQUE.contains(&name.as_str()) {
                    each_object(field, change);
                }
            }
            change(fields);
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| each_object(entry, change)),
        _ => {}
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().any(has_null),
        Value::Array(entries) => entries.iter().any(has_null),
        _ => false,
    }
}
