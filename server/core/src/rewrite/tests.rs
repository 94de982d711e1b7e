//! The rules of a rewrite, on small histories written one item a line, and its properties on any history.

use super::*;
use crate::event::Purpose;
use crate::thread::sequence::marker;
use crate::units::SequenceId;
use expect_test::{Expect, expect};
use proptest::prelude::*;

const PREFIX: &str = "So far:";

const KINDS: [(&str, RewriteRole, RewriteItemKind); 8] = [
    ("system", RewriteRole::System, RewriteItemKind::Message),
    ("user", RewriteRole::User, RewriteItemKind::Message),
    ("agent", RewriteRole::Assistant, RewriteItemKind::Message),
    ("tool", RewriteRole::Tool, RewriteItemKind::Message),
    ("context", RewriteRole::User, RewriteItemKind::InitialContext),
    ("snapshot", RewriteRole::Tool, RewriteItemKind::Snapshot),
    ("summary", RewriteRole::User, RewriteItemKind::Summary),
    ("note", RewriteRole::System, RewriteItemKind::InitialContext),
];

const USERS_OWN: (RewriteRole, RewriteItemKind) = (RewriteRole::User, RewriteItemKind::Message);

/// `who: text`, a line each; `\n` stands for a line's end inside a text.
fn read(history: &str) -> Vec<RewriteItem> {
    let item = |line: &str| {
        let (who, text) = line.trim().split_once(": ").unwrap();
        let (_, role, kind) = KINDS.into_iter().find(|(name, ..)| *name == who).unwrap();
        RewriteItem { role, kind, text: text.replace("\\n", "\n"), id: None }
    };
    history.lines().filter(|line| !line.trim().is_empty()).map(item).collect()
}

fn write(items: &[RewriteItem]) -> String {
    let line = |item: &RewriteItem| {
        let of_it = |(_, role, kind): &(&str, RewriteRole, RewriteItemKind)| {
            *role == item.role && *kind == item.kind
        };
        let (who, ..) = KINDS.into_iter().find(of_it).unwrap();
        format!("{who}: {}\n", item.text.replace('\n', "\\n"))
    };
    items.iter().map(line).collect()
}

/// A token a byte: then budgets can be counted by eye.
fn bytes(text: &str) -> u64 {
    text.len() as u64
}

fn rewritten(
    items: Vec<RewriteItem>,
    budget: u64,
    mut count: impl FnMut(&str) -> u64,
) -> Rewritten {
    rewrite(items, Summary::new(PREFIX, "all of it").unwrap(), budget, &mut count)
}

fn check(history: &str, budget: u64, expected: Expect) {
    expected.assert_eq(&write(&rewritten(read(history), budget, bytes).items));
}

const SESSION: &str = "
    system: You are a coding agent.
    note: Tools: shell, patch.
    context: <environment_context>/work</environment_context>
    user: Fix the parser.
    agent: I look at it.
    tool: fn parse() {}
    snapshot: 41ac
    system: The plan tool was used.
    user: Also the tokenizer.
    agent: Done with both.
    snapshot: 77be
    user: Commit it.
";

