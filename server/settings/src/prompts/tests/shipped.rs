//! The shipped prompts are valid, and their README lists all placeholders and keys.

use super::*;
use crate::config::{Config, ConfigSources, Home};
use expect_test::expect_file;
use rawr_core::compose::Continue;
use rawr_core::event::ResumeState;
use rawr_core::units::ThreadId;
use rawr_core::{Thread, compose, packet};

#[test]
fn shipped_prompts_have_no_problem() {
    let set = PromptSet::shipped();
    assert_eq!(set.problems().collect::<Vec<_>>(), []);
    for prompt in set.iter() {
        assert_eq!((prompt.origin, &prompt.path), (PromptSource::Shipped, &None));
        assert!(!prompt.text.contains("---"), "front matter is taken off {:?}", prompt.name);
    }
}

#[test]
fn shipped_prompts_do_not_change_the_built_in_policy() {
    let home = Home::at("/nowhere");
    let front_matter = PromptSet::shipped();
    let front_matter = Some(front_matter.packet_front_matter());
    let (config, problems) = ConfigSources { front_matter, ..ConfigSources::at(&home) }.load();
    assert_eq!((config.policy, problems), (Config::default().policy, vec![]));
}

#[test]
fn shipped_prompts_are_short() {
    for (name, most) in [
        (PromptName::AutoCompact, 2350),
        (PromptName::HeadsUp, 260),
        (PromptName::ScratchWrite, 320),
        (PromptName::Judgment, 1900),
        (PromptName::JudgmentContext, 760),
        (PromptName::WatcherPacket, 560),
        (PromptName::Handoff, 560),
        (PromptName::CalledOff, 230),
        (PromptName::Compact, 700),
        (PromptName::SummaryPrefix, 180),
    ] {
        let length = PromptSet::shipped().get(name).text.len();
        assert!(length <= most, "{} has {length} bytes", name.name());
    }
}

// rule: packet.work-done
// rule: packet.current-state
// rule: packet.next-step
// rule: packet.decisions
#[test]
fn the_packet_request_asks_for_every_part_of_the_packet_check() {
    let text = &PromptSet::shipped().get(PromptName::AutoCompact).text.clone();
    assert_eq!(packet::missing_parts(text), [""; 0]);
}

// rule: packet.labeled
#[test]
fn a_packet_built_by_rawr_names_its_author_and_is_parsed_whole() {
    let set = PromptSet::shipped();
    let mut thread = Thread::new(ThreadId::new("t"));
    thread.known.first_message = Some("Ship the parser.".to_owned());
    let template = set.prompts().text(PromptName::WatcherPacket);
    let built = compose::by_watcher(&thread, template, "notes.md", 100);
    assert!(built.text.contains("Built by rawr") && built.text.contains("Ship the parser."));
    assert_eq!(packet::resume_state(&built.text), ResumeState::Working);

    let template = set.prompts().text(PromptName::Handoff);
    let handoff = compose::handoff(&thread, template, &built, Continue::AsInPacket, "notes.md");
    assert!(handoff.contains(&built.text) && !handoff.contains(['{', '}']), "{handoff}");
}

/// Replaces the lines between the two comments of this name.
fn with_generated(readme: &str, name: &str, lines: &str) -> String {
    let (before, rest) = readme.split_once(&format!("<!-- generated: {name} -->\n")).unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}<!-- generated: {name} -->\n{lines}<!-- end -->{after}")
}

#[test]
fn the_readme_names_every_placeholder_and_key() {
    let mut files = String::from(
        "| file | tokens | filled in | enough | placeholders |\n| --- | --- | --- | --- | --- |\n",
    );
    for prompt in PromptSet::shipped().iter() {
        let placeholders = prompt.name.placeholders().iter().map(|known| {
            let required = if known.required { "required; " } else { "" };
            format!("`{{{}}}` ({required}{})", known.camel, known.meaning)
        });
        let placeholders = placeholders.collect::<Vec<_>>().join("<br>");
        let alone = rendered::tokens(&prompt.text);
        let filled = rendered::tokens(&rendered::rendered(prompt));
        let (name, budget) = (prompt.name.name(), prompt.name.token_budget());
        files += &format!("| `{name}.md` | {alone} | {filled} | {budget} | {placeholders} |\n");
    }
    let mut keys = String::from("| key | meaning |\n| --- | --- |\n");
    for key in FRONT_MATTER_KEYS {
        keys += &format!("| `{}` | {} |\n", key.path, key.doc);
    }
    // To rewrite it: UPDATE_EXPECT=1 cargo nextest run -p rawr-settings readme
    let readme = expect_file!["../../../../../prompts/README.md"];
    let text = with_generated(&readme.data(), "placeholders", &files);
    readme.assert_eq(&with_generated(&text, "front matter", &keys));
}

// rule: heads-up.says-what-comes
// rule: client.percent-for-people
#[test]
fn the_heads_up_has_no_percentages_and_names_how_to_end_it() {
    let set = PromptSet::shipped();
    let text = &set.get(PromptName::HeadsUp).text;
    assert!(!text.contains('%') && !text.contains("percent") && text.contains("handoff"), "{text}");
}
