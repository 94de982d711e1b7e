//! Settings that depend on the model and the project, through the real binary: the right table applies, records name
//! it, and all clients see the same.

use crate::fixture::THREAD;
use rawr_protocol::methods::{
    ActionPerform, ConfigGet, DecisionRecorded, LogMessage, ThreadChanged, ThreadOpen, TurnUsage,
};
use rawr_protocol::{
    Action, ActionPerformNotification, ConfigGetParams, DecisionRecordedNotification, Gate,
    Notification, Role, TokenUsage, TurnUsageParams,
};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::Value;
use std::fs;

const MODELS: &str = r#"
[rawr_auto_compaction.models."small*"]
mode = "tag"
asap_percent_remaining_lt = 55
[rawr_auto_compaction.models."small-2"]
mode = "auto"
compaction_model = "tiny"
"#;

fn open(home: &TestHome, sidecar: &mut TestSidecar, role: Role, model: Option<&str>) {
    let mut opening = StandIn::new(THREAD).opening(home, role);
    opening.model = model.map(str::to_owned);
    sidecar.call::<ThreadOpen>(&opening);
}

/// A turn under pressure in which a phase ends, and the sequence that follows. Returns the decision and the model of
/// the compaction.
fn turn(host: &mut StandIn, sidecar: &mut TestSidecar) -> (String, Option<String>) {
    let (mut decided, mut compacted_with) = (None, None);
    host.user_turn_with_boundaries();
    assert!(host.run_and(sidecar, |note| {
        if note.method == DecisionRecorded::METHOD {
            let recorded: DecisionRecordedNotification =
                serde_json::from_value(note.params.clone()).unwrap();
            let gate = |wanted: Gate| recorded.decision.gates.iter().find(|of| of.gate == wanted);
            let pressure = gate(Gate::Pressure).unwrap().evidence.clone();
            let mode = gate(Gate::Mode).unwrap().evidence.clone();
            decided.get_or_insert(format!("{pressure}; {mode}"));
        }
        if note.method == ActionPerform::METHOD {
            let asked: ActionPerformNotification =
                serde_json::from_value(note.params.clone()).unwrap();
            if let Action::Compact { model, .. } = asked.action {
                compacted_with = model;
            }
        }
    }));
    (decided.unwrap(), compacted_with)
}

/// The current value and its layer, without the folder.
fn effective(sidecar: &mut TestSidecar, key: &str) -> (Value, String) {
    let config = sidecar.call::<ConfigGet>(&ConfigGetParams { thread_id: Some(THREAD.to_owned()) });
    let entry = &config.effective[key];
    let layer = entry["layer"].as_str().unwrap();
    (entry["value"].clone(), layer.rsplit('/').next().unwrap().to_owned())
}

const MODE: &str = "rawr_auto_compaction.mode";

fn of_mode(mode: &str, layer: &str) -> (Value, String) {
    (mode.into(), layer.to_owned())
}

#[test]
fn a_thread_uses_the_table_of_its_model_and_the_record_names_it() {
    for (model, expected, compacted_with) in [
        (None, "25% left is below 65% (asap); auto", None),
        (Some("large"), "25% left is below 65% (asap); auto", None),
        (
            Some("small-1"),
            "25% left is below 55% (asap, set by model \"small*\"); tag: would compact here",
            None,
        ),
        (
            Some("small-2"),
            "25% left is below 55% (asap, set by model \"small*\"); auto",
            Some("tiny"),
        ),
    ] {
        let (home, mut host) = (TestHome::new(), StandIn::new(THREAD));
        home.configure(MODELS);
        let mut sidecar = TestSidecar::start(&home);
        open(&home, &mut sidecar, Role::Owner, model);
        let (decided, with) = turn(&mut host, &mut sidecar);
        assert_eq!((decided.as_str(), with.as_deref()), (expected, compacted_with), "{model:?}");
        sidecar.leave();
    }
}

#[test]
fn a_thread_that_is_reopened_with_another_model_uses_its_table() {
    let (home, mut host) = (TestHome::new(), StandIn::new(THREAD));
    home.configure(MODELS);
    let mut sidecar = TestSidecar::start(&home);
    for (model, mode) in [
        ("small-1", "tag: would compact here"),
        ("small-2", "auto"),
        ("small-3", "tag: would compact here"),
    ] {
        open(&home, &mut sidecar, Role::Owner, Some(model));
        let (decided, _) = turn(&mut host, &mut sidecar);
        assert!(decided.ends_with(mode), "{model}: {decided}");
    }
    sidecar.leave();
}

