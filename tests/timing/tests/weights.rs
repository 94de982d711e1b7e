//! The committed weights are what the trainer makes of the committed data, and the data is what it says.

use rawr_core::words::{claim, next};
use rawr_timing::figures::{self, Prediction};
use rawr_timing::sentences::SentenceKind;
use rawr_timing::{data, vectors, weights};

#[test]
fn the_committed_weights_are_what_the_trainer_makes_of_the_data() {
    for (path, content) in weights().unwrap() {
        let committed = std::fs::read(&path).unwrap();
        assert!(
            committed == content,
            "{} differs; `cargo run -p rawr-timing -- train` rewrites it",
            path.display()
        );
    }
}

#[test]
fn each_classifiers_table_has_its_rows_and_fits_into_64_kilobytes() {
    let sizes = [
        ("claim.bin", claim::ROWS, claim::HEADS.len()),
        ("next.bin", next::ROWS, next::HEADS.len()),
    ];
    for (name, rows, heads) in sizes {
        let path = rawr_timing::folder().join("../../server/core/src/words").join(name);
        let size = std::fs::metadata(path).unwrap().len();
        assert_eq!(size, u64::from(rows) * (heads as u64 + 1), "{name}");
        assert!(size <= 64 << 10, "{name}: {size} bytes");
    }
}

#[test]
fn there_are_enough_sentences_of_each_kind_and_language() {
    let sentences = data().unwrap().sentences;
    let decoys = sentences.iter().filter(|sentence| sentence.kind.is_decoy()).count();
    assert!(decoys >= 3000, "{decoys} decoys");
    assert!(
        sentences.len() - decoys >= 3000,
        "{} claims and transitions",
        sentences.len() - decoys
    );
    for language in ["en", "de", "fr", "es", "pt", "zh", "ja"] {
        for kind in [
            SentenceKind::Done,
            SentenceKind::Announces,
            SentenceKind::Decoy,
            SentenceKind::New,
            SentenceKind::Close,
            SentenceKind::Same,
        ] {
            let is =
                |s: &&rawr_timing::sentences::Sentence| s.kind == kind && s.language == language;
            assert!(sentences.iter().filter(is).count() >= 5, "{kind:?} in {language}");
        }
    }
}

#[test]
fn the_classifier_hears_the_sentences_that_it_learned_from() {
    let sentences = data().unwrap().sentences;
    for language in ["en", "de", "fr", "es", "pt", "zh", "ja", ""] {
        let of: Vec<_> = sentences
            .iter()
            .filter(|sentence| sentence.language == language && sentence.kind.is_agents())
            .collect();
        let right = of.iter().filter(|sentence| {
            let done = matches!(sentence.kind, SentenceKind::Done | SentenceKind::DoneAndAnnounces);
            (claim::of(&sentence.text).done >= claim::HEARD_FROM) == done
        });
        let (right, all) = (right.count(), of.len());
        assert!(right * 100 >= all * 90, "{language}: {right} of {all}");
    }
}

#[test]
fn nothing_that_measures_is_learned_from() {
    let file = std::fs::read_to_string(rawr_timing::folder().join("blind.txt")).unwrap();
    let blind = rawr_timing::sentences::expand(&file).unwrap();
    let learned = data().unwrap().sentences;
    let learned: std::collections::BTreeSet<_> = learned.iter().map(|s| &s.text).collect();
    let both: Vec<_> =
        blind.iter().map(|s| &s.text).filter(|text| learned.contains(text)).collect();
    assert!(both.is_empty(), "{both:#?}");
}

/// Sentences that it has not learned from. A better model may raise the counts.
#[test]
fn the_classifier_hears_most_of_what_it_has_not_learned_from() {
    let file = std::fs::read_to_string(rawr_timing::folder().join("blind.txt")).unwrap();
    let sentences = rawr_timing::sentences::expand(&file).unwrap();
    let (decoys, endings): (Vec<_>, Vec<_>) = sentences.iter().partition(|s| s.kind.is_decoy());
    let heard = |sentence: &&&rawr_timing::sentences::Sentence| {
        let claim = claim::of(&sentence.text);
        claim.done.max(claim.announces) >= claim::HEARD_FROM
    };
    let heard_endings = endings.iter().filter(heard).count();
    let missed: Vec<_> = endings.iter().filter(|s| !heard(s)).map(|s| &s.text).collect();
    assert!(
        heard_endings >= 735 && endings.len() == 781,
        "heard {heard_endings} of {}, not {missed:#?}",
        endings.len()
    );
    let rung: Vec<_> = decoys.iter().filter(heard).map(|s| &s.text).collect();
    assert!(rung.len() <= 8 && decoys.len() == 587, "taken for an ending: {rung:#?}");
}

#[test]
fn every_session_has_a_project_that_can_be_held_out() {
    let data = data().unwrap();
    let sessions: std::collections::BTreeSet<_> =
        data.turns.iter().map(|turn| turn.session).collect();
    let known: std::collections::BTreeSet<_> = data.projects.keys().copied().collect();
    assert_eq!(known, sessions);
}

#[test]
fn vectors_are_written_as_they_are_read() {
    let turns = data().unwrap().turns;
    assert_eq!(vectors::read(&vectors::write(&turns)).unwrap(), turns);
    assert!(turns.len() >= 3900);
    assert!(vectors::read(b"something else").is_err());
}

#[test]
fn damaged_vectors_are_refused() {
    let whole = vectors::write(&data().unwrap().turns[..1]);
    for length in 0..whole.len() {
        let read = vectors::read(&whole[..length]);
        assert!(read.is_err() || read.unwrap().is_empty(), "{length} of {}", whole.len());
    }
    // Behind the name of the format, the fingerprint, the session, the turn, the flags and the facts: how many hashes
    // there are, and the first of them.
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1 + 4 + 4 + 2 + 2;
    let count = whole[first..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let mut large = whole;
    large.splice(first + count..first + count, [0xff, 0xff, 0xff, 0xff]);
    assert!(vectors::read(&large).is_err());
}

#[test]
fn every_judgment_is_of_a_labeled_turn_end() {
    let turns = data().unwrap().turns;
    let told = Prediction {
        claim: [0.0; 2],
        next: [0.0; 3],
        phase: 0.5,
        by_itself: None,
        is_proposed: true,
    };
    let judgments = std::fs::read_to_string(rawr_timing::folder().join("judgments.txt")).unwrap();
    let figure = |judgments: &str| {
        figures::with_a_judge(&turns, &vec![told; turns.len()], judgments)
            .map_err(|error| error.to_string())
    };
    assert!(figure(&judgments).unwrap().contains("asked at 400 of 400"));
    assert_eq!(figure("00000000:t1 yes").unwrap_err(), "no turn end 00000000:t1");
}
