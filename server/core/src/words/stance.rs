//! What a sentence of an agent speaks of: an end, something open, how a thing works, or what comes next. It holds for all
//! of a class's words what was learned of one.

use super::classes::ClassTable;
use super::model::{Features, hash, join};
use super::tokens::{Token, TokenKind};

/// Names, and words separated by blanks.
const STANCES: [(&str, &str); 4] = [
    (
        "speaks of an end",
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
        "moves on",
        "next now moving turning proceed proceeding starting continue continuing move turn start on begin tackle let's \
         onward switching part second",
    ),
];

/// Among the first words of a sentence, one of these may open a conclusion.
const CONCLUSIONS: &str = "conclude concluding conclusion conclusions summary summarize summarizing summarise sum summing recap \
     recapping takeaway takeaways upshot overall altogether ultimately nutshell short brief briefly bottom balance together \
     verdict closing final finally lesson wrap wrapping end all boils answer therefore tldr zusammenfassend fazit kurzum bref \
     résumé resumen conclusión definitiva resumo conclusão";
const MAY_CONCLUDE: u32 = 1 << STANCES.len();
/// In words.
const LATEST_CONCLUSION: usize = 5;

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

/// Each stance of a sentence under its mood, once more if it stands near the end, and all of them together.
pub(super) fn of(
    features: &mut Features,
    table: &ClassTable,
    sentence: &[Token],
    mood: u32,
    late: bool,
) {
    let (Some(first), Some(last)) = (sentence.first(), sentence.last()) else { return };
    let place = (first.from, last.to);
    let stances = table.of(sentence).bits() & (MAY_CONCLUDE - 1);
    for (at, (name, _)) in STANCES.iter().enumerate() {
        if stances & (1 << at) != 0 {
            features.add_sentence_trait(name, mood, place);
            if late {
                features.add_sentence_trait(name, 8 + mood, place);
            }
        }
    }
    features.add_sentence_trait("its wording", 16 + stances * 8 + mood, place);
    let of = hash(b"of", 0);
    let is_part =
        |token: &Token| token.kind == TokenKind::Masked || PART_HASHES.contains(&token.hash);
    let share =
        |tokens: &[Token]| matches!(tokens, [part, word, _] if word.hash == of && is_part(part));
    if sentence.windows(3).any(share) {
        features.add_sentence_trait("so many of all", mood, place);
    }
    if let Some((word, after)) = conclusion(table, sentence) {
        let asks = u32::from(last.kind == TokenKind::Question);
        features.add_sentence_trait("may conclude", 2 * after + asks, place);
        features.add_sentence_trait("may conclude by this word", join(word, after), place);
    }
}

/// The first word that may open a conclusion, and what follows it: another word, a comma or a colon, "is" or "that", or
/// nothing.
fn conclusion(table: &ClassTable, sentence: &[Token]) -> Option<(u32, u32)> {
    let start = sentence.iter().position(|token| token.kind != TokenKind::Mark)?;
    let words = &sentence[start..];
    let opens = |token: &Token| table.of(std::slice::from_ref(token)).bits() & MAY_CONCLUDE != 0;
    let at = words.iter().take(LATEST_CONCLUSION).position(opens)?;
    let after = match words.get(at + 1) {
        Some(Token { kind: TokenKind::Comma, .. }) => 1,
        Some(Token { hash: word, .. })
            if *word == const { hash(b"is", 0) } || *word == const { hash(b"that", 0) } =>
        {
            2
        }
        None | Some(Token { kind: TokenKind::Stop | TokenKind::Question, .. }) => 3,
        Some(_) => 0,
    };
    Some((words[at].hash, after))
}
