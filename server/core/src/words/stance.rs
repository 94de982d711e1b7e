//! What a sentence of an agent speaks of: an end, something open, how a thing works, or what comes next; whether it may
//! conclude, and whether it tells a part of a whole. What was learned of one word of a class holds for all.

use super::classes::ClassTable;
use super::model::{Features, hash, join, trait_feature};
use super::tokens::{Token, TokenKind};

pub(super) const ENDS: &str = "speaks of an end";
pub(super) const MOVES_ON: &str = "moves on";

/// Names, and words separated by blanks.
const STANCES: [(&str, &str); 4] = [
    (
        ENDS,
        "done complete completed completes completing finished finishes finish ready fixed fixes resolved resolves merged \
         pushed committed deployed released published pass passes passed passing green works working closed settled \
         handled addressed solved solves wrapped wraps concluded concludes shipped live implemented added updated removed \
         replaced rewrote renamed refactored migrated verified tested confirmed corrected covered gone clean stable \
         succeeds succeeded successfully successful set over reached conclusion summary recap",
    ),
    (
        "speaks of what is open",
        "fail fails failing failed still remaining remain remains left missing pending blocked open broken incomplete \
         error errors partially half almost nearly only yet tried persists some several but however although except \
         cannot unable need needs waiting stopped interrupted reverted so far",
    ),
    (
        "tells how something works",
        "returns return called calls flag function method loop state status callback field column button label log says \
         prints said wrote docs enum class event promise handler clicks option variant approach according after each \
         every must spec demands",
    ),
    (
        MOVES_ON,
        "next now moving turning proceed proceeding starting continue continuing move turn start on begin tackle let's \
         onward switching part second",
    ),
];

/// Among the first tokens of a sentence, one of these may open a conclusion. "TL;DR" is two tokens.
const CONCLUSIONS: &str = "tl conclude concluding conclusion conclusions summary summarize summarizing summarise sum summing recap \
     recapping takeaway takeaways upshot overall altogether ultimately nutshell short brief briefly bottom balance together \
     verdict closing final finally lesson wrap wrapping end all boils answer therefore zusammenfassend fazit kurzum bref \
     résumé resumen conclusión definitiva resumo conclusão";
/// The class after the stances. It is none of them, and stays out of a sentence's wording.
const MAY_CONCLUDE: u32 = 1 << STANCES.len();
/// In tokens.
const LATEST_CONCLUSION: usize = 5;

/// What follows a word that may open a conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// "Overall latency".
    Other,
    /// "Overall, …", "The bottom line: …".
    Comma,
    /// "My conclusion is …", "I conclude that …".
    Statement,
    /// "Summary".
    End,
}

/// A number or one of these, before "of", tells a part of a whole.
const PARTS: [&str; 16] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "half", "most", "some", "many",
];

const PART_HASHES: [u32; PARTS.len()] = {
    let mut hashes = [0; PARTS.len()];
    let mut at = 0;
    while at < PARTS.len() {
        hashes[at] = hash(PARTS[at].as_bytes(), 0);
        at += 1;
    }
    hashes
};

pub(super) fn table() -> ClassTable {
    let stances = STANCES.iter().map(|(_, words)| words.split_whitespace());
    ClassTable::new(stances.chain([CONCLUSIONS.split_whitespace()]))
}

/// The hashes of a stance from one mood on.
pub(super) const fn hashes<const MOODS: usize>(stance: &str, from: usize) -> [u32; MOODS] {
    let mut hashes = [0; MOODS];
    let mut mood = 0;
    while mood < MOODS {
        hashes[mood] = trait_feature(stance, (from + mood) as u32);
        mood += 1;
    }
    hashes
}

/// Each stance of a sentence under its mood, once more if it stands near the end, all of them together, a part of a whole,
/// and what may open a conclusion.
pub(super) fn of(
    features: &mut Features,
    table: &ClassTable,
    sentence: &[Token],
    mood: u32,
    late: bool,
) {
    let (Some(first), Some(last)) = (sentence.first(), sentence.last()) else { return };
    let span = (first.from, last.to);
    let stances = table.of(sentence).bits() & (MAY_CONCLUDE - 1);
    for (at, (name, _)) in STANCES.iter().enumerate() {
        if stances & (1 << at) != 0 {
            features.add_sentence_trait(name, mood, span);
            if late {
                features.add_sentence_trait(name, 8 + mood, span);
            }
        }
    }
    features.add_sentence_trait("its wording", 16 + stances * 8 + mood, span);
    let of = hash(b"of", 0);
    let is_part =
        |token: &Token| token.kind == TokenKind::Masked || PART_HASHES.contains(&token.hash);
    let share =
        |tokens: &[Token]| matches!(tokens, [part, word, _] if word.hash == of && is_part(part));
    if sentence.windows(3).any(share) {
        features.add_sentence_trait("so many of all", mood, span);
    }
    if let Some((word, after)) = conclusion(table, sentence) {
        let asks = u32::from(last.kind == TokenKind::Question);
        features.add_sentence_trait("may conclude", 2 * after as u32 + asks, span);
        features.add_sentence_trait("may conclude by this word", join(word, after as u32), span);
    }
}

/// The first word that may open a conclusion, and what follows it.
fn conclusion(table: &ClassTable, sentence: &[Token]) -> Option<(u32, After)> {
    let start = sentence.iter().position(|token| token.kind != TokenKind::Mark)?;
    let words = &sentence[start..];
    let opens = |token: &Token| table.of(std::slice::from_ref(token)).bits() & MAY_CONCLUDE != 0;
    let at = words.iter().take(LATEST_CONCLUSION).position(opens)?;
    let after = match words.get(at + 1) {
        Some(Token { kind: TokenKind::Comma, .. }) => After::Comma,
        Some(Token { hash: word, .. })
            if *word == const { hash(b"is", 0) } || *word == const { hash(b"that", 0) } =>
        {
            After::Statement
        }
        None | Some(Token { kind: TokenKind::Stop | TokenKind::Question, .. }) => After::End,
        Some(_) => After::Other,
    };
    Some((words[at].hash, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tokens::{self, Masking, ReadingWindow};

    #[test]
    fn the_opening_of_a_conclusion_is_found_with_what_follows() {
        let table = table();
        let check = |sentence: &str, expected: Option<After>| {
            let reading = ReadingWindow { head: 300, tail: 900, masking: Masking::Quotes };
            let tokens = tokens::read(sentence, reading).list;
            let found = conclusion(&table, &tokens).map(|(_, after)| after);
            assert_eq!(found, expected, "{sentence}");
        };
        check("In short: it works", Some(After::Comma));
        check("So, overall, it works", Some(After::Comma));
        check("The verdict is good", Some(After::Statement));
        check("From this I conclude that it works", Some(After::Statement));
        check("## Summary", Some(After::End));
        check("Overall latency fell", Some(After::Other));
        check("The sixth word here is overall, it seems", None);
        check("✅", None);
        check("It works", None);
    }
}
