//! What an agent offers at the end of its last message, and what a short answer of the person is to it: "yes" and "2" say
//! nothing by themselves.

use super::classes::{ClassTable, Classes};
use super::tokens::{Counts, Token, TokenKind};
use super::traits;
use std::sync::LazyLock;

/// Bytes at the end of a message in which it offers.
const LATE: usize = 700;
/// So many of the last sentences may ask or offer.
const LAST_SENTENCES: usize = 3;
/// A short answer has at most so many words, or characters where a word has no blank after it.
const SHORT: usize = 4;
const SHORT_IDEOGRAPHS: usize = 9;

const OFFERS: &str = "want shall would like wish prefer ready should willst möchtest soll sollen souhaites veux voulez quieres \
     deseas querés prefieres quer deseja хотите хочешь готов ister istersen isterseniz vuoi wil wilt \
     需要我 要我 要不要 是否 如果你 可以继 ましょう しますか ますか でしょ どうし 할까요 드릴까 하시겠 원하시 줄까 싶으";
const NEXT_JOBS: &str = "next proceed proceeding continue move moving start starting begin tackle phase step story task then nächste \
     nächsten nächstes nächster weiter suivante suivant prochaine prochain passe passer enchaîne continuer siguiente \
     próximo próxima continuar avance continúe continuo seguir следующий следующую дальше следующему продолжить sonraki \
     devam prossimo prossima continuare volgende verder 次の 次に 次は 続け 進め 下一 接下来 继续 다음 계속 진행 이어서";
const LEAVES: &str = "commit push merge pr deploy release publish committen pushen committer pousser commitear subir \
     fusionar коммит закоммитить пуш commitle pushla コミット プッシュ マージ デプロイ 提交 推送 合并 部署 커밋 푸시 머지 배포";

static OFFER_WORDS: LazyLock<ClassTable> = LazyLock::new(|| {
    ClassTable::new([OFFERS, NEXT_JOBS, LEAVES].iter().map(|words| words.split_whitespace()))
});

/// What an agent's last message offers at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Offer {
    #[default]
    Nothing,
    /// Another question.
    Question,
    /// To commit, push or release.
    Commit,
    /// To go on to another job.
    NextJob,
    /// A list of jobs or answers to choose from.
    Choices,
    /// A list, and no question.
    List,
}

impl Offer {
    pub(super) fn of(tokens: &[Token], length: usize) -> Self {
        let late = length.saturating_sub(LATE);
        let tokens = &tokens[tokens.partition_point(|token| (token.from as usize) < late)..];
        let entries = tokens.iter().filter(|token| token.is_entry()).count();
        let mut classes = 0;
        let mut offers = false;
        for sentence in traits::sentences(tokens).iter().rev().take(LAST_SENTENCES) {
            let of = OFFER_WORDS.of(sentence).bits();
            if traits::asks(sentence) || of & 1 != 0 {
                offers = true;
                classes |= of;
            }
        }
        match (entries >= 2, offers) {
            (true, true) => Self::Choices,
            (true, false) => Self::List,
            (false, true) if classes & 4 != 0 => Self::Commit,
            (false, true) if classes & 2 != 0 => Self::NextJob,
            (false, true) => Self::Question,
            (false, false) => Self::Nothing,
        }
    }
}

/// What a person's message is as an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// Too long for one.
    #[default]
    None,
    /// A number or a letter.
    Choice,
    Yes,
    No,
    GoOn,
    /// "Push it".
    Release,
    /// Other words, a few.
    Words,
    /// "Yes", and more.
    YesAnd,
}

impl Answer {
    pub(super) fn of(tokens: &[Token], counts: &Counts, all: Classes, first: Classes) -> Self {
        let words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
        let (mut count, mut ideographs, mut letters) = (0, 0, 0);
        let mut before = None;
        for word in words {
            let size = word.to - word.from;
            if before == Some(word.from) && size == 3 {
                ideographs += 1
            } else {
                count += 1
            }
            letters += usize::from(size == 1);
            before = Some(word.to);
        }
        let short = counts.lines <= 1 && count <= SHORT && count + ideographs <= SHORT_IDEOGRAPHS;
        if !short {
            return if first.agrees() { Self::YesAnd } else { Self::None };
        }
        if count + ideographs <= 2 && (counts.numbers > 0 || counts.numbered > 0 || letters == 1) {
            Self::Choice
        } else if all.releases() {
            Self::Release
        } else if all.refuses() {
            Self::No
        } else if all.goes_on() {
            Self::GoOn
        } else if first.agrees() {
            Self::Yes
        } else {
            Self::Words
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::classes::OF_PEOPLE;
    use crate::words::tokens::{self, Masking, ReadingWindow};

    const WHOLE: ReadingWindow = ReadingWindow { head: 2000, tail: 2000, masking: Masking::Code };

    #[test]
    fn what_an_agent_offers_is_read_at_its_end() {
        let check = |message: &str, expected: Offer| {
            let tokens = tokens::read(message, WHOLE).list;
            assert_eq!(Offer::of(&tokens, message.len()), expected, "{message}");
        };
        check("The importer is fixed.", Offer::Nothing);
        check("Is this what you meant?", Offer::Question);
        check("The importer is fixed. Shall I push it?", Offer::Commit);
        check("The importer is fixed. Want me to go on to the next story?", Offer::NextJob);
        check("Fertig. Wenn du willst, mache ich als Nächstes den Export.", Offer::NextJob);
        check("完成了。要继续下一步吗？", Offer::NextJob);
        check("修正しました。コミットしますか？", Offer::Commit);
        check("완료했습니다. 다음 작업을 진행할까요?", Offer::NextJob);
        check("Next:\n1. the export\n2. the docs\n\nWhich one?", Offer::Choices);
        check("It has:\n- an export\n- docs", Offer::List);
        let late = format!("Shall I push it?{}", " It is long.".repeat(100));
        check(&late, Offer::Nothing);
    }

    #[test]
    fn a_short_message_is_an_answer() {
        let check = |message: &str, expected: Answer| {
            let read = tokens::read(message, WHOLE);
            let classes = OF_PEOPLE.of(&read.list);
            let answer = Answer::of(&read.list, &read.counts, classes, classes);
            assert_eq!(answer, expected, "{message}");
        };
        check("2", Answer::Choice);
        check("b", Answer::Choice);
        check("yes", Answer::Yes);
        check("うん", Answer::Yes);
        check("nein", Answer::No);
        check("weiter", Answer::GoOn);
        check("계속", Answer::GoOn);
        check("push it", Answer::Release);
        check("コミットして", Answer::Release);
        check("提交并推送", Answer::Release);
        check("the export", Answer::Words);
        check("yes, and then have a look at the export of the orders", Answer::YesAnd);
        check("the export of the orders is empty on Mondays", Answer::None);
    }
}
