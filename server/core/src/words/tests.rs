//! What the classifiers hear, what they do not read, and what a hostile text costs.

use super::tokens::{self, Masking, ReadingWindow, TokenKind};
use super::work::WorkAtHand;
use super::{Evidence, Probability, claim, next, phase, standing};
use crate::steps;

const HALF: Probability = Probability::of_thousandths(500);

fn words(message: &str) -> String {
    let reading = ReadingWindow { head: 300, tail: 900, masking: Masking::Quotes };
    let read = tokens::read(message, reading);
    let texts = read.list.iter().map(|token| {
        let text = &message[token.from as usize..token.to as usize];
        match token.kind {
            TokenKind::Word => text.to_owned(),
            TokenKind::Name => "NAME".to_owned(),
            TokenKind::Masked => "MASKED".to_owned(),
            TokenKind::Mark => "MARK".to_owned(),
            TokenKind::Comma => ",".to_owned(),
            TokenKind::Stop => ".".to_owned(),
            TokenKind::Question => "?".to_owned(),
        }
    });
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn code_quotes_and_logs_are_masked() {
    let check = |message: &str, expected: &str| assert_eq!(words(message), expected, "{message}");
    check("It is `all done` now.", "It is NAME now .");
    check("The log says \"all done\" twice", "The log says MASKED twice .");
    check("> All done.\nNo.", "MASKED . No .");
    check("```\nAll done.\n```\nWell?", "MASKED . Well ?");
    check("=== RUN All done\nso", "MASKED . so .");
    check("| all | done |\nso", "MASKED . so .");
    check("see src/main.rs and fooBar at 12", "see NAME and NAME at MASKED .");
    check("## Done\n- ✅ it works", "MARK Done . MARK MARK it works .");
    check("A \" alone, and a ` alone", "A alone , and a alone .");
}

#[test]
fn an_end_that_begins_inside_a_block_of_code_is_still_masked() {
    let code = "all done here\n".repeat(200);
    let message = format!("Look:\n```\n{code}```\nWhat now?");
    assert!(words(&message).ends_with("What now ?"), "{}", words(&message));
    // Read from the beginning of the message alone, which ends inside the block.
    assert!(!words(&message).contains("done"), "{}", words(&message));
}

#[test]
fn ordinary_endings_are_heard() {
    for message in [
        "Done.",
        "Task complete.",
        "All tasks are done.",
        "Implementation complete.",
        "To sum up, the parser accepts both forms now.",
        "The refactoring is finished and all tests pass.",
        "Fertig.",
        "Alle Tests laufen durch.",
        "Toutes les tâches sont terminées.",
        "Todas las tareas están terminadas.",
        "Todas as tarefas estão concluídas.",
        "所有任务都已完成。",
        "すべて完了しました。",
    ] {
        let found = claim::of(message);
        assert!(found.done >= claim::HEARD_FROM, "{message}: {found:?}");
    }
    for message in ["Next, let's update the docs.", "Moving on to the frontend."] {
        let found = claim::of(message);
        assert!(found.announces >= claim::HEARD_FROM, "{message}: {found:?}");
    }
}

#[test]
fn decoys_are_not_heard() {
    for message in [
        "Is everything done?",
        "The loop is finished when i == n.",
        "I'll be done once the last test passes.",
        "Not all tests pass.",
        "You said \"all done\", but two tests fail.",
        "> All tasks are done.",
        "```\nTask complete.\n```",
        "Ist alles fertig?",
        "全部完成了吗？",
        "",
    ] {
        let found = claim::of(message);
        assert!(found.done < claim::HEARD_FROM, "{message}: {found:?}");
        assert!(found.announces < claim::HEARD_FROM, "{message}: {found:?}");
    }
}

fn after_a_claim() -> WorkAtHand {
    WorkAtHand::new(
        &["Please fix the parser in src/parser.rs"],
        "The parser in src/parser.rs is fixed. All tests pass.",
    )
}

#[test]
fn the_next_message_closes_or_goes_on() {
    let work = after_a_claim();
    for message in ["commit and push", "commit this", "<command-name>/exit</command-name>"] {
        let next = next::of(message, &work);
        assert!(next.close > HALF && next.leaves() > HALF, "{message}: {next:?}");
    }
    for message in
        ["still not quite right", "no, that's wrong", "yes", "why did you change the parser?"]
    {
        let next = next::of(message, &work);
        assert!(next.same > HALF, "{message}: {next:?}");
    }
}

#[test]
fn a_phase_ends_where_the_claim_is_confirmed() {
    let agent = "The parser is fixed. All tests pass.";
    let ended = |message| {
        phase::ended(
            &WorkAtHand::new(&[], agent),
            &next::of(message, &after_a_claim()),
            phase::TurnFacts::default(),
        )
    };
    assert!(ended("commit and push") > HALF, "{}", ended("commit and push"));
    assert!(ended("still not quite right") < HALF, "{}", ended("still not quite right"));
}

#[test]
fn evidence_quotes_the_message() {
    let message = "I rewrote the parser. All tests pass now.";
    let claim = claim::of(message);
    assert!(!claim.evidence.is_empty() && claim.evidence.len() <= 3, "{claim:?}");
    let quotes = claim.evidence.iter().filter_map(|evidence| match evidence {
        Evidence::Quote(quote) => Some(quote),
        Evidence::Trait(_) => None,
    });
    assert!(quotes.clone().count() > 0, "{claim:?}");
    assert!(quotes.clone().all(|quote| message.contains(quote.as_str())), "{claim:?}");
}

#[test]
fn the_three_shares_of_the_next_message_sum_up_to_one() {
    for message in ["", "commit", "and why is that?", "new task: write the docs"] {
        let next = next::of(message, &after_a_claim());
        let sum = next.new.thousandths() + next.close.thousandths() + next.same.thousandths();
        assert!((998..=1002).contains(&sum), "{message}: {next:?}");
    }
}

#[test]
fn a_hostile_text_costs_linear_work_and_few_features() {
    let pieces = [
        "`",
        "\"",
        "```\n",
        "<",
        "<a>",
        "不",
        "é ",
        "a_",
        "\n",
        " ",
        "? ",
        "word ",
        "(",
        "/a",
        "in short, ",
        "\u{202e}",
    ];
    for piece in pieces {
        let cost = |times: usize| {
            let text = piece.repeat(times);
            steps::take();
            let features = claim::features(&text).list.len();
            assert!(features < 20_000, "{piece:?}: {features} features");
            next::of(&text, &WorkAtHand::new(&[&text, &text], &text));
            claim::of(&text);
            standing::sentences(&text);
            steps::take()
        };
        let (once, twice) = (cost(130_000 / piece.len()), cost(260_000 / piece.len()));
        assert!(twice <= once * 2 + 10_000, "{piece:?}: {once} and {twice} steps");
    }
}
