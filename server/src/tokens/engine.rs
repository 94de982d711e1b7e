//! The one place that knows the tokenizer crate, and whether it is built in. A vocabulary is read when it is first
//! counted by, which takes a while, and stays.

use super::Encoding;

pub const BUILT_IN: bool = cfg!(feature = "exact-tokens");

/// Text that looks like a special token is text.
#[cfg(feature = "exact-tokens")]
pub fn count(encoding: Encoding, text: &str) -> u64 {
    use std::sync::LazyLock;
    use tiktoken::{CoreBpe, encoding as read};

    static CL100K: LazyLock<CoreBpe> = LazyLock::new(read::cl100k_base);
    // Harmony differs by its special tokens only, and those are never counted as such.
    static O200K: LazyLock<CoreBpe> = LazyLock::new(read::o200k_base);

    let vocabulary = match encoding {
        Encoding::O200kBase | Encoding::O200kHarmony => &O200K,
        Encoding::Cl100kBase => &CL100K,
    };
    vocabulary.count(text) as u64
}

/// Never asked: without a vocabulary no method is exact.
#[cfg(not(feature = "exact-tokens"))]
pub fn count(_: Encoding, text: &str) -> u64 {
    rawr_core::rewrite::estimate(text)
}
