//! Compares exact counts with another implementation, and split texts with whole ones. Needs the vocabularies.

use super::*;
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

fn other(encoding: TokenEncoding) -> &'static CoreBPE {
    match encoding {
        TokenEncoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        TokenEncoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
        TokenEncoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
    }
}

fn check(text: &str) {
    for encoding in TokenEncoding::ALL {
        let expected = other(encoding).count_ordinary(text) as u64;
        let shown: String = text.chars().take(60).collect();
        assert_eq!(engine::count(encoding, text), expected, "{} of {shown:?}", encoding.name());
    }
}

const PROSE: &str = "The host can't compact while it's running; we'll wait. \u{201c}Why?\u{201d} she'd asked \u{2014} \
    they'd answered.\n\n  1. First, 2026-11-21.\n  2. Then 1234567890 and 3.14159.\n\ttabbed\r\nCRLF\r\n\r\n   trailing   ";
const CODE: &str = "pub fn cut<'a>(text: &'a str) -> &'a str {\n    // …\n    text.get(..=0x1F).unwrap_or(\"\")\n}\n\n\n\
    #include <stdio.h>\nint main(void){for(int i=0;i<10;++i)printf(\"%d\\n\",i);return 0;}/* end */\n/\n//\n\
    {\"key\":[1,2,{\"a\":null}],\"snake_case\":\"camelCaseHTTPServer\",\"path\":\"/usr/lib/x86_64.so.1\"}";
const CJK: &str = "上下文窗口将被压缩。请先写下继续工作所需的笔记，然后等待。\nコンテキストは圧縮されます。次の手順：テストを実行する。\n\
    컨텍스트가 압축됩니다. 다음 단계로 넘어가세요!\u{3000}全角　スペース１２３";
const SCRIPTS: &str = "Straße İstanbul naïve Ελληνικά Русский العربية مرحبا ١٢٣ हिन्दी ภาษาไทย עברית ǅungla ʰ a\u{308}e\u{301} \
    👩\u{200d}💻 🏳️\u{200d}🌈 👍🏽 ½ Ⅷ Ⓐ \u{feff}\u{a0}\u{2028}\u{85}";
const SPECIAL: &str = "<|endoftext|><|im_start|>system<|im_end|><|fim_prefix|> <|start|>assistant<|channel|>final<|message|>";

#[test]
fn counts_match_another_implementation() {
    for text in ["", " ", "\n", "a", PROSE, CODE, CJK, SCRIPTS, SPECIAL] {
        check(text);
    }
    check(&[PROSE, CODE, CJK, SCRIPTS, SPECIAL].concat().repeat(3));
    check(include_str!("../../tokens.rs"));
    for run in ["a", " ", "\n", "\t \n", "-", "=", "0", "好", "👍", "ab", "\r\n", "<|"] {
        check(&run.repeat(3000 / run.len()));
    }
}

#[test]
fn special_tokens_are_counted_as_text() {
    assert!(engine::count(TokenEncoding::O200kBase, "<|endoftext|>") > 1);
    assert!(engine::count(TokenEncoding::O200kHarmony, "<|channel|>") > 1);
}

/// Combined in all ways in which a pattern could fail.
const PARTS: &[&str] = &[
    "a",
    "Z",
    "é",
    "ß",
    "İ",
    "ǅ",
    "ʰ",
    "你",
    "好",
    "。",
    "，",
    "か",
    "한",
    "а",
    "\u{64b}",
    "\u{308}",
    "\u{200d}",
    "👍",
    "1",
    "23",
    "٣",
    "½",
    "Ⓐ",
    " ",
    "  ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{85}",
    "\u{b}",
    "\u{1c}",
    "'",
    "'s",
    "'LL",
    "\"",
    "/",
    "//",
    ".",
    "!",
    "{",
    "<|",
    "endoftext",
    "|>",
    "_",
    "-",
    "\0",
    "\u{feff}",
    "word",
    "ing",
    " the",
    "HTTP",
];

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PARTS), 0..40).prop_map(|parts| parts.concat())
}

/// Split positions as fractions of the length.
fn any_split() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..1.0, 0..8)
}

fn pieces<'t>(text: &'t str, at: &[f64]) -> Vec<&'t str> {
    let mut at: Vec<_> = at.iter().map(|part| (part * text.len() as f64) as usize).collect();
    at.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for to in at.into_iter().chain([text.len()]) {
        let to = (to..=text.len()).find(|to| text.is_char_boundary(*to)).unwrap();
        pieces.push(&text[from..to]);
        from = to;
    }
    pieces
}

proptest! {
    #[test]
    fn any_text_matches_another_implementation(text in any_text()) {
        check(&text);
    }

    #[test]
    fn any_split_of_any_text_counts_like_the_whole(text in any_text(), at in any_split()) {
        for encoding in [TokenEncoding::O200kBase, TokenEncoding::Cl100kBase] {
            let mut counter = TokenCounter::new(encoding);
            let mut so_far = String::new();
            for piece in pieces(&text, &at) {
                counter.push(piece);
                so_far.push_str(piece);
                prop_assert_eq!(counter.tokens(), engine::count(encoding, &so_far), "{:?}", so_far);
            }
        }
    }

    #[test]
    fn a_growing_conversation_counts_like_a_new_one(
        first in any_text(), more in prop::collection::vec((any_text(), 0usize..3), 1..4)
    ) {
        let mut memory = CountMemory::default();
        let mut texts = [first.repeat(40), "other ".repeat(1000), String::new()];
        for (added, which) in more {
            texts[which].push_str(&added);
            for encoding in [TokenEncoding::O200kBase, TokenEncoding::Cl100kBase] {
                let expected = engine::count(encoding, &texts[which]);
                prop_assert_eq!(memory.count(encoding, texts[which].clone()), expected);
            }
        }
    }
}

#[tokio::test]
async fn the_counting_thread_counts_exactly() {
    let tokens = TokenService::default();
    let method = CountMethod::Exact(TokenEncoding::O200kBase);
    assert_eq!(tokens.count(method, "hello world".to_owned()).await.unwrap(), 2);
    let each = tokens.with(method, |count| ["hello", " world", ""].map(count)).await;
    assert_eq!(each.unwrap(), [1, 1, 0]);
}
