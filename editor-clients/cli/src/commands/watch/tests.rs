//! Tests of the view's state and drawing after news and keys.

mod stepping_in;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use expect_test::{Expect, expect};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use rawr_protocol::{Choice, ThreadSummary, Until};
use serde_json::{Value, json};

use super::draw::Drawing;
use super::ink::ScreenColors;
use super::link::{ThreadDetails, WatchNews, WatchRequest};
use super::view::{View, ViewEnd};
use crate::render::LocalNow;
use rawr_host::sidecar::{SidecarError, SidecarNotification};

const NOW: i64 = 1_000_000_000;

fn now() -> LocalNow {
    LocalNow { ms: NOW, zone: jiff::tz::TimeZone::UTC }
}

fn summary(fields: Value) -> ThreadSummary {
    let mut thread = json!({ "threadId": "t", "cwd": "/code/parser", "phase": "idle",
        "updatedAtMs": NOW, "open": false, "running": false });
    set_fields(&mut thread, fields);
    serde_json::from_value(thread).unwrap()
}

fn set_fields(into: &mut Value, fields: Value) {
    for (name, field) in fields.as_object().unwrap() {
        into[name.as_str()] = field.clone();
    }
}

fn details(fields: Value) -> WatchNews {
    let mut thread = json!({ "thread": summary(json!({})) });
    let decisions = fields.get("decisions").cloned().unwrap_or_else(|| json!([]));
    set_fields(&mut thread, fields);
    WatchNews::Looked(Box::new(ThreadDetails {
        thread: serde_json::from_value(thread).unwrap(),
        decisions: serde_json::from_value(decisions).unwrap(),
    }))
}

fn decision(outcome: &str, reason: &str) -> Value {
    json!({ "decisionId": "d1", "outcome": outcome, "tier": "ready", "percentRemaining": 69,
        "reason": reason, "atMs": NOW - 65_000, "entrance": "turn_complete",
        "gates": [{ "gate": "pressure", "outcome": "pass", "evidence": "below 75%" },
            { "gate": "boundary", "outcome": "fail", "evidence": "none is present" }] })
}

/// A banner with the sidecar's texts.
fn heads_up(fields: Value) -> Value {
    let mut banner = json!({ "sequenceId": "s1", "stage": "will_compact", "title": "The title",
        "tier": "ready", "percentRemaining": 69, "reason": "a phase ended here (commit)",
        "message": "What happens next, in the words of the sidecar.", "boundaries": ["commit"],
        "choices": [{ "choice": "snooze", "label": "Later" }, { "choice": "cancel", "label": "Skip" }],
        "deadlineAtMs": NOW + 90_000, "deadlineLabel": "Goes on in" });
    set_fields(&mut banner, fields);
    banner
}

fn changed(fields: Value) -> WatchNews {
    let mut change = json!({ "threadId": "t", "phase": "awaiting_packet", "tier": "ready",
        "percentRemaining": 69, "sequenceId": "s1" });
    set_fields(&mut change, fields);
    WatchNews::Note(Box::new(SidecarNotification::Changed(serde_json::from_value(change).unwrap())))
}

fn responded(choice: &str) -> WatchNews {
    let answer = json!({ "threadId": "t", "sequenceId": "s1", "choice": choice, "by": "vscode" });
    WatchNews::Note(Box::new(SidecarNotification::Responded(
        serde_json::from_value(answer).unwrap(),
    )))
}

/// A view after this news.
fn after(news: impl IntoIterator<Item = WatchNews>) -> View {
    let mut view = View::default();
    for heard in news {
        view.handle(heard, NOW);
    }
    view
}

fn watching(threads: impl IntoIterator<Item = Value>) -> WatchNews {
    WatchNews::Watched(threads.into_iter().map(summary).collect())
}

fn press(view: &mut View, code: KeyCode) -> Vec<WatchRequest> {
    view.press(KeyEvent::new(code, KeyModifiers::NONE))
}

