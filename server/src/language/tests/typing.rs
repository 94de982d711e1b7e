//! Hover and completion, in complete and incomplete texts.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The label of each proposal and the resulting line at the cursor.
fn check(kind: DocumentKind, marked: &str, expected: &[&str]) {
    for variant in variants(marked) {
        let (text, at) = cursor(&variant);
        let proposals = with(kind, &text, |doc, _| complete(doc, at));
        let applied = |proposal: &Proposal| {
            let mut text = text.clone();
            text.replace_range(proposal.span.clone(), &proposal.text);
            let start = text[..proposal.span.start].rfind('\n').map_or(0, |end| end + 1);
            text[start..]
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches('\u{feff}')
                .to_owned()
        };
        let found: Vec<_> = proposals.iter().map(applied).collect();
        for line in expected {
            assert!(found.iter().any(|of| of == line), "{line:?} is not in {found:#?}\n{text:?}");
        }
        assert_eq!(expected.is_empty(), found.is_empty(), "{found:#?}\n{text:?}");
    }
}

fn only(kind: DocumentKind, marked: &str, expected: &[&str]) {
    check(kind, marked, expected);
    let (text, at) = cursor(marked);
    let found = with(kind, &text, |doc, _| complete(doc, at).len());
    assert_eq!(found, expected.len(), "{text:?}");
}

const HEADS_UP: DocumentKind = DocumentKind::Prompt(PromptName::HeadsUp);
const PACKET: DocumentKind = DocumentKind::Prompt(PromptName::AutoCompact);

#[test]
fn placeholders_are_proposed_behind_a_brace() {
    only(
        HEADS_UP,
        "\u{1f980} {|",
        &["\u{1f980} {reason}", "\u{1f980} {finished}", "\u{1f980} {threadId}"],
    );
    only(HEADS_UP, "a {rea|} b", &["a {reason} b", "a {finished} b", "a {threadId} b"]);
    only(HEADS_UP, "a { |", &[]);
    only(HEADS_UP, "reason|", &[]);
    only(DocumentKind::Decision, "{|", &[]);
}

#[test]
fn placeholders_follow_the_spelling_of_the_file() {
    only(PACKET, "{scratch_file}\n{|", &["{scratch_file}", "{thread_id}"]);
    only(PACKET, "{scratchFile}\n{|", &["{scratchFile}", "{threadId}"]);
    only(PACKET, "{thread_|", &["{scratch_file}", "{thread_id}"]);
}

#[test]
fn keys_of_the_table_are_proposed() {
    check(RAWR, "[rawr_auto_compaction]\nmo|", &["mode", "policy", "mid_turn"]);
    check(RAWR, "[rawr_auto_compaction]\n\tmo| = 1\n[auto_compact]", &["\tmode = 1"]);
    only(
        RAWR,
        "[auto_compact]\nen| = true # \u{1f980}",
        &[
            "enabled = true # \u{1f980}",
            "threshold_percent = true # \u{1f980}",
            "interrupt_mid_turn = true # \u{1f980}",
        ],
    );
    check(RAWR, "[rawr_auto_compaction]\npolicy.early.|", &["policy.early.percent_remaining_lt"]);
    check(RAWR, "[rawr_auto_compaction]\npolicy.|\nmode = \"x", &["policy.early", "policy.asap"]);
    check(RAWR, "a = \"broken\n[rawr_auto_compaction.models.\"x*\"]\n|", &["mode", "policy"]);
    check(RAWR, "[rawr_auto_compaction]\njudgment = { |", &["judgment = { backend"]);
    only(RAWR, "[nothing.of.ours]\nx|", &[]);
    only(RAWR, "# mo|", &[]);
}

