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

/// What hosts report, much of it taken from models and agents.
const REPORTS: [&str; 7] = [
    "ActionReportParams",
    "CompactionReportParams",
    "SignalReportParams",
    "ThreadOpenParams",
    "TurnCompletedParams",
    "TurnStartedParams",
    "TurnUsageParams",
];

/// Texts of models and agents.
const TEXTS: [&str; 10] = [
    "cwd",
    "error",
    "explanation",
    "hash",
    "lastAgentMessage",
    "model",
    "subject",
    "text",
    "url",
    "version",
];

#[track_caller]
fn check_equal(sample: &Sample, path: &[String], is_read: &Value, as_if: Option<&Value>) {
    let (mut odd, mut expected) = (sample.wire.clone(), sample.wire.clone());
    edit(&mut odd, path, |fields, name| drop(fields.insert(name.to_owned(), is_read.clone())));
    edit(&mut expected, path, |fields, name| match as_if {
        Some(value) => drop(fields.insert(name.to_owned(), value.clone())),
        None => drop(fields.remove(name)),
    });
    let read = |wire: &Value| (sample.round_trip)(wire).map_err(|error| error.to_string());
    // An exit code has no value that means unknown.
    let may_fail = path.last().is_some_and(|name| name == "exitCode") && as_if.is_none();
    assert!(read(&odd).is_ok() || may_fail, "{}: {path:?}: {:?}", sample.name, read(&odd));
    assert_eq!(read(&odd).ok(), read(&expected).ok(), "{}: {path:?} is {is_read}", sample.name);
}

// rule: client.lenient-reports
#[test]
fn a_count_in_a_report_is_rounded_or_unknown() {
    let mut seen = BTreeSet::new();
    for sample in samples::all().iter().filter(|sample| REPORTS.contains(&sample.name)) {
        for path in paths(&sample.wire) {
            let pointer: String = path.iter().map(|name| format!("/{name}")).collect();
            if !sample.wire.pointer(&pointer).is_some_and(Value::is_number) {
                continue;
            }
            seen.extend(path.last().cloned());
            check_equal(sample, &path, &json!(1234.0), Some(&json!(1234)));
            check_equal(sample, &path, &json!(1233.6), Some(&json!(1234)));
            for unknown in [json!("1234"), json!([1234]), json!({}), json!(true), json!(1e300)] {
                check_equal(sample, &path, &unknown, None);
            }
            if path.last().is_some_and(|name| name != "exitCode") {
                check_equal(sample, &path, &json!(-1), None);
                check_equal(sample, &path, &json!(-1.5), None);
            }
        }
    }
    let fields = [
        "baselineTokens",
        "beganAtMs",
        "cacheSeconds",
        "cachedInputTokens",
        "compactsAboveTokens",
        "contextTokens",
        "contextWindow",
        "exitCode",
        "inputTokens",
        "outputTokens",
        "queuedInputs",
        "reasoningTokens",
        "requestTokens",
        "tokensAfter",
        "tokensBefore",
    ];
    assert_eq!(seen, fields.map(str::to_owned).into());
}

// rule: client.lenient-reports
#[test]
fn the_seconds_of_a_cache_are_rounded_or_unknown() {
    for (seconds, read) in [(json!(299.6), Some(300)), (json!(-1), None), (json!("5m"), None)] {
        let host = json!({ "name": "h", "capabilities": { "cacheSeconds": seconds } });
        let host: Host = serde_json::from_value(host).unwrap();
        assert_eq!(host.capabilities.cache_seconds, read);
    }
}

// rule: client.lenient-reports
#[test]
fn an_optional_text_of_another_type_is_unknown() {
    let strict = ["ThreadOpenParams /cwd", "SignalReportParams /signal/text"];
    for sample in samples::all().iter().filter(|sample| REPORTS.contains(&sample.name)) {
        for path in paths(&sample.wire) {
            let pointer: String = path.iter().map(|name| format!("/{name}")).collect();
            let is_strict = strict.contains(&format!("{} {pointer}", sample.name).as_str());
            if is_strict || !path.last().is_some_and(|name| TEXTS.contains(&name.as_str())) {
                continue;
            }
            for other in [json!(5), json!(["x"]), json!({ "type": "text" })] {
                check_equal(sample, &path, &other, None);
            }
        }
    }
}

// rule: client.lenient-reports
#[test]
fn a_usage_without_its_context_is_unknown() {
    for usage in [json!({}), json!({ "inputTokens": 5 }), json!({ "contextTokens": -5 }), json!(5)]
    {
        let params =
            json!({ "threadId": "t", "turnId": "u", "status": "completed", "usage": usage });
        let read: TurnCompletedParams = serde_json::from_value(params.clone()).unwrap();
        assert_eq!(read.usage, None, "{usage}");
        assert_eq!(serde_json::from_value::<TurnUsageParams>(params).unwrap().usage, None);
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
