//! The only module that uses the tokenizer crate, and knows whether it is built in. A vocabulary is loaded when it is
//! first used, which takes a while, and stays in memory.

use super::TokenEncoding;

pub const BUILT_IN: bool = cfg!(feature = "exact-tokens");

/// Special tokens in the text are counted as plain text.
#[cfg(feature = "exact-tokens")]
pub fn count(encoding: TokenEncoding, text: &str) -> u64 {
    use std::sync::LazyLock;
    use tiktoken::{CoreBpe, encoding as read};

    static CL100K: LazyLock<CoreBpe> = LazyLock::new(read::cl100k_base);
    // Harmony differs only in its special tokens, which are never counted as such.
    static O200K: LazyLock<CoreBpe> = LazyLock::new(read::o200k_base);

    let vocabulary = match encoding {
        TokenEncoding::O200kBase | TokenEncoding::O200kHarmony => &O200K,
        TokenEncoding::Cl100kBase => &CL100K,
    };
    vocabulary.count(text) as u64
}

/// Never called: without a vocabulary no method is exact.
#[cfg(not(feature = "exact-tokens"))]
pub fn count(_: TokenEncoding, text: &str) -> u64 {
    rawr_core::rewrite::estimate(text)
}
