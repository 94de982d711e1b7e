//! From one source to the text that is used and its problems.

use super::*;
use expect_test::{Expect, expect};
use rawr_core::boundary::{Boundaries, Boundary};

fn told<'p>(source: &str, problems: impl IntoIterator<Item = &'p FileProblem>) -> String {
    let line = |problem: &FileProblem| {
        let at = problem.span.clone().and_then(|span| source.get(span));
        let at = at.map(|at| format!(" at {at:?}")).unwrap_or_default();
        let help = problem.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        format!("{:?}[{}]{at}: {}{help}\n", problem.severity, problem.code, problem.message)
    };
    problems.into_iter().map(line).collect()
}

/// `Ok` if the source can be used.
fn check(name: PromptName, source: &str, expected: Expect) -> Option<ParsedPrompt> {
    let parsed = parse(name, source, None);
    let (verdict, problems) = match &parsed {
        Ok(parsed) => ("used", &parsed.problems),
        Err(problems) => ("refused", problems),
    };
    expected.assert_eq(&format!("{verdict}\n{}", told(source, problems)));
    parsed.ok()
}

// rule: prompt.auto-compact
// rule: judgment.instructions
#[test]
fn front_matter_is_removed_and_parsed() {
    let source = "\u{feff}---\nversion: 1\ntrigger:\n  early_percent_remaining_lt: 80\n  auto_requires_any_boundary: [commit, topic_shift]\npacket:\n  max_tail_chars: 500\n---\n\nWrite it.\n\n";
    let parsed = check(
        PromptName::AutoCompact,
        source,
        expect![[r#"
            used
        "#]],
    )
    .unwrap();
    assert_eq!(parsed.text, "Write it.");
    let expected = PacketFrontMatter {
        early: Some(80),
        requires_any_boundary: Some(Boundaries::of(&[Boundary::Commit, Boundary::TopicShift])),
        max_tail_chars: Some(500),
        spans: parsed.packet.spans.clone(),
        ..PacketFrontMatter::default()
    };
    let places: Vec<_> = expected.spans.values().map(|span| &source[span.clone()]).collect();
    assert_eq!(places, ["500", "[commit, topic_shift]", "80", "1"]);
    assert_eq!(parsed.packet, expected);
    let json = serde_json::json!({
        "version": 1,
        "trigger": {"early_percent_remaining_lt": 80, "auto_requires_any_boundary": ["commit", "topic_shift"]},
        "packet": {"max_tail_chars": 500},
    });
    assert_eq!(parsed.front_matter.map(Value::Object), Some(json));
}

#[test]
fn windows_line_endings_are_kept() {
    let source = "---\r\npacket:\r\n  max_tail_chars: 5\r\n---\r\n\r\nWrite\r\nit.\r\n";
    let parsed = check(
        PromptName::AutoCompact,
        source,
        expect![[r#"
            used
        "#]],
    )
    .unwrap();
    assert_eq!((parsed.text.as_str(), parsed.packet.max_tail_chars), ("Write\r\nit.", Some(5)));
}

#[test]
fn empty_front_matter_sets_nothing() {
    check(
        PromptName::AutoCompact,
        "---\n---\nText",
        expect![[r#"
            used
        "#]],
    );
    check(
        PromptName::AutoCompact,
        "---\npacket:\ntrigger: ~\n---\nText",
        expect![[r#"
            used
        "#]],
    );
}

#[test]
fn front_matter_that_does_not_parse_refuses_the_file() {
    check(
        PromptName::AutoCompact,
        "---\npacket: [\n---\nText",
        expect![[r#"
            refused
            Error[front-matter] at "[": unclosed bracket '['
        "#]],
    );
    check(
        PromptName::AutoCompact,
        "---\nversion: 1\nversion: 1\n---\nText",
        expect![[r#"
            refused
            Error[front-matter] at "version": duplicate mapping key: version not allowed here
        "#]],
    );
    check(
        PromptName::AutoCompact,
        "---\n- a\n---\nText",
        expect![[r#"
            refused
            Error[front-matter] at "- a": the front matter is not a mapping of `key: value`
        "#]],
    );
    check(
        PromptName::AutoCompact,
        "---\nversion: 1\nText",
        expect![[r#"
        refused
        Error[front-matter] at "---": the front matter is not closed; close it with a line `---`
    "#]],
    );
}

#[test]
fn unknown_keys_of_the_front_matter_are_reported() {
    check(
        PromptName::AutoCompact,
        "---\ntriger: {}\npacket:\n  max_tail_char: 5\n---\nText",
        expect![[r#"
            used
            Warning[unknown-key] at "triger": unknown key `triger` in the front matter of auto-compact; did you mean `trigger`?
            Warning[unknown-key] at "max_tail_char": unknown key `max_tail_char` in the front matter of auto-compact; did you mean `max_tail_chars`?
        "#]],
    );
    check(
        PromptName::HeadsUp,
        "---\ntitle: é\n---\nText {reason}",
        expect![[r#"
            used
            Warning[unknown-key] at "title": unknown key `title` in the front matter of heads-up
        "#]],
    );
}

#[test]
fn wrong_values_of_the_front_matter_are_named() {
    let source = "---\ntrigger:\n  early_percent_remaining_lt: 101\n  ready_percent_remaining_lt: high\n  auto_requires_any_boundary: [comit]\npacket: 5\n---\nText";
    let parsed = check(PromptName::AutoCompact, source, expect![[r#"
        used
        Error[out-of-range] at "101": `trigger.early_percent_remaining_lt` must be from 0 to 100, but is 101
        Error[wrong-type] at "high": `trigger.ready_percent_remaining_lt` must be a whole number, but is a string
        Error[unknown-value] at "comit": `trigger.auto_requires_any_boundary` cannot be `comit`; did you mean `commit`?
        Error[wrong-type] at "5": `packet` must be a table, but is a whole number
    "#]]).unwrap();
    let spans = parsed.packet.spans.clone();
    let unread = BTreeSet::from([
        "packet.max_tail_chars",
        "trigger.auto_requires_any_boundary",
        "trigger.early_percent_remaining_lt",
        "trigger.ready_percent_remaining_lt",
    ]);
    assert_eq!(parsed.packet, PacketFrontMatter { spans, unread, ..PacketFrontMatter::default() });
}

#[test]
fn an_alias_bomb_in_front_matter_is_refused() {
    let mut yaml = String::from("---\na0: &a0 [x, x]\n");
    for level in 1..40 {
        let (this, last) = (level, level - 1);
        yaml += &format!("a{this}: &a{this} [*a{last}, *a{last}]\n");
    }
    assert!(parse(PromptName::AutoCompact, &format!("{yaml}---\nText"), None).is_err());
}

#[test]
fn unknown_placeholders_are_reported_and_stay_in_the_text() {
    let source = "{scratchFle} {packet} and { json } {\"a\": 1} {scratchFile} {thread_id}";
    let parsed = check(PromptName::ScratchWrite, source, expect![[r#"
        used
        Warning[unknown-placeholder] at "{scratchFle}": unknown placeholder `{scratchFle}` in scratch-write; did you mean `scratchFile`?
        Warning[unknown-placeholder] at "{packet}": unknown placeholder `{packet}` in scratch-write; use one of `{scratchFile}`, `{threadId}`
    "#]]).unwrap();
    assert_eq!(parsed.text, source);
    check(
        PromptName::Compact,
        "Sum up {it}.",
        expect![[r#"
            used
            Warning[unknown-placeholder] at "{it}": unknown placeholder `{it}` in compact; this prompt has no placeholders
        "#]],
    );
}

#[test]
fn a_prompt_without_its_required_placeholder_is_refused() {
    check(
        PromptName::Handoff,
        "Go on.",
        expect![[r#"
            refused
            Error[missing-placeholder] at "Go on.": missing placeholder `{packet}`; it is replaced with the continuation packet, word for word
            Hint[unused-placeholder] at "Go on.": the shipped text also uses `{author}`, `{resume}`, `{scratchFile}`
        "#]],
    );
    check(
        PromptName::ScratchWrite,
        "Write to {scratch_file}.",
        expect![[r#"
            used
        "#]],
    );
}

#[test]
fn a_placeholder_of_the_shipped_text_that_is_not_used_is_a_hint() {
    check(
        PromptName::HeadsUp,
        "We compact now.",
        expect![[r#"
            used
            Hint[unused-placeholder] at "We compact now.": the shipped text also uses `{reason}`
        "#]],
    );
}

#[test]
fn an_empty_file_is_refused() {
    check(
        PromptName::HeadsUp,
        " \n",
        expect![[r#"
        refused
        Error[empty-prompt] at "": the prompt is empty; delete the file to use the shipped text
    "#]],
    );
    check(
        PromptName::AutoCompact,
        "---\nversion: 1\n---\n",
        expect![[r#"
        refused
        Error[empty-prompt] at "": the prompt is empty; delete the file to use the shipped text
    "#]],
    );
}
