//! The conversation as the model gets it, its size, and its rewriting by a compaction. Pure.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::model::{Call, TokenCount};
use crate::host::{Keep, is_marked};

/// One item of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item {
    /// The fixed beginning.
    System {
        text: String,
    },
    /// A person's message, or a text of rawr's.
    User {
        text: String,
    },
    /// What took the place of everything before it.
    Summary {
        text: String,
    },
    Assistant {
        text: Option<String>,
        calls: Vec<Call>,
    },
    /// What came of a call.
    Result {
        call_id: String,
        text: String,
    },
}

/// The whole of it. The first item is fixed.
#[derive(Debug)]
pub(super) struct History {
    /// Shared with requests that run beside the turn.
    items: Arc<Vec<Item>>,
    measured: Option<Measured>,
}

/// A provider's own count of the first items; the rest is estimated.
#[derive(Debug, Clone, Copy)]
struct Measured {
    items: usize,
    tokens: u64,
}

/// What roles and separators cost, beside the text.
const ITEM_TOKENS: u64 = 4;
const BYTES_A_TOKEN: u64 = 4;

/// How a call is named that the provider did not name.
pub(super) const CALL: &str = "call-";

/// An estimate: a token is taken for four bytes.
pub(super) fn tokens_of(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_A_TOKEN)
}

impl Item {
    pub(super) fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    pub(super) fn tokens(&self) -> u64 {
        let bytes = match self {
            Self::System { text } | Self::User { text } | Self::Summary { text } => text.len(),
            Self::Result { text, .. } => text.len(),
            Self::Assistant { text, calls } => {
                let calls = calls.iter().map(|call| call.name.len() + call.arguments.len());
                text.as_ref().map_or(0, String::len) + calls.sum::<usize>()
            }
        };
        ITEM_TOKENS + tokens_of(bytes)
    }
}

impl History {
    pub(super) fn new(instructions: String) -> Self {
        let items = Arc::new(vec![Item::System { text: instructions }]);
        Self { items, measured: None }
    }

    /// One that was kept; it brings its own beginning.
    pub(super) fn kept(items: Vec<Item>) -> Self {
        Self { items: Arc::new(items), measured: None }
    }