#[test]
fn keys_for_all_models_are_not_proposed_for_one() {
    let text = "[rawr_auto_compaction.models.x]\n|";
    let (text, at) = cursor(text);
    let labels = with(RAWR, &text, |doc, _| {
        complete(doc, at).into_iter().map(|proposal| proposal.label).collect::<Vec<_>>()
    });
    assert!(labels.iter().any(|label| label == "mode"), "{labels:?}");
    assert!(
        !labels.iter().any(|label| label == "retention_days" || label == "prompts"),
        "{labels:?}"
    );
}

#[test]
fn tables_are_proposed_in_headers_and_at_the_start_of_a_line() {
    check(RAWR, "[|", &["[rawr_auto_compaction]", "[rawr_auto_compaction.policy.early]"]);
    check(RAWR, "[rawr_auto_compaction.pol|\nmode = 1", &["[rawr_auto_compaction.policy.early]"]);
    check(RAWR, "[rawr_auto_compaction.policy.|]", &["[rawr_auto_compaction.policy.ready]"]);
    check(RAWR, "|", &["[features]", "rawr_auto_compaction"]);
    only(RAWR, "[auto_compact]|", &[]);
}

#[test]
fn values_are_proposed_by_the_type_of_the_key() {
    let table = "[rawr_auto_compaction]\n";
    let value = |line: &str, expected: &[&str]| only(RAWR, &format!("{table}{line}"), expected);
    let modes = ["mode = \"tag\"", "mode = \"suggest\"", "mode = \"ask\"", "mode = \"auto\""];
    value("mode = |", &modes);
    value("mode = \"|\"", &modes);
    value("mode = \"au|", &modes);
    value("mode =|", &["mode =\"tag\"", "mode =\"suggest\"", "mode =\"ask\"", "mode =\"auto\""]);
    value(
        "turn_based_handoff = tr|\n[x",
        &["turn_based_handoff = true", "turn_based_handoff = false"],
    );
    value("cooldown_turns = |", &["cooldown_turns = 1"]);
    value(
        "models.\"a.b\".mode = '|'",
        &[
            "models.\"a.b\".mode = 'tag'",
            "models.\"a.b\".mode = 'suggest'",
            "models.\"a.b\".mode = 'ask'",
            "models.\"a.b\".mode = 'auto'",
        ],
    );
    value("mode = \"auto\" |", &[]);
    value("unknown = |", &[]);
}

#[test]
fn boundaries_are_proposed_inside_and_instead_of_a_list() {
    let table = "[rawr_auto_compaction.policy.early]\n";
    let value = |line: &str, expected: &[&str]| check(RAWR, &format!("{table}{line}"), expected);
    value("requires_any_boundary = |", &["requires_any_boundary = [\"plan_update\"]"]);
    value("requires_any_boundary = [\"plan|\"]", &["requires_any_boundary = [\"plan_update\"]"]);
    value(
        "requires_any_boundary = [\"topic_shift\", |",
        &["requires_any_boundary = [\"topic_shift\", \"plan_update\""],
    );
    value("requires_any_boundary = [\n  \"pl|", &["  \"plan_update\""]);
    let (text, at) = cursor("[rawr_auto_compaction.policy.early]\nrequires_any_boundary = [|]");
    let labels = with(RAWR, &text, |doc, _| {
        complete(doc, at).into_iter().map(|proposal| proposal.label).collect::<Vec<_>>()
    });
    assert_eq!(
        labels,
        [
            "commit",
            "pushed",
            "merged",
            "branch_changed",
            "tests_green",
            "phase_ended",
            "plan_checkpoint",
            "plan_update",
            "pr_checkpoint",
            "agent_done",
            "topic_shift",
            "concluding_thought",
            "turn_complete"
        ]
    );
}

#[test]
fn in_codexs_file_only_our_keys_are_proposed() {
    let kind = DocumentKind::Config(ConfigFile::Host);
    check(kind, "[features]\n|", &["rawr_auto_compaction"]);
    only(kind, "[tools]\n|x", &[]);
}

