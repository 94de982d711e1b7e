//! Tests of the keys that answer: their requests, confirmations and cancellation.

use super::*;

/// The requests that the keys cause if the thread is in this phase.
fn wished(phase: &str, guards: usize, keys: &str) -> Vec<(Choice, Option<Until>)> {
    let mut view = after([watching([json!({ "phase": phase })])]);
    view.threads[0].guards = guards;
    view.threads[0].sequence_id = Some("s1".to_owned());
    let choices = types(&mut view, keys).into_iter().filter_map(|wish| match wish {
        WatchRequest::Respond { choice, until, sequence_id, .. } => {
            assert_eq!(sequence_id.as_deref(), Some("s1"));
            Some((choice, until))
        }
        _ => None,
    });
    choices.collect()
}

#[test]
fn keys_are_answers() {
    let turn = Some(Until::Turns { turns: 1 });
    assert_eq!(wished("idle", 0, "s"), [(Choice::Snooze, turn)]);
    let minutes = Some(Until::Minutes { minutes: 20 });
    assert_eq!(wished("idle", 0, "S20m\n"), [(Choice::Snooze, minutes)]);
    assert_eq!(wished("idle", 0, "S\n3\n"), [(Choice::Snooze, Some(Until::Turns { turns: 3 }))]);
    assert_eq!(wished("idle", 0, "c"), [(Choice::CompactNow, None)]);
    assert_eq!(wished("idle", 0, "x"), [(Choice::Cancel, None)]);
    assert_eq!(wished("awaiting_packet", 0, "x"), []);
    assert_eq!(wished("awaiting_packet", 0, "xy"), [(Choice::Cancel, None)]);
    assert_eq!(wished("awaiting_packet", 0, "xny"), []);
    assert_eq!(wished("awaiting_packet", 0, "xs"), []);
}

#[test]
fn a_guard_is_set_or_after_a_question_cleared() {
    let mut view = after([watching([json!({})])]);
    assert!(matches!(types(&mut view, "g").as_slice(), [WatchRequest::Guard(_)]));
    view.threads[0].guards = 2;
    assert_eq!(types(&mut view, "g"), []);
    assert!(picture(&mut view, 80, 24).contains("Clear all 2 guards of t?"));
    assert!(matches!(types(&mut view, "y").as_slice(), [WatchRequest::ClearGuards(_)]));
}

#[test]
fn a_refusal_is_shown_until_the_next_key() {
    let mut view = full();
    view.handle(WatchNews::Refused("s1 was answered already: snooze, by vscode".into()), NOW);
    let words = "Refused: s1 was answered already: snooze, by vscode";
    assert!(picture(&mut view, 100, 30).contains(words));
    types(&mut view, "j");
    assert!(!picture(&mut view, 100, 30).contains(words));
}

#[test]
fn ways_out() {
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    for key in [KeyCode::Char('q').into(), KeyCode::Esc.into(), control_c] {
        let mut view = full();
        view.press(key);
        assert!(matches!(view.end, Some(ViewEnd::Left)), "{key:?}");
    }
    let mut view = full();
    types(&mut view, "S");
    view.press(control_c);
    assert!(matches!(view.end, Some(ViewEnd::Left)));
    view.handle(WatchNews::Lost(SidecarError::Ended { how: "signal 9".into() }), NOW);
    assert!(matches!(view.end, Some(ViewEnd::Lost(_))));
}