fn types(view: &mut View, keys: &str) -> Vec<WatchRequest> {
    let mut wishes = Vec::new();
    for key in keys.chars() {
        let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        wishes.extend(press(view, code));
    }
    wishes
}

fn picture(view: &mut View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let now = now();
    let drawing = Drawing { view, now: &now, ink: ScreenColors::Colored };
    let mut furthest = 0;
    terminal.draw(|frame| furthest = drawing.draw(frame)).unwrap();
    view.reaches(furthest);
    let drawn = terminal.backend().to_string();
    drawn.lines().map(|line| line.trim_matches('"').trim_end().to_owned() + "\n").collect()
}

fn check(view: &mut View, (width, height): (u16, u16), expected: Expect) {
    expected.assert_eq(&picture(view, width, height));
}

fn full() -> View {
    after([
        watching([
            json!({ "percentRemaining": 69, "tier": "ready", "owner": "codex (process 7)" }),
            json!({ "threadId": "docs", "updatedAtMs": NOW - 7_200_000, "percentRemaining": 93 }),
        ]),
        changed(json!({ "headsUp": heads_up(json!({})) })),
        details(json!({
            "thread": summary(json!({ "percentRemaining": 69, "tier": "ready",
                "phase": "awaiting_packet", "owner": "codex (process 7)" })),
            "sequenceId": "s1",
            "headsUp": heads_up(json!({})),
            "plan": [{ "step": "write the parser", "status": "completed" },
                { "step": "write the docs", "status": "in_progress" }],
            "guards": [{ "guardId": "g1", "until": { "kind": "next_commit" }, "setAtMs": NOW }],
            "decisions": [decision("nothing", "no boundary"), decision("compact", "69% left (ready) at commit")],
            "lastCompaction": { "atMs": NOW - 90_000, "origin": "rawr", "tokensBefore": 150_000,
                "tokensAfter": 12_000 },
        })),
    ])
}