#[test]
fn front_matter_is_proposed_by_indentation() {
    only(PACKET, "---\n|\n---\nText", &["version: ", "trigger:", "packet:"]);
    check(PACKET, "---\ntrigger:\n  |\n---\nText", &["  early_percent_remaining_lt: "]);
    check(PACKET, "---\ntrigger:\n  ea|: 3\n---\nText", &["  early_percent_remaining_lt: 3"]);
    check(
        PACKET,
        "---\ntrigger:\n  auto_requires_any_boundary: [com|",
        &["  auto_requires_any_boundary: [commit"],
    );
    check(
        PACKET,
        "---\ntrigger:\n  auto_requires_any_boundary: |\n---\nT",
        &["  auto_requires_any_boundary: [commit]"],
    );
    check(
        PACKET,
        "---\ntrigger:\n  auto_requires_any_boundary:\n    - co|\n---\nT",
        &["    - commit"],
    );
    only(PACKET, "---\n# ver|\n---\nText", &[]);
    only(HEADS_UP, "---\n|\n---\nText", &[]);
}

/// Checks that the hover text contains these words, and its range.
fn told(kind: DocumentKind, marked: &str, expected: &[&str]) {
    for variant in variants(marked) {
        let (text, at) = cursor(&variant);
        let at = at - text_marks(&variant, at);
        let (text, spans) = unmarked(&text);
        let values = PlaceholderValues {
            thread: "t-1".to_owned(),
            model: None,
            values: BTreeMap::from([("threadId", "t-1".to_owned()), ("goal", "`".repeat(3))]),
        };
        let found = with(kind, &text, |doc, world| hover(doc, world, Some(&values), at));
        let Some(found) = found else {
            assert!(expected.is_empty(), "no hover in {text:?}");
            continue;
        };
        assert_eq!(Some(&found.span), spans.first(), "{text:?}");
        for words in expected {
            assert!(found.markdown.contains(words), "{words:?} is not in {}", found.markdown);
        }
        assert!(!expected.is_empty(), "{}", found.markdown);
    }
}

fn text_marks(text: &str, at: usize) -> usize {
    text[..at].matches(['⟦', '⟧']).map(str::len).sum()
}

#[test]
fn a_placeholder_shows_its_meaning_and_its_value() {
    told(
        HEADS_UP,
        "\u{1f980} ⟦{thr|ead_id}⟧",
        &["the host's id of the thread", "```text\nt-1\n```"],
    );
    told(HEADS_UP, "⟦|{reason}⟧", &["No value in thread `t-1` now"]);
    told(HEADS_UP, "{nothing|}", &[]);
    told(DocumentKind::Prompt(PromptName::WatcherPacket), "⟦{goal|}⟧", &["````text\n```\n````"]);
}

#[test]
fn without_a_thread_a_placeholder_has_no_value() {
    let found = with(HEADS_UP, "{reason}", |doc, world| hover(doc, world, None, 2)).unwrap();
    assert!(found.markdown.contains("No thread to read its value from."), "{}", found.markdown);
}

#[test]
fn a_long_value_is_truncated() {
    let value = "é".repeat(1000);
    let values = BTreeMap::from([("reason", value)]);
    let values = PlaceholderValues { thread: "t".to_owned(), model: None, values };
    let found =
        with(HEADS_UP, "{reason}", |doc, world| hover(doc, world, Some(&values), 2)).unwrap();
    assert!(found.markdown.ends_with("… and 600 more characters"), "{}", found.markdown);
}

