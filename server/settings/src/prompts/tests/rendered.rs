//! The shipped prompts rendered for one example thread, as the agent and the judge read them.

use super::*;
use expect_test::expect_file;
use std::fmt::Write;

/// By camelCase name.
const THREAD: [(&str, &str); 25] = [
    ("author", "the agent"),
    ("boundariesJson", r#"["commit","plan_checkpoint"]"#),
    ("changes", "branch parser, 2 commits: Add the parser; Test the parser"),
    ("directives", "- Never touch the lock file.\n- Always run the tests first."),
    ("done", "- commit 1a2b3c4: Add the parser"),
    ("firstMessage", "Write a parser with docs."),
    ("goal", "Write a parser with docs."),
    ("lastAgentMessage", "The parser is written and committed. Next come its docs."),
    ("liveState", "- uncommitted files: 0\n- the last check passed"),
    ("modelContextWindow", "272000"),
    ("nextMessage", "commit and push"),
    (
        "packet",
        "```text\nState: working\nGoal: a parser with docs\nDone: src/parser.rs, commit 1a2b3c4, 31 tests pass\n\
         Decisions: no regular expressions, they cannot say where an error is\nDirectives: Never touch the lock file.\n\
         Open: none\nNext: write docs/parser.md\n```",
    ),
    ("finished", "Finished last: write the parser. "),
    ("percentRemaining", "69"),
    ("plan", "[x] write the parser\n[>] write its docs"),
    ("planTrail", "[x] write the parser\n[>] write its docs"),
    ("reason", "a phase of the work has ended"),
    ("resume", "Go on with the next step of the packet."),
    ("scratchFile", ".scratch/agent-delta.scratch.md"),
    ("state", "working"),
    ("threadId", "0199-a1"),
    ("tier", "ready"),
    ("totalUsageTokens", "84320"),
    (
        "transcriptExcerpt",
        "user: Write a parser with docs.\nagent: The parser is written and committed.",
    ),
    ("turnId", "turn-7"),
];

pub(super) fn rendered(prompt: &Prompt) -> String {
    let value =
        |name: &str| THREAD.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    for placeholder in prompt.name.placeholders() {
        assert!(value(placeholder.camel).is_some(), "no example for {}", placeholder.camel);
    }
    rawr_core::prompt::render(prompt.name, &prompt.text, value)
}

/// Exactly, with the encoding of current models.
pub(super) fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

#[test]
fn shipped_prompts_render_to_this() {
    let mut said = String::new();
    for prompt in PromptSet::shipped().iter() {
        let text = rendered(prompt);
        let name = prompt.name.name();
        write!(said, "======== {name}: {} tokens\n{text}\n", tokens(&text)).unwrap();
    }
    // To rewrite it: UPDATE_EXPECT=1 cargo nextest run -p rawr-server shipped_prompts_render_to_this
    expect_file!["rendered.txt"].assert_eq(&said);
}

/// Each of these tokens is paid for in every compaction.
#[test]
fn shipped_prompts_stay_within_their_tokens() {
    for (name, most) in [
        (PromptName::AutoCompact, 545),
        (PromptName::HeadsUp, 70),
        (PromptName::ScratchWrite, 80),
        (PromptName::Judgment, 430),
        (PromptName::JudgmentContext, 190),
        (PromptName::WatcherPacket, 140),
        (PromptName::Handoff, 110),
        (PromptName::CalledOff, 55),
        (PromptName::Compact, 160),
        (PromptName::SummaryPrefix, 40),
    ] {
        let found = tokens(&PromptSet::shipped().get(name).text);
        assert!(found <= most, "{} has {found} tokens", name.name());
    }
}

#[test]
fn the_packet_request_asks_for_everything_needed_to_continue() {
    let set = PromptSet::shipped();
    let text = &set.get(PromptName::AutoCompact).text;
    let form = text.split(['<', '>']).nth(2).unwrap().lines();
    let lines: Vec<_> = form.filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    let parts = [
        "State",
        "Goal",
        "Done",
        "Decisions",
        "Failed",
        "Exact",
        "Directives",
        "Unchecked",
        "Open",
        "Next",
    ];
    assert_eq!(lines, parts);
    for words in [
        "what must stay true",
        "word for word",
        "the single next step",
        "working, waiting_for_user or done",
        "Never put a password, key or token in it",
    ] {
        assert!(text.contains(words), "{words}");
    }
}