#[test]
fn a_sequence_under_way() {
    check(
        &mut full(),
        (100, 32),
        expect![[r#"
            rawr watch · 2 threads · 1 compacting
            ╭ The title: t ────────────────────────────────────────────────────────────────────────────────────╮
            │ 69% left · ready · commit                                                                        │
            │                                                                                                  │
            │ What happens next, in the words of the sidecar.                                                  │
            │ Goes on in 90 s.                                                                                 │
            │ s Later · x Skip                                                                                 │
            ╰──────────────────────────────────────────────────────────────────────────────────────────────────╯
            › t guarded  codex (process 7)          │t  69% left · ready · just now
              69% left · Writing the packet         │  folder     /code/parser
              docs  2 h ago                         │  run by     codex (process 7)
              █████████░ 93% left                   │  phase      Writing the packet, sequence s1
                                                    │  guards     g1 until the next commit, set just now
                                                    │  decision   compaction decided: 69% left (ready) at commit
                                                    │  compacted  150,000 → 12,000 tokens, by rawr, 1 min ago
                                                    │
                                                    │  ✓ heads-up → ▸ packet → · compaction → · handoff
                                                    │  Goes on in 90 s.
                                                    │
                                                    │plan
                                                    │  ✓ write the parser
                                                    │  ▸ write the docs
                                                    │
                                                    │decisions
                                                    │  1 min ago  compaction decided: 69% left (ready) at commit
                                                    │  1 min ago  no compaction: no boundary
                                                    │
                                                    │
                                                    │
                                                    │
                                                    │
            ↑↓ thread · s snooze · c compact · x cancel · g guard · e why · ? help · q quit
        "#]],
    );
}

#[test]
fn a_pause_of_compactions_and_what_became_of_decisions() {
    let fate = |decision: &str, status: &str, text: &str| json!({ "decisionId": decision, "status": status, "text": text, "atMs": NOW - 20_000 });
    let mut called_off = decision("compact", "69% left (ready) at commit");
    called_off["fate"] = fate("d1", "called_off", "called off by rawr compact (cancelled)");
    let mut failed = decision("compact", "60% left (asap) at commit");
    set_fields(
        &mut failed,
        json!({ "decisionId": "d2",
        "fate": fate("d2", "failed", "failed: the compaction failed: HTTP 500") }),
    );
    let paused = json!({ "heldTier": "asap", "neededTier": "emergency", "strikes": 3,
        "reason": "the last 3 compactions failed",
        "endsWhen": "less than 15% is left (emergency), or a compaction frees enough" });
    let thread = json!({ "percentRemaining": 60, "tier": "asap", "breaker": paused,
        "lastFate": fate("d2", "failed", "failed: the compaction failed: HTTP 500") });
    let mut view = after([
        watching([json!({})]),
        details(json!({ "thread": summary(thread), "decisions": [called_off, failed] })),
    ]);
    check(
        &mut view,
        (110, 24),
        expect![[r#"
            rawr watch · 1 thread
            › t  just now                               │t  60% left · asap · just now
              ██████░░░░ 60% left · asap                │  folder     /code/parser
                                                        │  run by     no process
                                                        │  phase      Idle
                                                        │  decision   compaction decided: 60% left (asap) at commit
                                                        │  outcome    failed: the compaction failed: HTTP 500, 20 s ago
                                                        │  paused     the last 3 compactions failed
                                                        │             compacts again when less than 15% is left
                                                        │             (emergency), or a compaction frees enough
                                                        │
                                                        │decisions
                                                        │  1 min ago  compaction decided: 60% left (asap) at commit
                                                        │             → failed: the compaction failed: HTTP 500, 20 s ago
                                                        │  1 min ago  compaction decided: 69% left (ready) at commit
                                                        │             → called off by rawr compact (cancelled), 20 s ago
                                                        │
                                                        │
                                                        │
                                                        │
                                                        │
                                                        │
                                                        │
            ↑↓ thread · s snooze · c compact · x cancel · g guard · e why · ? help · q quit
        "#]],
    );
}

#[test]
fn a_narrow_terminal_has_one_below_the_other() {
    check(
        &mut full(),
        (50, 26),
        expect![[r#"
            rawr watch · 2 threads · 1 compacting
            ╭ The title: t ──────────────────────────────────╮
            │ 69% left · ready · commit                      │
            │                                                │
            │ What happens next, in the words of the         │
            │ sidecar.                                       │
            │ Goes on in 90 s.                               │
            │ s Later · x Skip                               │
            ╰────────────────────────────────────────────────╯
            › t guarded  codex (process 7)
              69% left · Writing the packet
              docs  2 h ago
              █████████░ 93% left




            ──────────────────────────────────────────────────
            t  69% left · ready · just now
              folder     /code/parser
              run by     codex (process 7)
              phase      Writing the packet, sequence s1
              guards     g1 until the next commit, set just
                         now
              decision   compaction decided: 69% left (ready)
            ↑↓ thread · s snooze · c compact · ? help · q quit
        "#]],
    );
}

#[test]
fn a_tiny_terminal_has_threads_alone() {
    check(
        &mut full(),
        (20, 5),
        expect![[r#"
            › t guarded  codex (
              69% left · Writin…
              docs  2 h ago
              █████████░ 93% lef

        "#]],
    );
}

#[test]
fn no_size_is_too_small() {
    let mut view = full();
    for page in ["", "?", "\u{1b}", "e"] {
        match page {
            "\u{1b}" => drop(press(&mut view, KeyCode::Esc)),
            keys => drop(types(&mut view, keys)),
        }
        for width in 1..40 {
            for height in 1..16 {
                picture(&mut view, width, height);
            }
        }
    }
}

#[test]
fn the_gates_are_explained_as_elsewhere() {
    let mut view = full();
    types(&mut view, "e");
    check(
        &mut view,
        (60, 16),
        expect![[r#"
            rawr watch · 2 threads · 1 compacting
            thread t · d1 · 1 min ago, at the end of a turn
            Compaction decided: 69% left (ready) at commit

              ✓ Context pressure below 75%
              ✗ Boundary         none is present

            The first gate that failed is “Boundary”: none is present.







            ↑↓ scroll · ←→ other decisions · Esc back · q quit
        "#]],
    );
    press(&mut view, KeyCode::Left);
    assert!(picture(&mut view, 60, 16).contains("No compaction: no boundary"));
    press(&mut view, KeyCode::Left);
    assert!(picture(&mut view, 60, 16).contains("No compaction: no boundary"));
    press(&mut view, KeyCode::Right);
    assert!(picture(&mut view, 60, 16).contains("Compaction decided"));
    press(&mut view, KeyCode::Esc);
    assert!(picture(&mut view, 100, 30).contains("run by"));
}

#[test]
fn a_page_is_scrolled_to_its_end_and_no_further() {
    let mut view = full();
    types(&mut view, "?");
    let first = picture(&mut view, 40, 10);
    for _ in 0..99 {
        types(&mut view, "j");
    }
    let last = picture(&mut view, 40, 10);
    assert!(last.contains("quit; the threads"), "{last}");
    press(&mut view, KeyCode::End);
    assert_eq!(picture(&mut view, 40, 10), last);
    press(&mut view, KeyCode::Home);
    assert_eq!(picture(&mut view, 40, 10), first);
}

#[test]
fn names_neither_steer_the_terminal_nor_burst_their_place() {
    let hostile = "e\u{1b}[2Jv\u{202e}il\u{7}";
    let mut view = after([watching([
        json!({ "threadId": hostile, "cwd": "/\u{1b}]0;x\u{7}", "owner": hostile }),
        json!({ "threadId": "文字が広い名前のスレッドです".repeat(9), "owner": "e\u{301}".repeat(99) }),
    ])]);
    let banner = heads_up(json!({ "title": hostile, "reason": hostile, "message": hostile,
        "choices": [{ "choice": "snooze", "label": hostile }], "deadlineLabel": hostile }));
    view.handle(changed(json!({ "threadId": hostile, "headsUp": banner })), NOW);
    view.handle(responded("snooze"), NOW);
    for (width, height) in [(100, 30), (50, 20), (21, 6), (7, 3)] {
        let drawn = picture(&mut view, width, height);
        let steers = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!drawn.chars().any(steers), "{drawn:?}");
    }
}

#[test]
fn a_thousand_threads_are_gone_through() {
    let mut view = after([watching(
        (0..1_000).map(|at| json!({ "threadId": format!("n{at}"), "updatedAtMs": NOW - at })),
    )]);
    assert!(picture(&mut view, 80, 24).contains("› n0 "));
    press(&mut view, KeyCode::End);
    assert!(picture(&mut view, 80, 24).contains("› n999 "));
    for _ in 0..500 {
        types(&mut view, "k");
    }
    let drawn = picture(&mut view, 80, 24);
    assert!(
        drawn.contains("› n499 ") && drawn.contains("n500 ") && drawn.contains("n498 "),
        "{drawn}"
    );
}

#[test]
fn the_thread_that_something_happens_in_comes_first_and_the_choice_stays() {
    let mut view = after([watching([
        json!({ "threadId": "a", "updatedAtMs": NOW - 1 }),
        json!({ "threadId": "b", "updatedAtMs": NOW - 2 }),
    ])]);
    view.handle(changed(json!({ "threadId": "b" })), NOW);
    let order: Vec<_> = view.threads.iter().map(|row| row.id()).collect();
    assert_eq!(order, ["b", "a"]);
    assert_eq!(view.selected.as_deref(), Some("a"));
}

#[test]
fn one_look_is_under_way_at_a_time_and_the_last_wish_counts() {
    let mut view = View::default();
    let threads = ["a", "b", "c"].map(|id| json!({ "threadId": id }));
    let asked = |wishes: Vec<WatchRequest>| -> Vec<String> {
        let looked = wishes.into_iter().filter_map(|wish| match wish {
            WatchRequest::Look(target) => Some(target.thread_id),
            _ => None,
        });
        looked.collect()
    };
    assert_eq!(asked(view.handle(watching(threads), NOW)), ["a"]);
    assert_eq!(asked(types(&mut view, "jj")), Vec::<String>::new());
    let of_a = details(json!({ "thread": summary(json!({ "threadId": "a" })) }));
    assert_eq!(asked(view.handle(of_a, NOW)), ["c"]);
    assert!(view.details.is_none());
    let of_c = details(json!({ "thread": summary(json!({ "threadId": "c" })) }));
    assert_eq!(asked(view.handle(of_c, NOW)), Vec::<String>::new());
    assert!(view.details.is_some());
}

#[test]
fn a_banner_is_what_the_sidecar_last_told() {
    let banner = |fields| changed(json!({ "headsUp": heads_up(fields) }));
    let mut view = after([watching([json!({})]), banner(json!({}))]);
    let drawn = picture(&mut view, 100, 30);
    assert!(drawn.contains("The title: t") && drawn.contains("Goes on in 90 s."), "{drawn}");
    assert!(drawn.contains("s Later · x Skip"), "{drawn}");
    // Neither an answer nor a decision changes the banner; only the sidecar does.
    view.handle(responded("snooze"), NOW);
    assert_eq!(view.said.as_ref().unwrap().text, "t: answered by vscode: Not now");
    view.handle(WatchNews::Done { thread_id: "t".into(), said: "Snoozed.".into() }, NOW);
    assert!(view.banner().is_some());
    let late =
        json!({ "title": "Another", "choices": [], "deadlineAtMs": null, "deadlineLabel": null });
    view.handle(banner(late), NOW);
    let drawn = picture(&mut view, 100, 30);
    assert!(drawn.contains("Another: t") && !drawn.contains("Later"), "{drawn}");
    assert!(!drawn.contains("Goes on in"), "{drawn}");
    view.handle(changed(json!({})), NOW);
    assert!(view.banner().is_none());
}

#[test]
fn a_banner_that_was_missed_is_found_with_the_thread() {
    let under_way = |banner: Value| {
        let thread = summary(json!({ "phase": "awaiting_approval" }));
        details(json!({ "thread": thread, "sequenceId": "s1", "headsUp": banner }))
    };
    let mut view = after([watching([json!({})]), under_way(heads_up(json!({})))]);
    assert!(view.banner().is_some());
    view.handle(under_way(Value::Null), NOW);
    assert!(view.banner().is_none());
}

#[test]
fn who_runs_what_and_which_threads_there_are_is_told() {
    let told = |threads: Vec<Value>, gone: Vec<&str>| {
        let threads: Vec<_> = threads.into_iter().map(summary).collect();
        let changed = json!({ "threads": threads, "gone": gone });
        WatchNews::Note(Box::new(SidecarNotification::ListChanged(
            serde_json::from_value(changed).unwrap(),
        )))
    };
    let mut view = after([watching([json!({})]), WatchNews::Listed(vec![summary(json!({}))])]);
    let wishes = view.handle(told(vec![json!({ "owner": "codex" })], vec![]), NOW);
    assert_eq!(view.threads[0].thread.owner.as_deref(), Some("codex"));
    assert!(!wishes.contains(&WatchRequest::List), "the list is not asked for again");
    view.handle(told(vec![json!({ "threadId": "u" })], vec!["t"]), NOW);
    let ids: Vec<_> = view.threads.iter().map(|row| row.id()).collect();
    assert_eq!(ids, ["u"]);
    view.handle(told(vec![], vec!["u"]), NOW);
    assert!(view.threads.is_empty() && view.selected.is_none());
    assert!(picture(&mut view, 80, 24).contains("no threads yet"));
}

#[test]
fn without_colors_there_are_none() {
    let view = full();
    for (ink, expected) in [(ScreenColors::Colored, true), (ScreenColors::Plain, false)] {
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        let now = now();
        let drawing = Drawing { view: &view, now: &now, ink };
        terminal
            .draw(|frame| {
                drawing.draw(frame);
            })
            .unwrap();
        let cells = terminal.backend().buffer().content();
        let colored = cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(colored, expected);
    }
}
