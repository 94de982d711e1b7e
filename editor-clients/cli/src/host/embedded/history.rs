//! The conversation as the model gets it, its size, and its rewriting by a compaction. Pure.

use rawr_protocol::HistoryRole;

/// One item of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub role: HistoryRole,
    pub text: String,
}

/// The whole of it. The first item is fixed.
#[derive(Debug)]
pub(super) struct History {
    items: Vec<Item>,
}

/// What roles and separators cost, beside the text.
const ITEM_TOKENS: u64 = 4;
const BYTES_A_TOKEN: u64 = 4;

impl Item {
    pub(super) fn new(role: HistoryRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }

    fn tokens(&self) -> u64 {
        ITEM_TOKENS + (self.text.len() as u64).div_ceil(BYTES_A_TOKEN)
    }
}

impl History {
    pub(super) fn new(instructions: String) -> Self {
        Self { items: vec![Item::new(HistoryRole::System, instructions)] }
    }

    pub(super) fn push(&mut self, role: HistoryRole, text: impl Into<String>) {
        self.items.push(Item::new(role, text));
    }

    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    /// An estimate: a token is taken for four bytes.
    pub(super) fn tokens(&self) -> u64 {
        self.items.iter().map(Item::tokens).sum()
    }

    /// What is left: the fixed beginning, the newest user messages within `user_tokens`, and the summary.
    /// The message that crosses the limit keeps its beginning, since that is where a person says what is wanted.
    pub(super) fn compact(&mut self, summary: String, user_tokens: u64) {
        let mut left = user_tokens;
        let mut kept = Vec::new();
        for item in self.items.iter().rev().filter(|item| item.role == HistoryRole::User) {
            let room = left.saturating_sub(ITEM_TOKENS).saturating_mul(BYTES_A_TOKEN);
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            let text = beginning(&item.text, room);
            if text.is_empty() {
                break;
            }
            let item = Item::new(HistoryRole::User, text);
            left = left.saturating_sub(item.tokens());
            kept.push(item);
        }
        self.items.truncate(1);
        self.items.extend(kept.into_iter().rev());
        self.push(HistoryRole::User, summary);
    }
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

    fn check(user_tokens: u64, expected: &[&str]) {
        let mut history = History::new("fixed".to_owned());
        for text in ["first question", "second question"] {
            history.push(HistoryRole::User, text);
            history.push(HistoryRole::Assistant, "an answer");
            history.push(HistoryRole::Tool, "output");
        }
        history.compact("summary".to_owned(), user_tokens);
        let found: Vec<_> = history.items().iter().map(|item| item.text.as_str()).collect();
        assert_eq!(found, expected, "{user_tokens}");
    }

    #[test]
    fn user_messages_stay_and_nothing_of_the_agents_does() {
        check(100, &["fixed", "first question", "second question", "summary"]);
    }

    #[test]
    fn the_oldest_user_messages_go_first() {
        check(8, &["fixed", "second question", "summary"]);
        check(14, &["fixed", "first qu", "second question", "summary"]);
        check(0, &["fixed", "summary"]);
    }

    #[test]
    fn a_message_is_never_cut_inside_a_letter() {
        let mut history = History::new(String::new());
        history.push(HistoryRole::User, "äöüß");
        history.compact(String::new(), ITEM_TOKENS + 1);
        assert_eq!(history.items()[1].text, "äö");
        history.compact(String::new(), ITEM_TOKENS);
        assert_eq!(history.items().len(), 2);
    }

    #[test]
    fn a_token_is_four_bytes_begun() {
        let mut history = History::new("12345".to_owned());
        history.push(HistoryRole::User, "");
        assert_eq!(history.tokens(), 2 * ITEM_TOKENS + 2);
    }
}
