//! `rawr codex --preflight`: where a compaction is due before the next message, that message waits for the handoff. Whatever
//! goes wrong, it goes on.

use rawr_tests::Terminal;

use super::deaths::wait_until;
use super::lab::{HANDOFF, HEADS_UP, Lab, TASK, agent, leave, say_to};

/// A compaction comes before the next message and at no other time.
const BEFORE_THE_NEXT: &str =
    "[rawr_auto_compaction.policy.asap]\nrequires_any_boundary = [\"turn_complete\"]\n";

const NEXT: &str = "AND-NOW the docs";

/// A turn has ended, and a compaction is put off until the next message.
fn put_off(lab: &Lab) -> Terminal {
    lab.set(BEFORE_THE_NEXT);
    let mut terminal = lab.with_preflight();
    say_to(&mut terminal, TASK);
    terminal.wait_for(&["The parser is written."]);
    wait_until("a compaction put off", || lab.log().contains(r#""phase":"deferred""#));
    terminal
}

/// What stands there of the person's words and the handoff, in the model's newest request.
fn last_heard(lab: &Lab) -> Vec<&'static str> {
    const WORDS: [(&str, &str); 3] =
        [("WRITE-PARSER", "task"), (HANDOFF, "handoff"), (NEXT, "next")];
    let last = lab.requests().pop().unwrap();
    let messages = last.user_messages();
    let found = messages.iter().filter_map(|text| {
        WORDS.into_iter().find(|(word, _)| text.contains(word)).map(|(_, name)| name)
    });
    found.collect()
}

#[test]
fn the_next_message_waits_for_the_handoff() {
    let lab = Lab::new(agent());
    let mut terminal = put_off(&lab);
    assert_eq!(lab.compactions(), 0);
    say_to(&mut terminal, NEXT);
    let screen = terminal.wait_for(&["Here you are."]);
    let mut rest = screen.as_str();
    for words in [
        "The parser is written.",
        HEADS_UP,
        "Goal: a parser with docs",
        "Context compacted",
        HANDOFF,
        NEXT,
        "Here you are.",
    ] {
        let Some((_, after)) = rest.split_once(words) else {
            panic!("{words:?} does not stand where it should:\n{screen}\n{}", lab.log());
        };
        rest = after;
    }
    assert_eq!(last_heard(&lab), ["task", "handoff", "next"], "{}", lab.log());
    assert_eq!(lab.compactions(), 1);
    assert!(leave(&mut terminal).success());
}
