//! What a judgment records: its own costs. And what it must not: a trace in the transcript, the key anywhere, the
//! conversation in a log.

use super::fixture::{JudgmentFixture, KEY, NO, SAID, TierPressure, WIRES, YES, performed};
use rawr_protocol::JudgmentTotals;
use rawr_tests::mock_endpoint::{Mock, reply};
use std::fs;
use std::path::Path;

#[test]
fn costs_of_judgments_are_separate_from_the_threads() {
    for wire in WIRES {
        let limited = |left: &str| wire.said(NO).with("x-ratelimit-remaining-tokens", left);
        let refused = reply(401, "no such key");
        let endpoint = Mock::start_apart(vec![limited("900"), refused, limited("800")]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        assert_eq!(lab.totals(), None);
        for expected in [
            "asked 1, failed 0, tokens 40 and 9, x-ratelimit-remaining-tokens 900",
            "asked 2, failed 1, tokens 40 and 9, x-ratelimit-remaining-tokens 900",
            "asked 3, failed 1, tokens 80 and 18, x-ratelimit-remaining-tokens 800",
        ] {
            lab.turn(TierPressure::Ready);
            lab.settled();
            assert_eq!(told(&lab.totals().unwrap()), expected);
            assert_eq!(lab.get().thread.percent_remaining, Some(70));
        }
        lab.leave();
    }
}

fn told(totals: &JudgmentTotals) -> String {
    let JudgmentTotals { calls, failures, input_tokens, output_tokens, rate_limits } = totals;
    let limits = rate_limits.iter().map(|limit| format!("{} {}", limit.name, limit.value));
    let limits: Vec<_> = limits.collect();
    format!(
        "asked {calls}, failed {failures}, tokens {input_tokens} and {output_tokens}, {}",
        limits.join(", ")
    )
}

#[test]
fn a_judgment_injects_nothing_and_belongs_to_no_turn() {
    for wire in WIRES {
        for text in [NO, "no judgment at all"] {
            let endpoint = Mock::start_apart(vec![wire.said(text)]);
            let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
            lab.turn(TierPressure::Ready);
            assert_eq!(performed(&lab.settled()), []);
            assert_eq!(lab.get().pending_actions, []);
            for kind in ["turn_started", "turn_completed"] {
                assert_eq!(lab.records_of(kind).len(), 1, "{kind}");
            }
            lab.leave();
        }
    }
}

// rule: client.title-not-logged
#[test]
fn the_key_is_in_no_file_and_the_conversation_in_no_log() {
    for wire in WIRES {
        let repeated = format!(r#"{{"error": {{"message": "wrong key {KEY}", "code": "{KEY}"}}}}"#);
        let replies = [
            reply(401, repeated),
            wire.said(&format!("{KEY} is no JSON")),
            wire.said(&YES.replace("committed", KEY)),
        ];
        let endpoint = Mock::start_apart(replies.to_vec());
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        for _ in 0..3 {
            lab.turn(TierPressure::Ready);
            lab.settled();
        }
        assert!(
            endpoint.seen().iter().all(|seen| seen.authorization == Some(format!("Bearer {KEY}")))
        );
        let log = lab.sidecar.log();
        for words in [KEY, SAID, "Write the parser", "heliotrope"] {
            assert!(!log.contains(words), "{words}: {log}");
        }
        let home = lab.home.path();
        lab.sidecar.take_notes();
        let said = lab.sidecar.told();
        assert!(!said.contains(KEY), "{said}");
        check_files(&home);
        lab.leave();
    }
}

fn check_files(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_files(&path);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(KEY), "{}", path.display());
        }
    }
}
