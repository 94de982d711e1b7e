//! Diagnostics with their exact ranges.

use super::*;

/// Counts columns independently, by the definition in the protocol.
fn place(text: &str, at: usize, encoding: PositionEncoding) -> EditorPosition {
    let line = text[..at].rsplit('\n').next().unwrap();
    let character = match encoding {
        PositionEncoding::Utf8 => line.len(),
        PositionEncoding::Utf16 => line.encode_utf16().count(),
    };
    EditorPosition { line: text[..at].matches('\n').count() as u32, character: character as u32 }
}

fn check(kind: DocumentKind, marked: &str, codes: &[&str]) {
    for variant in variants(marked) {
        let (text, spans) = unmarked(&variant);
        let mut found = with(kind, &text, problems);
        found.retain(|problem| problem.code != "fails-closed");
        let told: Vec<_> = found
            .iter()
            .map(|problem| (problem.code, &text[problem.span.clone().unwrap()]))
            .collect();
        let places = codes.iter().copied().zip(spans.iter().map(|span| &text[span.clone()]));
        assert_eq!(told, places.collect::<Vec<_>>(), "{text:?}");
        assert_eq!(codes.len(), spans.len(), "{text:?}");
        let lines = EditorText::from(text.clone());
        for (problem, span) in found.iter().zip(&spans) {
            assert_eq!(problem.span.as_ref(), Some(span), "{text:?} {problem:?}");
            for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16] {
                let expected = place(&text, span.start, encoding)..place(&text, span.end, encoding);
                assert_eq!(lines.positions(span, encoding), expected, "{text:?} {problem:?}");
            }
        }
    }
}

fn handoff(marked: &str, codes: &[&str]) {
    check(DocumentKind::Prompt(PromptName::Handoff), marked, codes);
}

fn packet_request(marked: &str, codes: &[&str]) {
    check(DocumentKind::Prompt(PromptName::AutoCompact), marked, codes);
}

fn rawr(marked: &str, codes: &[&str]) {
    check(RAWR, marked, codes);
}

#[test]
fn an_unknown_placeholder_is_marked_with_its_braces() {
    let all = "{author} {resume} {scratchFile}";
    handoff(&format!("\u{1f980}\té ⟦{{packt}}⟧ {{packet}} {all}\n"), &["unknown-placeholder"]);
    handoff(&format!("{all}\n{{packet}} ⟦{{what}}⟧{{\"a\": {{}}}}"), &["unknown-placeholder"]);
}

#[test]
fn a_missing_placeholder_marks_the_first_line_of_the_text() {
    handoff("⟦Hé \u{1f980} {author} {resume}⟧\nand {scratchFile}\n", &["missing-placeholder"]);
    handoff("\n\n⟦{author} {resume} {scratchFile}⟧\nmore", &["missing-placeholder"]);
}

#[test]
fn an_unused_placeholder_marks_the_first_line_of_the_text() {
    handoff("⟦{packet} \u{1f980}⟧\n{author}\n", &["unused-placeholder"]);
    handoff(
        "⟦{packet} \u{1f980} ⟦{autor}⟧⟧\n{resume}\n{scratchFile}\n",
        &["unused-placeholder", "unknown-placeholder"],
    );
}

#[test]
fn an_empty_prompt_is_marked_where_its_text_would_be() {
    check(DocumentKind::Prompt(PromptName::HeadsUp), "⟦⟧", &["empty-prompt"]);
    packet_request("---\nversion: 1\n---\n⟦⟧", &["empty-prompt"]);
}

#[test]
fn bad_front_matter_is_marked() {
    packet_request("⟦---⟧\nversion: 1\n", &["front-matter"]);
    packet_request("---\n⟦just text⟧\n---\nText", &["front-matter"]);
    packet_request("---\nversion: ⟦7⟧\n---\nText", &["out-of-range"]);
    packet_request(
        "---\n# \u{1f980}\ntrigger:\n  early_percent_remaining_lt: ⟦high⟧\n---\nText",
        &["wrong-type"],
    );
    packet_request(
        "---\ntrigger:\n  auto_requires_any_boundary: [commit, ⟦comit⟧]\n---\nText",
        &["unknown-value"],
    );
    packet_request(
        "---\ntrigger:\n  early_percent_remaining_lt: ⟦[1, 2]⟧\n---\nText",
        &["wrong-type"],
    );
    packet_request("---\n⟦trigr⟧:\n  a: 1\n---\nText", &["unknown-key"]);
    handoff("---\n⟦version⟧: 1\n---\n{packet} {author} {resume} {scratchFile}", &["unknown-key"]);
}