// rule: prompt.summary-prefix
// rule: host.context-stays
// rule: host.summary-added
// rule: host.snapshots-stay
#[test]
fn initial_context_user_messages_summary_and_snapshots_are_in_this_order() {
    check(
        SESSION,
        RECENT_USER_TOKENS,
        expect![[r#"
            system: You are a coding agent.
            note: Tools: shell, patch.
            context: <environment_context>/work</environment_context>
            user: Fix the parser.
            user: Also the tokenizer.
            user: Commit it.
            summary: So far:\nall of it
            snapshot: 41ac
            snapshot: 77be
        "#]],
    );
}

// rule: host.recent-messages-stay
#[test]
fn the_newest_messages_are_kept_up_to_the_limit() {
    // 10 and 19 bytes fit, of the 15 before them one does not.
    check(
        SESSION,
        43,
        expect![[r#"
            system: You are a coding agent.
            note: Tools: shell, patch.
            context: <environment_context>/work</environment_context>
            user: Fix the\n[… 1 tokens cut …]\nparser.
            user: Also the tokenizer.
            user: Commit it.
            summary: So far:\nall of it
            snapshot: 41ac
            snapshot: 77be
        "#]],
    );
    check(
        "user: short\nuser: as long as it needs to be\nuser: Commit it.",
        22,
        expect![[r#"
            user: as lon\n[… 13 tokens cut …]\n to be
            user: Commit it.
            summary: So far:\nall of it
        "#]],
    );
    check(
        "user: short\nuser: Commit it.",
        10,
        expect![[r#"
            user: Commit it.
            summary: So far:\nall of it
        "#]],
    );
}

// rule: built-in.history-is-summary
#[test]
fn without_a_budget_no_user_message_is_kept() {
    check(
        "user: Fix it.",
        0,
        expect![[r#"
            summary: So far:\nall of it
        "#]],
    );
}

#[test]
fn a_message_without_anything_left_is_dropped() {
    check(
        "user: ßßßß",
        1,
        expect![[r#"
            summary: So far:\nall of it
        "#]],
    );
}

#[test]
fn older_summaries_are_dropped() {
    check(
        "
        system: You are a coding agent.
        user: So far:\\nof long ago
        summary: of before, under a prefix that was changed since
        user: So far: so good. What is next?
        ",
        100,
        expect![[r#"
            system: You are a coding agent.
            user: So far: so good. What is next?
            summary: So far:\nall of it
        "#]],
    );
}

#[test]
fn an_empty_prefix_matches_no_user_message() {
    let summary = Summary::new(" \n", "all of it").unwrap();
    let found = rewrite(read("user: \\nFix it."), summary, 100, &mut |text| bytes(text));
    expect![[r#"
        user: \nFix it.
        summary: all of it
    "#]]
    .assert_eq(&write(&found.items));
}

#[test]
fn a_blank_summary_is_none() {
    assert_eq!(Summary::new(PREFIX, " \n"), None);
}

#[test]
fn injected_messages_are_not_user_messages() {
    use Purpose::{Handoff, HeadsUp, PacketRequest, ScratchWrite};
    for purpose in [HeadsUp, ScratchWrite, PacketRequest, Handoff] {
        let marker = marker(&SequenceId::new("s1-ab12"), purpose);
        let history = format!(
            "user: [rawr] The compaction is done.\\n\\n{marker}\n\
             user: [rawr] The compaction is done.\\n\\n{marker}\\n \n\
             user: Why do I see {marker}\n\
             user: {marker}\\nWhat is that?"
        );
        let found = write(&rewritten(read(&history), 1000, bytes).items);
        let expected = format!(
            "user: Why do I see {marker}\nuser: {marker}\\nWhat is that?\nsummary: {PREFIX}\\nall of it\n"
        );
        assert_eq!(found, expected, "{purpose:?}");
    }
}

#[test]
fn a_system_item_inside_the_conversation_is_no_initial_context() {
    check(
        "
        snapshot: before anything
        system: fixed
        user: Fix it.
        system: a reminder
        note: of the host, for good
        ",
        100,
        expect![[r#"
            system: fixed
            note: of the host, for good
            user: Fix it.
            summary: So far:\nall of it
            snapshot: before anything
        "#]],
    );
}

#[test]
fn a_cut_message_is_cut_again_at_its_mark() {
    let history = "user: abcdefghij0123456789";
    let first = rewritten(read(history), 12, bytes);
    expect![[r#"
        user: abcdef\n[… 8 tokens cut …]\n456789
        summary: So far:\nall of it
    "#]]
    .assert_eq(&write(&first.items));
    expect![[r#"
        user: abc\n[… 14 tokens cut …]\n789
        summary: So far:\nall of it
    "#]]
    .assert_eq(&write(&rewritten(first.items, 6, bytes).items));
}

#[test]
fn text_that_only_looks_like_a_mark_is_kept() {
    for text in ["\\n[… 0 tokens cut …]\\n", "\\n[… many tokens cut …]\\n", "\\n[… 5 tokens cut"]
    {
        let found = write(&rewritten(read(&format!("user: ab{text}cd")), 9, bytes).items);
        assert!(found.starts_with("user: ab\\n["), "{found}");
        assert!(found.contains("tokens cut …]\\n"), "{found}");
    }
}

#[test]
fn ids_stay_with_their_items() {
    let mut items = read("system: fixed\nuser: first words\nagent: a\nuser: x");
    for (at, item) in items.iter_mut().enumerate() {
        item.id = Some(at.to_string());
    }
    let ids: Vec<_> = rewritten(items, 8, bytes).items.into_iter().map(|item| item.id).collect();
    assert_eq!(ids, [Some("0".to_owned()), Some("1".to_owned()), Some("3".to_owned()), None]);
}

#[test]
fn both_sizes_use_the_given_count() {
    let history = "user: one two three\nagent: four five";
    let words = |text: &str| text.split_whitespace().count() as u64;
    let found = rewritten(read(history), 10, words);
    assert_eq!((found.tokens_before, found.tokens_after), (5, 8));
    assert_eq!(words("So far: all of it"), 5);
}

fn any_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-zé好👍 \n]{0,12}",
        1 => Just("[rawr:s1:handoff]".to_owned()),
        1 => Just(format!("{PREFIX}\n")),
        1 => Just("\n[… 7 tokens cut …]\n".to_owned()),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

fn any_history() -> impl Strategy<Value = Vec<RewriteItem>> {
    let item = (prop::sample::select(&KINDS[..]), any_text());
    prop::collection::vec(item, 0..12).prop_map(|items| {
        let item = |(at, ((_, role, kind), text)): (usize, _)| RewriteItem {
            role,
            kind,
            text,
            id: Some(at.to_string()),
        };
        items.into_iter().enumerate().map(item).collect()
    })
}

/// Some ways to count, one of them with seams: two halves together may count for more than the whole.
fn any_count() -> impl Strategy<Value = fn(&str) -> u64> {
    let seams = |text: &str| text.split_inclusive(' ').map(estimate).sum::<u64>();
    prop::sample::select(vec![bytes as fn(&str) -> u64, estimate, seams])
}

proptest! {
    #[test]
    fn any_history_is_rewritten_within_its_budget(
        history in any_history(), budget in 0u64..60, count in any_count()
    ) {
        let found = rewritten(history.clone(), budget, count);
        let users = found.items.iter().filter(|item| (item.role, item.kind) == USERS_OWN);
        let of_users: u64 = users
            .map(|item| {
                let text = Shortened::read(&item.text);
                if text.is_whole() { count(&item.text) } else { text.tokens(&mut { count }) }
            })
            .sum();
        prop_assert!(of_users <= budget, "{of_users} of {budget}");
        prop_assert_eq!(found.tokens_before, history.iter().map(|item| count(&item.text)).sum::<u64>());
        prop_assert_eq!(found.tokens_after, found.items.iter().map(|item| count(&item.text)).sum::<u64>());
    }

    #[test]
    fn any_history_keeps_its_order_and_is_a_subset_with_one_summary(
        history in any_history(), budget in 0u64..60
    ) {
        let found = rewritten(history.clone(), budget, estimate).items;
        prop_assert_eq!(found.iter().filter(|item| item.kind == RewriteItemKind::Summary).count(), 1);
        let kinds: [fn(&RewriteItem) -> bool; 3] = [
            |item| item.kind == RewriteItemKind::Snapshot,
            |item| (item.role, item.kind) == USERS_OWN,
            |item| item.kind == RewriteItemKind::InitialContext,
        ];
        for of_kind in kinds {
            let ids: Vec<usize> = found.iter().filter(|item| of_kind(item))
                .map(|item| item.id.as_ref().unwrap().parse().unwrap()).collect();
            prop_assert!(ids.is_sorted());
        }
        for item in found.iter().filter(|item| item.kind != RewriteItemKind::Summary) {
            let old = &history[item.id.as_ref().unwrap().parse::<usize>().unwrap()];
            let (start, end) = Shortened::written(&item.text);
            let shortened = old.text.starts_with(start) && old.text.ends_with(end);
            prop_assert!(item == old || shortened, "{:?} of {:?}", item.text, old.text);
        }
    }

    #[test]
    fn a_second_rewrite_with_the_same_summary_changes_nothing(
        history in any_history(), budget in 0u64..60, count in any_count()
    ) {
        let once = rewritten(history, budget, count);
        let twice = rewritten(once.items.clone(), budget, count);
        prop_assert_eq!(&once.items, &twice.items);
        prop_assert_eq!(once.tokens_after, twice.tokens_after);
    }
}
