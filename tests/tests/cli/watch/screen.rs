//! The screen and its keys.

use rawr_protocol::methods::{
    DecisionRecorded, SequenceHeadsUp, SequenceRespond, SequenceResponded, ThreadChanged,
    ThreadList, ThreadWatch,
};
use rawr_protocol::{Choice, Phase, SequenceRespondParams, ThreadListParams, ThreadWatchParams};
use rawr_tests::{LaunchOptions, Terminal, TestHome, TestSidecar};

use super::{RunningHost, THREAD, asking_host, watch};

#[test]
fn a_banner_is_answered_and_the_terminal_is_restored() {
    let home = TestHome::new();
    let mut running = asking_host(&home);
    let mut terminal = Terminal::run(&watch(&home, &[]), 30, 100);
    terminal.wait_for(&["rawr watch · 1 thread", "run by", "test for stand-in"]);
    running.turn_with_boundaries();
    let text = terminal.wait_for(&["Waiting for your approval: t", "25% left · asap", "c Approve"]);
    assert!(text.contains("s Not now"), "{text}");
    terminal.press("s");
    terminal.wait_for(&["Snoozed: no compaction for 1 turn", "applies it now"]);
    terminal.wait_until_gone("Waiting for your approval: t");
    terminal.wait_for(&["phase      Idle", "guarded"]);
    let responded = home.recorded(THREAD, "responded");
    assert_eq!(responded.len(), 1);
    assert_eq!(responded[0]["choice"], "snooze");
    assert_eq!(responded[0]["by"], "rawr watch");
    running.sidecar.allow::<ThreadChanged>();
    running.sidecar.allow::<SequenceHeadsUp>();
    let heard = running.sidecar.wait_for::<SequenceResponded>();
    assert_eq!(heard.by.as_deref(), Some("rawr watch"));
    terminal.press("q");
    assert!(terminal.wait_for_a_clean_end().success());
    running.leave();
}

#[test]
fn an_approval_continues_the_sequence_which_is_shown_to_its_end() {
    let home = TestHome::new();
    let mut running = asking_host(&home);
    let mut terminal = Terminal::run(&watch(&home, &["last"]), 40, 120);
    running.turn_with_boundaries();
    terminal.wait_for(&["Waiting for your approval: t"]);
    terminal.press("c");
    terminal.wait_for(&["Approved: the compaction continues.", "▸ packet"]);
    while running.host.count("handoff") == 0 {
        running.sidecar.allow::<ThreadChanged>();
        assert!(running.host.run(&mut running.sidecar));
        running.sidecar.call::<ThreadList>(&ThreadListParams {});
    }
    terminal.wait_for(&["phase      Idle", "→ 12,000 tokens", "93% left"]);
    terminal.press("\r");
    terminal.wait_for(&["Waiting for your approval", "✓ Context pressure", "✓ Strong boundary"]);
    terminal.press("\u{1b}");
    terminal.wait_for(&["run by"]);
    terminal.press("\u{3}");
    assert!(terminal.wait_for_a_clean_end().success());
    running.leave();
}

#[test]
fn a_cancellation_is_confirmed_and_an_earlier_answer_is_reported() {
    let home = TestHome::new();
    let mut running = asking_host(&home);
    let mut terminal = Terminal::run(&watch(&home, &[]), 30, 100);
    running.turn_with_boundaries();
    terminal.wait_for(&["Waiting for your approval: t"]);
    terminal.press("x");
    terminal.wait_for(&["Cancel the compaction of t (Write the parser)?", "y yes · n no"]);
    terminal.press("n");
    terminal.wait_until_gone("Call off");
    terminal.press("x");
    terminal.wait_for(&["Cancel the compaction of t (Write the parser)?"]);
    let mut vscode = TestSidecar::spawn(&home, &LaunchOptions::default());
    vscode.greet("vscode");
    vscode.call::<ThreadWatch>(&ThreadWatchParams::default());
    let answer = SequenceRespondParams {
        thread_id: THREAD.to_owned(),
        choice: Choice::Cancel,
        sequence_id: None,
        turns: None,
        minutes: None,
        packet: None,
    };
    let phase = vscode.call::<SequenceRespond>(&answer).phase;
    assert!(matches!(phase, Phase::Idle | Phase::AwaitingApproval), "{phase}");
    terminal.wait_for(&["t: answered by vscode: Skip this one"]);
    terminal.wait_until_gone("Waiting for your approval: t");
    terminal.press("y");
    terminal.wait_for(&["Refused: ", "was already answered: cancel, by vscode"]);
    terminal.press("q");
    assert!(terminal.wait_for_a_clean_end().success());
    vscode.allow::<ThreadChanged>();
    vscode.allow::<DecisionRecorded>();
    vscode.leave();
    running.leave();
}

#[test]
fn a_guard_is_set_and_cleared_and_a_snooze_has_the_typed_length() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, THREAD);
    let mut terminal = Terminal::run(&watch(&home, &[]), 30, 100);
    terminal.wait_for(&["phase      Idle"]);
    terminal.press("g");
    terminal.wait_for(&["until it is cleared", "guarded"]);
    terminal.press("g");
    terminal.wait_for(&["Clear the guard of t?"]);
    terminal.press("y");
    terminal.wait_for(&["1 guard is cleared."]);
    terminal.wait_until_gone("guarded");
    terminal.press("S20m");
    terminal.wait_for(&["minutes as in 20m: 20m"]);
    terminal.press("\r");
    terminal.wait_for(&["Snoozed: no compaction for 20 minutes"]);
    terminal.press("q");
    assert!(terminal.wait_for_a_clean_end().success());
    running.leave();
}

#[test]
fn the_screen_adapts_to_the_size_of_the_terminal() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, THREAD);
    let mut terminal = Terminal::run(&watch(&home, &[]), 5, 20);
    terminal.wait_for(&["› t"]);
    terminal.resize(24, 80);
    terminal.wait_for(&["rawr watch · 1 thread", "run by", "q quit"]);
    terminal.resize(1, 1);
    terminal.resize(24, 80);
    terminal.press("?");
    terminal.wait_for(&["Keys", "this page"]);
    terminal.press("q");
    assert!(terminal.wait_for_a_clean_end().success());
    running.leave();
}

#[test]
fn there_are_colors_unless_they_are_disabled() {
    let home = TestHome::new();
    let mut running = RunningHost::on(&home, THREAD);
    running.turn_with_boundaries();
    let colored = |written: &str| {
        ["\u{1b}[38;5;", "\u{1b}[31m", "\u{1b}[32m"].iter().any(|code| written.contains(code))
    };
    for (value, expected) in [(None, true), (Some("1"), false)] {
        let mut command = watch(&home, &[]);
        if let Some(value) = value {
            command.env("NO_COLOR", value);
        }
        let mut terminal = Terminal::run(&command, 30, 100);
        terminal.wait_for(&["left · ", "run by"]);
        terminal.press("q");
        assert!(terminal.wait_for_a_clean_end().success());
        assert_eq!(colored(&terminal.written()), expected, "{:?}", terminal.written());
    }
    running.leave();
}