#[test]
fn thresholds_of_the_front_matter_that_do_not_fall_are_marked_there() {
    packet_request(
        "---\ntrigger:\n  early_percent_remaining_lt: ⟦45⟧\n---\nText",
        &["threshold-order"],
    );
}

#[test]
fn text_beyond_the_budget_is_marked() {
    let full = "é".repeat(50 * 4);
    let name = DocumentKind::Prompt(PromptName::SummaryPrefix);
    check(name, &full, &[]);
    check(name, &format!("{full}⟦ \u{1f980} and more⟧\n"), &["over-budget"]);
}

#[test]
fn an_unknown_key_is_marked_by_its_name() {
    rawr("# \u{1f980}\n[rawr_auto_compaction]\n⟦mdoe⟧ = \"auto\" # é\n", &["unknown-key"]);
    rawr("[rawr_auto_compaction.⟦polcy⟧]\n", &["unknown-key"]);
    rawr("[rawr_auto_compaction]\npolicy.⟦erly⟧.percent_remaining_lt = 80\n", &["unknown-key"]);
    rawr(
        "\"\u{1f980}\" = 1\n".replace('"', "⟦\"").replace("⟦\" =", "\"⟧ =").as_str(),
        &["unknown-key"],
    );
}

#[test]
fn a_wrong_value_is_marked_with_its_quotes() {
    rawr("[rawr_auto_compaction]\nmode = ⟦\"atuo\"⟧ # \u{1f980}\n", &["unknown-value"]);
    rawr("[rawr_auto_compaction]\n\tmode = ⟦3⟧\n", &["wrong-type"]);
    rawr("[rawr_auto_compaction]\ncooldown_turns = ⟦-1⟧\n", &["out-of-range"]);
    rawr(
        "[rawr_auto_compaction]\nauto_requires_any_boundary = [\"commit\", ⟦'comit'⟧]\n",
        &["unknown-value"],
    );
}

#[test]
fn thresholds_that_do_not_fall_are_marked() {
    rawr("[rawr_auto_compaction]\nready_percent_remaining_lt = ⟦90⟧\n", &["threshold-order"]);
    rawr(
        "[rawr_auto_compaction.policy.asap]\npercent_remaining_lt = ⟦\"10%\"⟧ # \u{1f980}\n",
        &["threshold-order"],
    );
    rawr(
        "[rawr_auto_compaction.models.\"\u{1f980}\"]\nearly_percent_remaining_lt = ⟦20⟧\n",
        &["threshold-order"],
    );
}

#[test]
fn a_list_with_a_boundary_that_never_counts_is_marked() {
    rawr(
        "[rawr_auto_compaction.policy.early]\nconfirm = \"none\"\nrequires_any_boundary = ⟦[\"plan_update\", \"commit\"]⟧\n",
        &["no-effect"],
    );
    rawr("[rawr_auto_compaction.policy.early]\nrequires_any_boundary = ⟦[]⟧\n", &["never-fires"]);
}

#[test]
fn a_missing_prompt_is_marked_by_its_path() {
    rawr(
        "[rawr_auto_compaction.policy.early]\ndecision_prompt_path = ⟦\"gone \u{1f980}.md\"⟧\n",
        &["no-file"],
    );
    rawr("[rawr_auto_compaction.prompts]\nhandoff = ⟦'gone.md'⟧\n", &["no-file"]);
    rawr("[rawr_auto_compaction.policy.early]\ndecision_prompt_path = \"here.md\"\n", &[]);
}

#[test]
fn a_syntax_error_is_marked_where_parsing_ends() {
    rawr("[rawr_auto_compaction]\nmode = ⟦⟧\n", &["syntax"]);
    rawr("⟦a⟧ = 1\n⟦a⟧ = 2\n", &["unknown-key", "syntax"]);
    rawr("[rawr_auto_compaction⟦⟧\nmoed = 1\n", &["syntax"]);
}

#[test]
fn settings_that_a_project_may_not_change_are_marked() {
    let kind = DocumentKind::Config(ConfigFile::Project);
    check(
        kind,
        "[rawr_auto_compaction]\nretention_days = ⟦1⟧ # \u{1f980}\n",
        &["project-may-only-narrow"],
    );
}

