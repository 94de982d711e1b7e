//! How many standing instructions the core hears, and how many other sentences it takes for one.

use rawr_core::words::standing;
use rawr_timing::sentences::{Sentence, SentenceKind, expand};

/// A better detector may raise the first number and lower the second.
fn check(file: &str, least_heard: usize, most_false: usize) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(rawr_timing::folder().join(file))?;
    let sentences = expand(&text)?;
    let (directives, decoys): (Vec<_>, Vec<_>) =
        sentences.iter().partition(|s| s.kind == SentenceKind::Directive);
    assert_eq!([directives.len(), decoys.len()], [100, 100], "{file}");
    for sentences in [&directives, &decoys] {
        let english = sentences.iter().filter(|s| s.language == "en").count();
        assert_eq!(english, 40, "{file}");
    }
    let missed = texts(&directives, |heard| !heard);
    assert!(directives.len() - missed.len() >= least_heard, "{file}: not heard: {missed:#?}");
    let rung = texts(&decoys, |heard| heard);
    assert!(rung.len() <= most_false, "{file}: taken for an instruction: {rung:#?}");
    Ok(())
}

fn texts<'s>(sentences: &[&'s Sentence], wanted: fn(bool) -> bool) -> Vec<&'s str> {
    let heard = |text: &str| standing::sentences(text).iter().any(|found| found.stands);
    sentences.iter().map(|s| &*s.text).filter(|text| wanted(heard(text))).collect()
}

#[test]
fn standing_instructions_are_heard() {
    check("directives.txt", 99, 0).unwrap();
}

/// Nothing was changed for these sentences.
#[test]
fn standing_instructions_that_it_was_not_made_for_are_heard() {
    check("directives-blind.txt", 93, 3).unwrap();
}

#[test]
fn the_lists_have_no_sentence_in_common() {
    let [known, blind] = ["directives.txt", "directives-blind.txt"].map(|file| {
        let text = std::fs::read_to_string(rawr_timing::folder().join(file)).unwrap();
        let texts = expand(&text).unwrap().into_iter().map(|s| s.text);
        texts.collect::<Vec<_>>()
    });
    let both: Vec<_> = known.iter().filter(|text| blind.contains(text)).collect();
    assert_eq!(both, [""; 0]);
}
