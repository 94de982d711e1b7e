//! Configuration while threads are open: edits apply at once, and a broken file changes nothing.

use super::{effective, expect_silence, start, write};
use rawr_protocol::methods::{
    ConfigChanged, ConfigGet, DecisionRecorded, PromptChanged, SequenceHeadsUp, ThreadChanged,
    ThreadGet,
};
use rawr_protocol::{ConfigGetParams, Phase, Problem, ThreadGetParams, Tier};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};

const READY: &str = "rawr_auto_compaction.policy.ready.percent_remaining_lt";
const MODE: &str = "rawr_auto_compaction.mode";

fn codes(problems: &[Problem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.code.as_str()).collect()
}

#[test]
fn every_configuration_file_is_reloaded_as_it_is_saved() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    home.configure("[rawr_auto_compaction.policy.ready]\npercent_remaining_lt = 55\n");
    assert_eq!(sidecar.expect::<ConfigChanged>().effective[READY]["value"], 55);
    assert_eq!(effective(&mut sidecar, READY), 55);
    let codex = home.path().join("config.toml");
    write(&codex, "model = \"x\"\n[rawr_auto_compaction]\nmode = \"ask\"\n");
    let changed = sidecar.expect::<ConfigChanged>();
    assert_eq!((&changed.effective[MODE]["value"], changed.problems), (&json!("ask"), vec![]));
    // Codex's own keys are not ours.
    write(&codex, "model = \"y\"\n[rawr_auto_compaction]\nmode = \"ask\"\n");
    expect_silence(&mut sidecar);
    std::fs::remove_file(home.path().join("rawr.toml")).unwrap();
    assert_eq!(sidecar.expect::<ConfigChanged>().effective[READY]["value"], 50);
    expect_silence(&mut sidecar);
    sidecar.leave();
}

#[test]
fn the_front_matter_of_the_packet_request_is_configuration_too() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    let file = home.path().join("auto-compact/auto-compact.md");
    let shipped = std::fs::read_to_string(&file).unwrap();
    let (_, body) = shipped.trim_start_matches("---\n").split_once("---\n").unwrap();
    write(&file, &format!("---\ntrigger:\n  ready_percent_remaining_lt: 66\n---\n{body}"));
    assert_eq!(sidecar.expect::<PromptChanged>().problems, []);
    assert_eq!(sidecar.expect::<ConfigChanged>().effective[READY]["value"], 66);
    expect_silence(&mut sidecar);
    sidecar.leave();
}

// rule: configuration.last-good-value
#[test]
fn the_last_valid_text_is_used_until_a_broken_file_is_fixed() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let mut sidecar = start(&home);
    let mut host = StandIn::new("t");
    assert!(host.open(&home, &mut sidecar));
    home.configure("[rawr_auto_compaction\nmode = \"tag\"\n");
    let changed = sidecar.expect::<ConfigChanged>();
    assert_eq!(codes(&changed.problems), ["syntax", "fails-closed"]);
    assert!(changed.problems[0].range.is_some(), "{changed:?}");
    assert_eq!(changed.effective[MODE]["value"], "ask");
    assert_eq!(of_thread(&mut sidecar, MODE), "ask");
    // A thread that is opened meanwhile uses the same.
    assert!(StandIn::new("later").open(&home, &mut sidecar));
    let later = ConfigGetParams { thread_id: Some("later".to_owned()) };
    let later = sidecar.call::<ConfigGet>(&later);
    assert_eq!((&later.effective[MODE]["value"], later.problems.len()), (&json!("ask"), 2));
    home.configure("[rawr_auto_compaction]\nmode = \"tag\"\nmodus = 1\n");
    let changed = sidecar.expect::<ConfigChanged>();
    assert_eq!(codes(&changed.problems), ["unknown-key"]);
    assert_eq!(changed.effective[MODE]["value"], "tag");
    assert_eq!(of_thread(&mut sidecar, MODE), "tag");
    home.configure("[rawr_auto_compaction]\nmode = \"tag\"\n");
    assert_eq!(sidecar.expect::<ConfigChanged>().problems, []);
    expect_silence(&mut sidecar);
    sidecar.leave();
}