    /// The highest number among the calls that the agent itself had to name.
    pub(super) fn highest_call(&self) -> u64 {
        let calls = self.items.iter().flat_map(|item| match item {
            Item::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        let number = |call: &Call| call.id.strip_prefix(CALL)?.parse().ok();
        calls.filter_map(number).max().unwrap_or(0)
    }

    pub(super) fn push(&mut self, item: Item) {
        Arc::make_mut(&mut self.items).push(item);
    }

    /// As it stands now, whatever becomes of it.
    pub(super) fn snapshot(&self) -> Arc<Vec<Item>> {
        Arc::clone(&self.items)
    }

    pub(super) fn tokens(&self) -> u64 {
        let (from, tokens) =
            self.measured.map_or((0, 0), |measured| (measured.items, measured.tokens));
        tokens + self.items[from..].iter().map(Item::tokens).sum::<u64>()
    }

    /// The provider has counted everything up to here.
    pub(super) fn measure(&mut self, counted: &TokenCount) {
        self.measured = Some(Measured { items: self.items.len(), tokens: counted.context() });
    }

    /// What is left: the fixed beginning, what of the user's messages is to be kept, and the summary.
    pub(super) fn compact(&mut self, summary: String, keep: Keep, user_tokens: u64) {
        let kept = match keep {
            Keep::UserMessages => self.newest_messages(user_tokens),
            Keep::Nothing => Vec::new(),
        };
        let items = Arc::make_mut(&mut self.items);
        items.truncate(1);
        items.extend(kept);
        items.push(Item::Summary { text: summary });
        self.measured = None;
    }

    /// What is left: the fixed beginning, and these.
    pub(super) fn replace(&mut self, rest: Vec<Item>) {
        let items = Arc::make_mut(&mut self.items);
        items.truncate(1);
        items.extend(rest);
        self.measured = None;
    }

    /// The message that crosses the limit keeps its beginning, since that is where a person says what is wanted.
    fn newest_messages(&self, mut left: u64) -> Vec<Item> {
        let mut kept = Vec::new();
        for item in self.items.iter().rev() {
            let Item::User { text } = item else { continue };
            // A text of rawr's that has had its answer is of no use after a compaction.
            if is_marked(text) {
                continue;
            }
            let room = left.saturating_sub(ITEM_TOKENS).saturating_mul(BYTES_A_TOKEN);
            let text = beginning(text, usize::try_from(room).unwrap_or(usize::MAX));
            if text.is_empty() {
                break;
            }
            let item = Item::user(text);
            left = left.saturating_sub(item.tokens());
            kept.push(item);
        }
        kept.reverse();
        kept
    }
}

/// The items without the older half of those after the fixed beginning; no result is left without its call.
/// `None` when nothing can be left out.
pub(super) fn without_oldest(items: &[Item]) -> Option<Vec<Item>> {
    let (first, rest) = items.split_first()?;
    let begins = |item: &Item| !matches!(item, Item::Result { .. });
    let after = rest.len().div_ceil(2);
    let at = after + rest.get(after..)?.iter().position(begins)?;
    Some(std::iter::once(first).chain(&rest[at..]).cloned().collect())
}

/// At most so many bytes of a text, whole letters only.
pub(super) fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Item {
        Item::Assistant { text: Some(text.to_owned()), calls: Vec::new() }
    }

    fn texts(items: &[Item]) -> Vec<&str> {
        let text = |item| match item {
            &Item::System { ref text }
            | &Item::User { ref text }
            | &Item::Summary { ref text }
            | &Item::Result { ref text, .. } => text.as_str(),
            Item::Assistant { text, .. } => text.as_deref().unwrap_or_default(),
        };
        items.iter().map(text).collect()
    }

    fn check(keep: Keep, user_tokens: u64, expected: &[&str]) {
        let mut history = History::new("fixed".to_owned());
        history.push(Item::Summary { text: "an older summary".to_owned() });
        for text in
            ["first question", "packet please\n\n[rawr:s1:packet_request]", "second question"]
        {
            history.push(Item::user(text));
            history.push(answer("an answer"));
            history.push(Item::Result { call_id: "1".to_owned(), text: "output".to_owned() });
        }
        history.compact("summary".to_owned(), keep, user_tokens);
        assert_eq!(texts(&history.snapshot()), expected, "{user_tokens}");
    }

    #[test]
    fn the_users_messages_stay_and_nothing_of_the_agents_or_of_rawrs_does() {
        let all = ["fixed", "first question", "second question", "summary"];
        check(Keep::UserMessages, 100, &all);
    }

    #[test]
    fn a_message_that_merely_quotes_rawr_is_the_users() {
        let mut history = History::new("fixed".to_owned());
        history.push(Item::user("what is\n[rawr:s1:handoff]\nfor?"));
        history.compact("summary".to_owned(), Keep::UserMessages, 100);
        assert_eq!(history.snapshot().len(), 3);
    }

    #[test]
    fn the_newest_messages_stay_and_the_one_at_the_limit_keeps_its_beginning() {
        check(Keep::UserMessages, 14, &["fixed", "first qu", "second question", "summary"]);
        check(Keep::UserMessages, 0, &["fixed", "summary"]);
    }

    #[test]
    fn without_messages_only_the_beginning_and_the_one_summary_stay() {
        check(Keep::Nothing, 100, &["fixed", "summary"]);
    }

    #[test]
    fn a_message_is_never_cut_inside_a_letter() {
        let mut history = History::new(String::new());
        history.push(Item::user("äöüß"));
        history.compact(String::new(), Keep::UserMessages, ITEM_TOKENS + 1);
        assert_eq!(texts(&history.snapshot()), ["", "äö", ""]);
        history.compact(String::new(), Keep::UserMessages, ITEM_TOKENS);
        assert_eq!(texts(&history.snapshot()), ["", ""]);
    }

    #[test]
    fn a_token_is_four_bytes_begun_where_the_provider_has_not_counted() {
        let mut history = History::new("12345".to_owned());
        history.push(Item::user(""));
        assert_eq!(history.tokens(), 2 * ITEM_TOKENS + 2);
        let counted =
            TokenCount { input: 100, output: 30, reasoning: Some(20), ..Default::default() };
        history.measure(&counted);
        history.push(Item::user("1234"));
        assert_eq!(history.tokens(), 110 + ITEM_TOKENS + 1);
        history.compact(String::new(), Keep::Nothing, 0);
        assert_eq!(history.tokens(), 2 * ITEM_TOKENS + 2);
    }

    #[test]
    fn what_is_left_out_of_a_history_that_is_too_long_leaves_no_result_alone() {
        let result = || Item::Result { call_id: "1".to_owned(), text: "output".to_owned() };
        let items = [Item::user("fixed"), Item::user("q"), answer("a"), result(), answer("b")];
        let left = without_oldest(&items).unwrap();
        assert_eq!(texts(&left), ["fixed", "b"]);
        assert_eq!(without_oldest(&left), None);
        assert_eq!(without_oldest(&[Item::user("fixed"), Item::user("q"), result()]), None);
    }
}
