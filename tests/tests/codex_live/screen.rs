//! What a person sees of a compaction on the screen of the unmodified Codex.

use super::lab::{GOES_ON, HANDOFF, HEADS_UP, Lab, TASK, agent, leave, say_to};

#[test]
fn one_typed_prompt_is_carried_across_a_compaction_on_the_screen() {
    let lab = Lab::new(agent());
    let mut terminal = lab.on_a_terminal(&[]);
    say_to(&mut terminal, TASK);
    let screen = terminal.wait_for(&[GOES_ON]);
    let mut rest = screen.as_str();
    for words in [
        TASK,
        "The parser is written.",
        HEADS_UP,
        "Goal: a parser with docs",
        "Context compacted",
        HANDOFF,
        "Next: write the docs of parser.txt",
        GOES_ON,
    ] {
        let Some((_, after)) = rest.split_once(words) else {
            panic!("{words:?} does not stand where it should:\n{screen}\n{}", lab.log());
        };
        rest = after;
    }
    assert_eq!(lab.repository.subjects()[0], "Add the parser");
    assert_eq!(lab.compactions(), 1);
    assert!(leave(&mut terminal).success());
}