fn of_thread(sidecar: &mut TestSidecar, key: &str) -> Value {
    let params = ConfigGetParams { thread_id: Some("t".to_owned()) };
    sidecar.call::<ConfigGet>(&params).effective[key]["value"].clone()
}

#[test]
fn a_projects_file_narrows_the_configuration_of_its_threads() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    let mut host = StandIn::new("t");
    assert!(host.open(&home, &mut sidecar));
    let file = home.work().join(".rawr.toml");
    write(&file, "[rawr_auto_compaction]\nmode = \"suggest\"\n");
    let changed = sidecar.expect::<ConfigChanged>();
    assert_eq!(changed.effective[MODE]["value"], "auto", "of no project");
    assert_eq!(of_thread(&mut sidecar, MODE), "suggest");
    write(&file, "[rawr_auto_compaction\n");
    assert_eq!(codes(&sidecar.expect::<ConfigChanged>().problems), ["syntax", "fails-closed"]);
    assert_eq!(of_thread(&mut sidecar, MODE), "suggest");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(sidecar.expect::<ConfigChanged>().problems, []);
    assert_eq!(of_thread(&mut sidecar, MODE), "auto");
    expect_silence(&mut sidecar);
    sidecar.leave();
}

/// The thread is in tier `asap`, until the threshold of `asap` changes.
#[test]
fn a_thread_changes_its_tier_with_the_configuration() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"tag\"\n");
    let mut sidecar = start(&home);
    let mut host = StandIn::new("t");
    assert!(host.open(&home, &mut sidecar));
    host.user_turn();
    assert!(host.run(&mut sidecar));
    sidecar.take_notes();
    home.configure("[rawr_auto_compaction]\nmode = \"tag\"\nasap_percent_remaining_lt = 20\n");
    let mut changes = 0;
    let changed = loop {
        let note = sidecar.next_note();
        if note.method == "rawr/thread/changed" {
            break note;
        }
        assert_eq!(note.method, "rawr/config/changed");
        changes += 1;
    };
    assert_eq!(changed.params["tier"], "ready");
    if changes == 0 {
        sidecar.expect::<ConfigChanged>();
    }
    let thread = sidecar.call::<ThreadGet>(&ThreadGetParams { thread_id: "t".to_owned() });
    assert_eq!(thread.thread.tier, Some(Tier::Ready));
    expect_silence(&mut sidecar);
    sidecar.leave();
}

/// A sequence waits for an answer; its deadline is shortened to less than the elapsed time.
#[test]
fn a_deadline_that_a_new_configuration_moves_into_the_past_fires() {
    let home = TestHome::new();
    let ask = "[rawr_auto_compaction]\nmode = \"ask\"\n";
    home.configure(ask);
    let mut sidecar = start(&home);
    let mut host = StandIn::new("t");
    assert!(host.open(&home, &mut sidecar));
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    sidecar.allow::<ThreadChanged>();
    sidecar.allow::<DecisionRecorded>();
    sidecar.allow::<SequenceHeadsUp>();
    sidecar.allow::<ConfigChanged>();
    let get = ThreadGetParams { thread_id: "t".to_owned() };
    assert_eq!(sidecar.call::<ThreadGet>(&get).thread.phase, Phase::AwaitingApproval);
    sidecar.take_notes();
    home.configure(&format!("{ask}[rawr_auto_compaction.deadlines]\napproval_seconds = 1\n"));
    while sidecar.wait_for::<ThreadChanged>().phase != Phase::Idle {}
    let log = home.lines("t").join("\n");
    assert!(log.contains("deadline_passed"), "{log}");
    assert!(log.contains("no answer came in time"), "{log}");
    sidecar.leave();
}