/// The host reports the model with the usage of a request, and the same report is already decided by the new rules.
#[test]
fn a_thread_whose_host_reports_another_model_uses_its_table() {
    let (home, mut host) = (TestHome::new(), StandIn::new(THREAD));
    home.configure(MODELS);
    let (mut sidecar, mut observer) = (TestSidecar::start(&home), TestSidecar::start(&home));
    observer.allow::<ThreadChanged>();
    open(&home, &mut sidecar, Role::Owner, None);
    open(&home, &mut observer, Role::Observer, None);
    for (model, mode, in_force) in [
        (Some("small-1"), "tag: would compact here", of_mode("tag", "rawr.toml, model small*")),
        (None, "tag: would compact here", of_mode("tag", "rawr.toml, model small*")),
        (Some("small-2"), "auto", of_mode("auto", "rawr.toml, model small-2")),
    ] {
        sidecar.call::<TurnUsage>(&TurnUsageParams {
            thread_id: THREAD.to_owned(),
            turn_id: "u".to_owned(),
            usage: Some(TokenUsage {
                context_tokens: 1_000,
                input_tokens: None,
                cached_input_tokens: None,
                output_tokens: None,
                reasoning_tokens: None,
                cache_seconds: None,
            }),
            context_window: None,
            compacts_above_tokens: None,
            model: model.map(str::to_owned),
            needs_follow_up: None,
            last_agent_message: None,
        });
        assert_eq!(effective(&mut sidecar, MODE), in_force, "{model:?}");
        assert_eq!(effective(&mut observer, MODE), in_force, "{model:?}");
        let (decided, _) = turn(&mut host, &mut sidecar);
        assert!(decided.ends_with(mode), "{model:?}: {decided}");
    }
    observer.leave();
    sidecar.leave();
}

#[test]
fn observers_see_the_model_that_the_host_reported() {
    let home = TestHome::new();
    home.configure(MODELS);
    let (mut owner, mut observer) = (TestSidecar::start(&home), TestSidecar::start(&home));
    observer.allow::<ThreadChanged>();
    open(&home, &mut owner, Role::Owner, Some("small-1"));
    open(&home, &mut observer, Role::Observer, Some("small-2"));
    let tagged = of_mode("tag", "rawr.toml, model small*");
    assert_eq!(effective(&mut observer, MODE), tagged);
    assert_eq!(effective(&mut owner, MODE), tagged);

    open(&home, &mut owner, Role::Owner, Some("small-2"));
    let automatic = of_mode("auto", "rawr.toml, model small-2");
    assert_eq!(effective(&mut observer, MODE), automatic);
    assert_eq!(effective(&mut owner, MODE), automatic);

    open(&home, &mut owner, Role::Owner, None);
    assert_eq!(effective(&mut observer, MODE), of_mode("auto", "built-in"));
    owner.leave();
    observer.leave();
}

#[test]
fn a_projects_threshold_is_named_in_the_record() {
    let (home, mut host) = (TestHome::new(), StandIn::new(THREAD));
    let project = "[rawr_auto_compaction]\nasap_percent_remaining_lt = 30\nmode = \"tag\"\n";
    fs::write(home.work().join(".rawr.toml"), project).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    open(&home, &mut sidecar, Role::Owner, None);
    let (decided, _) = turn(&mut host, &mut sidecar);
    assert_eq!(decided, "25% left is below 30% (asap, set by project); tag: would compact here");
    sidecar.leave();
}

#[test]
fn problems_of_a_models_table_are_reported_once_at_the_start() {
    let home = TestHome::new();
    home.configure(
        "[rawr_auto_compaction.models.small]\nmdoe = \"tag\"\nearly_percent_remaining_lt = 60\n",
    );
    let mut sidecar = TestSidecar::start(&home);
    open(&home, &mut sidecar, Role::Owner, Some("small"));
    let told: Vec<_> =
        sidecar.take::<LogMessage>().into_iter().map(|message| message.message).collect();
    let after_the_file = |message: &String| message.split_once("rawr.toml:").unwrap().1.to_owned();
    assert_eq!(
        told.iter().map(after_the_file).collect::<Vec<_>>(),
        [
            "2:1: unknown key `mdoe` in `[rawr_auto_compaction.models.\"small\"]`; did you mean `mode`?",
            "2:8: until this is fixed, `rawr_auto_compaction.mode` is \"tag\"",
            "3:30: early (below 60%) is never reached before ready (below 75%), for model small; \
             set the thresholds in descending order: early, ready, asap, emergency",
        ]
    );
    sidecar.leave();
}
