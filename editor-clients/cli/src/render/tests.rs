//! Tests of the transcript and the live line.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use rawr_protocol::{PlanStep, StepStatus, TurnStatus};
use serde_json::{Value, json};

use super::*;
use rawr_host::event::{InjectedText, LeftMessage, NextSteps, NoticeLevel};
use rawr_host::host::{HostEvent, TurnKind};
use rawr_protocol::ThreadChangedNotification;

#[derive(Clone, Default)]
struct SharedOutput(Arc<Mutex<Vec<u8>>>);

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A transcript without colors.
fn check(is_live: bool, show: impl FnOnce(&mut Renderer), expected: Expect) {
    check_on(|| None, Detail::Brief, is_live, show, expected);
}

fn check_on(
    columns: TerminalWidth,
    detail: Detail,
    is_live: bool,
    show: impl FnOnce(&mut Renderer),
    expected: Expect,
) {
    let page = SharedOutput::default();
    let mut renderer = Renderer::to_person(Box::new(page.clone()), is_live, columns, detail);
    show(&mut renderer);
    let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
    let text = text.replace("\r\u{1b}[2K", "<clear>");
    let text = anstream::adapter::strip_str(&text).to_string();
    // A margin, because expected lines may start with blanks.
    let lines = text.lines().map(|line| format!("|{line}\n"));
    expected.assert_eq(&lines.collect::<String>());
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn changed(phase: &str, percent: u8, tier: Option<&str>) -> ThreadChangedNotification {
    let mut changed = json!({
        "threadId": "t",
        "phase": phase,
        "percentRemaining": percent,
        "guards": [],
    });
    if let Some(tier) = tier {
        changed["tier"] = tier.into();
    }
    read(changed)
}

#[test]
fn the_meter_is_shown_when_it_moves_and_phases_when_they_begin() {
    check(
        false,
        |renderer| {
            for (phase, percent, tier) in [
                ("idle", 90, None),
                ("idle", 90, None),
                ("idle", 62, Some("asap")),
                ("awaiting_packet", 62, Some("asap")),
                ("compacting", 62, Some("asap")),
                ("idle", 95, None),
            ] {
                let changed = changed(phase, percent, tier);
                renderer.report(&SessionEvent::ThreadChanged(&changed)).unwrap();
            }
        },
        expect![[r#"
            |  context 90% left
            |  context 62% left · asap
            |  Writing the packet…
            |  Compacting…
            |  context 95% left
        "#]],
    );
}

#[test]
fn what_moves_is_cleared_before_anything_is_written() {
    check(
        true,
        |renderer| {
            let turn_id = "t1".to_owned();
            let started =
                HostEvent::TurnStarted { turn_id: turn_id.clone(), kind: TurnKind::Asked };
            renderer.report(&SessionEvent::Host(&started)).unwrap();
            renderer.tick().unwrap();
            let text = "hello\nthere".to_owned();
            let says = HostEvent::AgentMessage { turn_id: turn_id.clone(), text };
            renderer.report(&SessionEvent::Host(&says)).unwrap();
            let completed = HostEvent::TurnCompleted {
                turn_id,
                status: TurnStatus::Completed,
                last_agent_message: None,
                error: None,
                overflow: None,
            };
            renderer.report(&SessionEvent::Host(&completed)).unwrap();
            assert!(!renderer.is_live());
        },
        expect![[r#"
            |<clear>⠋ working…<clear>⠙ working…<clear>
            |• hello
            |  there
            |<clear>⠙ working…<clear>
        "#]],
    );
}

#[test]
fn of_a_plan_only_what_changed_is_shown_again() {
    let step = |step: &str, status| PlanStep { step: step.to_owned(), status };
    let plan = |first, second| HostEvent::PlanUpdated {
        turn_id: "t1".to_owned(),
        call_id: None,
        steps: vec![step("one", first), step("two", second)],
        explanation: None,
    };
    check(
        false,
        |renderer| {
            use StepStatus::{Completed, InProgress, Pending};
            for (first, second) in [(InProgress, Pending), (Completed, Pending)] {
                renderer.report(&SessionEvent::Host(&plan(first, second))).unwrap();
            }
        },
        expect![[r#"
            |
            |• Plan
            |  ▸ one
            |  · two
            |
            |• Plan
            |  ✓ one
        "#]],
    );
}

#[test]
fn a_banner_asks_with_its_choices() {
    let heads_up = read(json!({
        "threadId": "t",
        "sequenceId": "s1",
        "stage": "awaiting_approval",
        "title": "The title",
        "message": "What happens next.",
        "tier": "ready",
        "percentRemaining": 62,
        "reason": "a phase ended here (commit)",
        "boundaries": ["commit"],
        "packetAuthor": "agent",
        "choices": ["approve", "snooze", "cancel"],
    }));
    check(
        false,
        |renderer| renderer.report(&SessionEvent::HeadsUp(&heads_up)).unwrap(),
        expect![[r#"
            |╭─ The title ────────────────────────────────────────────────────────────────╮
            |│ What happens next.                                                         │
            |│ Your choices: Approve, Not now, Skip this one.                             │
            |╰────────────────────────────────────────────────────────────────────────────╯
        "#]],
    );
}

#[test]
fn frames_fit_the_terminal() {
    let heads_up = read(json!({
        "threadId": "t",
        "sequenceId": "s1",
        "stage": "will_compact",
        "title": "The title",
        "message": "What happens 次 next, in the words of the sidecar.",
        "reason": "a phase ended here (commit)",
        "boundaries": [],
        "packetAuthor": "agent",
        "choices": [],
    }));
    let injected = InjectedText {
        sequence_id: "s1",
        action_id: "a1",
        turn_id: Some("t1"),
        text: "The history will be compacted next: 日本語の文 too",
    };
    check_on(
        || Some(34),
        Detail::Full,
        false,
        |renderer| {
            renderer.report(&SessionEvent::HeadsUp(&heads_up)).unwrap();
            renderer.report(&SessionEvent::Handoff(injected)).unwrap();
        },
        expect![[r#"
            |╭─ The title ────────────────────╮
            |│ What happens 次 next, in the   │
            |│ words of the sidecar.          │
            |╰────────────────────────────────╯
            |
            |› rawr hands the packet back
            |  │ The history will be compacted
            |  │ next: 日本語の文 too
        "#]],
    );
}

#[test]
fn a_verdict_is_one_line_with_its_gates_only_in_full() {
    let decided = |entrance: &str| {
        read(json!({
            "threadId": "t",
            "decision": {
                "decisionId": "d1",
                "outcome": "nothing",
                "reason": "no boundary in this turn",
                "atMs": 0,
                "entrance": entrance,
                "gates": [
                    {"gate": "feature", "outcome": "pass", "evidence": "on"},
                    {"gate": "guard", "outcome": "bypassed", "evidence": "guard g1"},
                    {"gate": "boundary", "outcome": "fail", "evidence": "no boundary in this turn"},
                    {"gate": "mode", "outcome": "not_reached", "evidence": "too early"},
                ],
            },
        }))
    };
    let check = |detail: Detail, expected: Expect| {
        let show = |renderer: &mut Renderer| {
            for entrance in ["turn_complete", "mid_turn"] {
                renderer.report(&SessionEvent::Verdict(&decided(entrance))).unwrap();
            }
        };
        check_on(|| None, detail, false, show, expected);
    };
    check(
        Detail::Brief,
        expect![[r#"
            |  No compaction: no boundary in this turn
        "#]],
    );
    check(
        Detail::Full,
        expect![[r#"
            |  No compaction: no boundary in this turn
            |    ✓ Feature enabled  on
            |    ⤳ Guards           guard g1
            |    ✗ Boundary         no boundary in this turn
            |    – Mode             too early
            |  No compaction: no boundary in this turn
            |    ✓ Feature enabled  on
            |    ⤳ Guards           guard g1
            |    ✗ Boundary         no boundary in this turn
            |    – Mode             too early
        "#]],
    );
}

#[test]
fn a_command_is_shown_without_the_shell_around_it_and_to_its_end() {
    let ran = |command: &str| HostEvent::CommandFinished {
        turn_id: "t1".to_owned(),
        call_id: "c1".to_owned(),
        cwd: String::new(),
        command: command.to_owned(),
        exit_code: 0,
    };
    check(
        false,
        |renderer| {
            for command in [
                "/bin/bash -lc 'cargo test'",
                "/bin/zsh -lc \"printf '%s\\n' one two three four five six seven eight > notes.txt && git add -A && git commit -m 'Add the notes'\"",
                "bash -lc 'a' b",
                "bash script.sh",
                "./sh -c 'kept, too'",
                "echo -c 'kept'",
                "bash -lc 'never closed",
            ] {
                renderer.report(&SessionEvent::Host(&ran(command))).unwrap();
            }
        },
        expect![[r#"
            |$ cargo test  ✓
            |$ printf '%s\n' one two three four five six seven eight > notes.txt && git add -A &&
            |  git commit -m 'Add the notes'  ✓
            |$ bash -lc 'a' b  ✓
            |$ bash script.sh  ✓
            |$ ./sh -c 'kept, too'  ✓
            |$ echo -c 'kept'  ✓
            |$ bash -lc 'never closed  ✓
        "#]],
    );
}

#[test]
fn a_session_ends_with_what_to_do_next() {
    let steps = NextSteps {
        resume: Some("rawr codex resume t".to_owned()),
        explain: "rawr explain t --list".to_owned(),
    };
    check(
        false,
        |renderer| renderer.report(&SessionEvent::NextSteps(&steps)).unwrap(),
        expect![[r#"
            |
            |To continue: rawr codex resume t
            |Why rawr compacted, or did not: rawr explain t --list
        "#]],
    );
}

#[test]
fn a_models_words_do_not_steer_the_terminal() {
    check(
        false,
        |renderer| {
            let text = "\u{1b}[2J\u{1b}]0;title\u{7}plain".to_owned();
            let says = HostEvent::AgentMessage { turn_id: "t1".to_owned(), text };
            renderer.report(&SessionEvent::Host(&says)).unwrap();
            renderer
                .report(&SessionEvent::UserMessage { turn_id: "t1", text: "\u{9b}31mred" })
                .unwrap();
        },
        expect![[r#"
            |
            |• �[2J�]0;title�plain
            |
            |› �31mred
        "#]],
    );
}

#[test]
fn after_its_reader_is_gone_it_is_silent() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut renderer = Renderer::to_program(Box::new(Gone));
    let notice = SessionEvent::Notice { level: NoticeLevel::Info, message: "x" };
    assert!(renderer.report(&notice).is_err());
    assert!(renderer.report(&notice).is_ok());
}

#[test]
fn a_proposal_and_its_end_are_one_line_each() {
    let decision = |more: Value| {
        let mut fields = json!({ "decisionId": "d1", "outcome": "defer", "atMs": 0, "entrance": "preflight",
            "reason": "60% left (asap) at commit; your next message decides",
            "gates": [{ "gate": "confirmation", "outcome": "fail", "evidence": "not confirmed yet" }] });
        for (name, field) in more.as_object().unwrap() {
            fields[name.as_str()] = field.clone();
        }
        read::<rawr_protocol::DecisionRecordedNotification>(
            json!({ "threadId": "t", "decision": fields }),
        )
    };
    let phase = |phase: &str, more: Value| {
        let mut fields = serde_json::to_value(changed(phase, 60, Some("asap"))).unwrap();
        for (name, field) in more.as_object().unwrap() {
            fields[name.as_str()] = field.clone();
        }
        read::<ThreadChangedNotification>(fields)
    };
    let proposal = json!({ "proposal": { "decisionId": "d1", "confirm": "message",
        "text": "Compaction proposed (commit); your next message decides" } });
    let dropped = json!({ "outcome": "nothing", "proposalId": "d1",
        "reason": "proposed at commit; dropped, because the next message goes on with the same work (97%: 'still')" });
    let withdrawn = json!({ "lastFate": { "decisionId": "d1", "status": "called_off", "atMs": 0,
        "text": "called off by Neovim (cancelled)" } });
    check(
        true,
        |renderer| {
            for end in [Some(dropped), None] {
                let proposed = decision(json!({ "confirm": "message" }));
                renderer.report(&SessionEvent::Verdict(&proposed)).unwrap();
                let now = phase("proposed", proposal.clone());
                renderer.report(&SessionEvent::ThreadChanged(&now)).unwrap();
                assert!(!renderer.is_live());
                if let Some(fields) = &end {
                    renderer.report(&SessionEvent::Verdict(&decision(fields.clone()))).unwrap();
                }
                let fate = if end.is_some() { json!({}) } else { withdrawn.clone() };
                renderer.report(&SessionEvent::ThreadChanged(&phase("idle", fate))).unwrap();
            }
        },
        expect![[r#"
            |  context 60% left · asap
            |  Compaction proposed (commit); your next message decides
            |  proposed at commit; dropped, because the next message goes on with the same work (97%: 'still')
            |  Compaction proposed (commit); your next message decides
            |  the proposal was called off by Neovim (cancelled)
        "#]],
    );
}

#[test]
fn messages_that_the_agent_did_not_get_are_named() {
    let show = |renderer: &mut Renderer| {
        for (text, fate) in [
            ("Next, the docs.", LeftMessage::Kept),
            ("and its tests\nin one file", LeftMessage::NotSent),
        ] {
            renderer.report(&SessionEvent::MessageLeft { text, fate }).unwrap();
        }
    };
    check(
        false,
        show,
        expect![[r#"
        |  sent when you continue: Next, the docs.
        |
        |not sent: and its tests
        |  in one file
    "#]],
    );
}