#[test]
fn a_key_shows_its_type_default_and_value() {
    told(
        RAWR,
        "# \u{1f980}\n[rawr_auto_compaction]\n⟦mo|de⟧ = \"tag\"\n",
        &[
            "`rawr_auto_compaction.mode`: one of `\"tag\"`, `\"suggest\"`",
            "What happens when rawr decides to compact",
            "Default: `\"auto\"`. Current value: `\"tag\"`, set by ",
            "rawr.toml.",
        ],
    );
    told(
        RAWR,
        "[rawr_auto_compaction.policy]\nearly.percent_remaining_lt = ⟦\"80|%\"⟧",
        &["Current value: `80`"],
    );
    told(
        RAWR,
        "[rawr_auto_compaction]\n⟦early_percent_remaining_|lt⟧ = 70",
        &["Default: `60`. Current value: `70`"],
    );
    told(
        RAWR,
        "[rawr_auto_compaction.models.\"m*\"]\n⟦mo|de⟧ = \"ask\"",
        &["Current value for `m*`: `\"ask\"`, set by ", ", model m*."],
    );
    told(RAWR, "[rawr_auto_compaction]\n⟦mo|de⟧ = \"tag", &["Current value: `\"tag\"`, set by "]);
    told(RAWR, "[rawr_auto_compaction]\nmode = \"tag\" |", &[]);
    told(RAWR, "[rawr_auto|_compaction]", &[]);
    told(
        RAWR,
        "⟦[rawr_auto_compaction.dead|lines]⟧ # x",
        &["How many seconds each phase may take"],
    );
    told(RAWR, "⟦[rawr_auto_compaction.models.\"a|\"]⟧", &["For threads with one model"]);
}

#[test]
fn a_front_matter_key_shows_what_overrides_it() {
    told(
        PACKET,
        "---\ntrigger:\n  ⟦early_percent|_remaining_lt⟧: 90\n---\nText",
        &[
            "percentage of the window below which early starts",
            "`rawr_auto_compaction.early_percent_remaining_lt` takes precedence",
            "Current value: `90`",
        ],
    );
    told(PACKET, "---\n⟦version|⟧: 1\n---\nText", &["of the format of the front matter"]);
    told(PACKET, "---\ntrigger|:\n---\nText", &[]);
}

/// Fragments that our texts consist of, or that break them.
fn pieces() -> impl Strategy<Value = String> {
    const ALL: [&str; 30] = [
        "---\n",
        "trigger:\n",
        "  ",
        "version: ",
        "[",
        "]",
        "{",
        "}",
        "{reason}",
        "\"",
        "'",
        "\"\"\"",
        "=",
        " = ",
        ".",
        ",",
        "#",
        "\n",
        "\r\n",
        "\r",
        "\u{feff}",
        "\u{1f980}",
        "é",
        "\t",
        "mode",
        "\"auto\"",
        "[rawr_auto_compaction.models.\"x\"]\n",
        "[rawr_auto_compaction]\n",
        "policy.early",
        "requires_any_boundary = [",
    ];
    proptest::collection::vec(proptest::sample::select(&ALL[..]), 0..20)
        .prop_map(|pieces| pieces.concat())
}

fn inside(text: &str, span: &Range<usize>) -> bool {
    span.start <= span.end && text.get(span.clone()).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_text_is_answered_with_ranges_inside_it(text in pieces(), at in any::<u16>()) {
        let at = (0..=usize::from(at) % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at));
        for kind in [RAWR, DocumentKind::Config(ConfigFile::Host), DocumentKind::Config(ConfigFile::Project), PACKET, HEADS_UP] {
            with(kind, &text, |doc, world| {
                let at = at.unwrap();
                for problem in problems(doc, world) {
                    assert!(inside(&text, &problem.span.clone().unwrap()), "{problem:?}");
                    drop(fix(&text, &problem));
                }
                let found = complete(doc, at);
                assert!(found.iter().all(|proposal| inside(&text, &proposal.span)), "{found:?}");
                let found = hover(doc, world, None, at);
                assert!(found.is_none_or(|hover| inside(&text, &hover.span)));
                assert!(tiers(doc).iter().all(|(_, at)| text.is_char_boundary(*at)));
                assert!(links(doc, world).iter().all(|(span, _)| inside(&text, span)));
                assert!(inside(&text, &first_line(&text)));
                drop(definition(doc, world, at));
            });
        }
    }
}
