//! What is told at the cursor, and what is proposed there, in texts that are whole and in texts that are not.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The label of each proposal with the text that would come of it, the cursor's line alone.
fn check(kind: Kind, marked: &str, expected: &[&str]) {
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

fn only(kind: Kind, marked: &str, expected: &[&str]) {
    check(kind, marked, expected);
    let (text, at) = cursor(marked);
    let found = with(kind, &text, |doc, _| complete(doc, at).len());
    assert_eq!(found, expected.len(), "{text:?}");
}

const HEADS_UP: Kind = Kind::Prompt(PromptName::HeadsUp);
const PACKET: Kind = Kind::Prompt(PromptName::AutoCompact);

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
    only(Kind::Decision, "{|", &[]);
}

#[test]
fn placeholders_are_spelled_as_the_file_spells_them() {
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
fn what_is_the_same_for_all_models_is_not_proposed_for_one() {
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
        ["plan_checkpoint", "plan_update", "pr_checkpoint", "topic_shift", "turn_complete"]
    );
}

#[test]
fn of_codexs_file_only_ours_is_proposed() {
    let kind = Kind::Config(File::Codex);
    check(kind, "[features]\n|", &["rawr_auto_compaction"]);
    only(kind, "[tools]\n|x", &[]);
}

#[test]
fn front_matter_is_proposed_by_how_far_in_it_stands() {
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

/// The words that must be in what is told, and the place that it is told of.
fn told(kind: Kind, marked: &str, expected: &[&str]) {
    for variant in variants(marked) {
        let (text, at) = cursor(&variant);
        let at = at - text_marks(&variant, at);
        let (text, spans) = unmarked(&text);
        let values = Values {
            thread: "t-1".to_owned(),
            model: None,
            values: BTreeMap::from([("threadId", "t-1".to_owned()), ("goal", "`".repeat(3))]),
        };
        let found = with(kind, &text, |doc, world| hover(doc, world, Some(&values), at));
        let Some(found) = found else {
            assert!(expected.is_empty(), "nothing is told in {text:?}");
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
fn a_placeholder_says_what_it_means_and_says_now() {
    told(
        HEADS_UP,
        "\u{1f980} ⟦{thr|ead_id}⟧",
        &["the host's id of the thread", "```text\nt-1\n```"],
    );
    told(HEADS_UP, "⟦|{reason}⟧", &["In thread `t-1` it has no value now"]);
    told(HEADS_UP, "{nothing|}", &[]);
    told(Kind::Prompt(PromptName::WatcherPacket), "⟦{goal|}⟧", &["````text\n```\n````"]);
}

#[test]
fn without_a_thread_there_is_no_value() {
    let found = with(HEADS_UP, "{reason}", |doc, world| hover(doc, world, None, 2)).unwrap();
    assert!(
        found.markdown.contains("There is no thread to take its value from."),
        "{}",
        found.markdown
    );
}

#[test]
fn a_long_value_is_cut() {
    let value = "é".repeat(1000);
    let values = BTreeMap::from([("reason", value)]);
    let values = Values { thread: "t".to_owned(), model: None, values };
    let found =
        with(HEADS_UP, "{reason}", |doc, world| hover(doc, world, Some(&values), 2)).unwrap();
    assert!(found.markdown.ends_with("… and 600 characters more"), "{}", found.markdown);
}

#[test]
fn a_key_says_its_type_its_default_and_what_is_in_force() {
    told(
        RAWR,
        "# \u{1f980}\n[rawr_auto_compaction]\n⟦mo|de⟧ = \"tag\"\n",
        &[
            "`rawr_auto_compaction.mode`: one of `\"tag\"`, `\"suggest\"`",
            "What happens when everything speaks for a compaction",
            "Default: `\"auto\"`. In force: `\"tag\"`, set by ",
            "rawr.toml.",
        ],
    );
    told(
        RAWR,
        "[rawr_auto_compaction.policy]\nearly.percent_remaining_lt = ⟦\"80|%\"⟧",
        &["In force: `80`"],
    );
    told(
        RAWR,
        "[rawr_auto_compaction]\n⟦early_percent_remaining_|lt⟧ = 70",
        &["Default: `85`. In force: `70`"],
    );
    told(
        RAWR,
        "[rawr_auto_compaction.models.\"m*\"]\n⟦mo|de⟧ = \"ask\"",
        &["In force for `m*`: `\"ask\"`, set by ", ", model m*."],
    );
    told(
        RAWR,
        "[rawr_auto_compaction]\n⟦mo|de⟧ = \"tag",
        &["In force: `\"auto\"`, set by built-in"],
    );
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
fn a_key_of_the_front_matter_says_what_goes_before_it() {
    told(
        PACKET,
        "---\ntrigger:\n  ⟦early_percent|_remaining_lt⟧: 90\n---\nText",
        &[
            "percent of the window below which early holds",
            "`rawr_auto_compaction.early_percent_remaining_lt` goes before it",
            "In force: `90`",
        ],
    );
    told(PACKET, "---\n⟦version|⟧: 1\n---\nText", &["of this form of front matter"]);
    told(PACKET, "---\ntrigger|:\n---\nText", &[]);
}

/// Pieces that texts of ours are made of, and that break them.
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
    fn whatever_is_typed_is_answered_with_places_of_the_text(text in pieces(), at in any::<u16>()) {
        let at = (0..=usize::from(at) % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at));
        for kind in [RAWR, Kind::Config(File::Codex), Kind::Config(File::Project), PACKET, HEADS_UP] {
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