#[test]
fn in_codexs_file_only_our_keys_are_checked() {
    let kind = DocumentKind::Config(ConfigFile::Host);
    check(kind, "modle = 1\n[features]\nother = 1\n", &[]);
    check(kind, "= 1\n", &[]);
    check(kind, "modle = 1\n[auto_compact]\n⟦enabld⟧ = true\n", &["unknown-key"]);
}

#[test]
fn the_shipped_prompts_have_no_problem() {
    for name in PromptName::ALL {
        check(DocumentKind::Prompt(name), rawr_settings::prompts::shipped(name), &[]);
    }
    check(RAWR, &rawr_settings::config::commented_default_toml(Default::default()), &[]);
}

fn fixed(kind: DocumentKind, text: &str) -> Vec<String> {
    with(kind, text, |doc, world| {
        let all = problems(doc, world);
        let fixes = all.iter().filter_map(|problem| fix(text, problem));
        let apply = |fix: QuickFix| {
            let mut text = text.to_owned();
            text.replace_range(fix.span, &fix.text);
            text
        };
        fixes.map(apply).collect()
    })
}

#[test]
fn a_typo_is_fixed_in_the_spelling_of_the_text() {
    let kind = DocumentKind::Prompt(PromptName::HeadsUp);
    assert_eq!(fixed(kind, "\u{1f980} {reson}"), ["\u{1f980} {reason}"]);
    for (text, expected) in [
        ("[rawr_auto_compaction]\nmdoe = \"auto\"", "[rawr_auto_compaction]\nmode = \"auto\""),
        ("[rawr_auto_compaction]\nmode = 'atuo'", "[rawr_auto_compaction]\nmode = 'auto'"),
        ("[rawr_auto_compaction.polcy]", "[rawr_auto_compaction.policy]"),
    ] {
        assert_eq!(fixed(RAWR, text), [expected]);
    }
    assert_eq!(fixed(RAWR, "[rawr_auto_compaction]\nnothing_like_it = 1"), [""; 0]);
}

#[test]
fn paths_lead_to_files_and_files_back_to_paths() {
    let text = "[rawr_auto_compaction]\nmodels.x.policy.asap.decision_prompt_path = \"here.md\"\n[rawr_auto_compaction.prompts]\nheads-up = \"/abs/h.md\"\nhandoff = \"\"\n";
    with(RAWR, text, |doc, world| {
        let found: Vec<_> =
            links(doc, world).into_iter().map(|(span, path)| (&text[span], path)).collect();
        let here = world.files.prompt_folder.join("here.md");
        assert_eq!(
            found,
            [("\"here.md\"", here.clone()), ("\"/abs/h.md\"", PathBuf::from("/abs/h.md")),]
        );
        let at = text.find("here").unwrap();
        assert_eq!(definition(doc, world, at), Some((here.clone(), 0..0)));
        assert_eq!(definition(doc, world, 0), None);
        assert_eq!(references(&here, world), [(world.files.home.rawr_toml(), at - 1..at + 8)]);
        assert_eq!(references(Path::new("/abs/other.md"), world), []);
    });
}

#[test]
fn a_front_matter_value_leads_to_the_key_that_overrides_it() {
    let config = "[rawr_auto_compaction]\nearly_percent_remaining_lt = 80\n";
    let text = "---\ntrigger:\n  early_percent_remaining_lt: 90\n---\nText";
    with(DocumentKind::Prompt(PromptName::AutoCompact), text, |doc, world| {
        let mut world = world.clone();
        world.unsaved.insert(world.files.home.rawr_toml(), config.to_owned());
        let at = text.find("early").unwrap();
        let (path, span) = definition(doc, &world, at).unwrap();
        assert_eq!((path, &config[span]), (world.files.home.rawr_toml(), "80"));
    });
}

#[test]
fn a_tier_is_shown_after_its_threshold() {
    let text = "[rawr_auto_compaction]\nready_percent_remaining_lt = 70\n[rawr_auto_compaction.policy.early]\n[rawr_auto_compaction.policy.asap]\npercent_remaining_lt = 60 # x\n[rawr_auto_compaction.models.m]\nemergency_percent_remaining_lt = 3\n";
    let found = with(RAWR, text, |doc, _| tiers(doc));
    let shown: Vec<_> =
        found.iter().map(|(tier, at)| (tier.name(), text[..*at].lines().last().unwrap())).collect();
    assert_eq!(
        shown,
        [
            ("early", "[rawr_auto_compaction.policy.early]"),
            ("ready", "ready_percent_remaining_lt = 70"),
            ("asap", "percent_remaining_lt = 60"),
        ]
    );
}
