//! The conversation as it is sent to the model, its size in tokens, and its compaction. Pure.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tools::ModelToolCall;
use crate::host::{KeptHistory, is_marked};

/// One item of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentItem {
    /// The system prompt, always the first item.
    System {
        /// The prompt.
        text: String,
    },
    /// A user message, or a text from rawr.
    User {
        /// The message.
        text: String,
    },
    /// A summary that replaced earlier items.
    Summary {
        /// The summary.
        text: String,
    },
    /// An answer of the model.
    Assistant {
        /// The message.
        text: Option<String>,
        /// The tool calls.
        calls: Vec<ModelToolCall>,
    },
    /// The result of a tool call.
    Result {
        /// The call's id.
        call_id: String,
        /// The result.
        text: String,
    },
}

/// The whole conversation. The first item never changes.
#[derive(Debug)]
pub(super) struct AgentHistory {
    /// Shared with concurrent requests.
    items: Arc<Vec<AgentItem>>,
    measured: Option<CountedPrefix>,
}

/// The provider's token count of the first items. The others are estimated.
#[derive(Debug, Clone, Copy)]
struct CountedPrefix {
    items: usize,
    tokens: u64,
}

/// The tokens of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCount {
    /// Input tokens.
    pub input: u64,
    /// Input tokens that were read from the provider's cache.
    pub cached_input: Option<u64>,
    /// Output tokens.
    pub output: u64,
    /// Output tokens for reasoning, which do not stay in the context.
    pub reasoning: Option<u64>,
}

/// Tokens for the role and separators of an item.
const ITEM_TOKENS: u64 = 4;
const BYTES_A_TOKEN: u64 = 4;

/// Prefix of the ids that the agent gives to calls without one.
pub(super) const CALL: &str = "call-";

/// Estimates tokens at four bytes per token.
pub(super) fn tokens_of(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_A_TOKEN)
}

impl TokenCount {
    /// The size of the context after the request, in tokens.
    pub(super) fn context(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_sub(self.reasoning.unwrap_or(0))
    }
}

impl AgentItem {
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

impl AgentHistory {
    pub(super) fn new(instructions: String) -> Self {
        let items = Arc::new(vec![AgentItem::System { text: instructions }]);
        Self { items, measured: None }
    }

    /// A saved history, including its system prompt.
    pub(super) fn kept(items: Vec<AgentItem>) -> Self {
        Self { items: Arc::new(items), measured: None }
    }

    /// The highest number in an id that the agent gave to a call.
    pub(super) fn highest_call(&self) -> u64 {
        let calls = self.items.iter().flat_map(|item| match item {
            AgentItem::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        let number = |call: &ModelToolCall| call.id.strip_prefix(CALL)?.parse().ok();
        calls.filter_map(number).max().unwrap_or(0)
    }

    pub(super) fn push(&mut self, item: AgentItem) {
        Arc::make_mut(&mut self.items).push(item);
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Removes the user's messages at the end that are not before this position.
    pub(super) fn withdraw_messages(&mut self, first: usize) {
        let is_message =
            |item: &AgentItem| matches!(item, AgentItem::User { text } if !is_marked(text));
        while self.items.len() > first && self.items.last().is_some_and(is_message) {
            Arc::make_mut(&mut self.items).pop();
        }
    }

    /// An immutable copy of the current items.
    pub(super) fn snapshot(&self) -> Arc<Vec<AgentItem>> {
        Arc::clone(&self.items)
    }

    pub(super) fn tokens(&self) -> u64 {
        let (from, tokens) =
            self.measured.map_or((0, 0), |measured| (measured.items, measured.tokens));
        tokens.saturating_add(self.items[from..].iter().map(AgentItem::tokens).sum())
    }

    /// Records the provider's count of all items so far.
    pub(super) fn measure(&mut self, counted: &TokenCount) {
        self.measured = Some(CountedPrefix { items: self.items.len(), tokens: counted.context() });
    }

    /// Replaces the history with the system prompt, the kept user messages and the summary.
    pub(super) fn compact(&mut self, summary: String, keep: KeptHistory, user_tokens: u64) {
        let kept = match keep {
            KeptHistory::UserMessages => self.newest_messages(user_tokens),
            KeptHistory::Nothing => Vec::new(),
        };
        let items = Arc::make_mut(&mut self.items);
        items.truncate(1);
        items.extend(kept);
        items.push(AgentItem::Summary { text: summary });
        self.measured = None;
    }

    /// Replaces everything after the system prompt.
    pub(super) fn replace(&mut self, rest: Vec<AgentItem>) {
        let items = Arc::make_mut(&mut self.items);
        items.truncate(1);
        items.extend(rest);
        self.measured = None;
    }

    /// The newest user messages. The message at the limit keeps its beginning, where users usually state the request.
    fn newest_messages(&self, mut left: u64) -> Vec<AgentItem> {
        let mut kept = Vec::new();
        for item in self.items.iter().rev() {
            let AgentItem::User { text } = item else { continue };
            // An answered text from rawr is not needed after a compaction.
            if is_marked(text) {
                continue;
            }
            let room = left.saturating_sub(ITEM_TOKENS).saturating_mul(BYTES_A_TOKEN);
            let text = beginning(text, usize::try_from(room).unwrap_or(usize::MAX));
            if text.is_empty() {
                break;
            }
            let item = AgentItem::user(text);
            left = left.saturating_sub(item.tokens());
            kept.push(item);
        }
        kept.reverse();
        kept
    }
}

/// Removes the older half of the items after the system prompt, without leaving a result that has no call. `None` if nothing
/// can be removed.
pub(super) fn without_oldest(items: &[AgentItem]) -> Option<Vec<AgentItem>> {
    let (first, rest) = items.split_first()?;
    let begins = |item: &AgentItem| !matches!(item, AgentItem::Result { .. });
    let after = rest.len().div_ceil(2);
    let at = after + rest.get(after..)?.iter().position(begins)?;
    Some(std::iter::once(first).chain(&rest[at..]).cloned().collect())
}

/// The first `bytes` bytes of a text, cut at a character boundary.
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

    fn answer(text: &str) -> AgentItem {
        AgentItem::Assistant { text: Some(text.to_owned()), calls: Vec::new() }
    }

    fn texts(items: &[AgentItem]) -> Vec<&str> {
        let text = |item| match item {
            &AgentItem::System { ref text }
            | &AgentItem::User { ref text }
            | &AgentItem::Summary { ref text }
            | &AgentItem::Result { ref text, .. } => text.as_str(),
            AgentItem::Assistant { text, .. } => text.as_deref().unwrap_or_default(),
        };
        items.iter().map(text).collect()
    }

    fn check(keep: KeptHistory, user_tokens: u64, expected: &[&str]) {
        let mut history = AgentHistory::new("fixed".to_owned());
        history.push(AgentItem::Summary { text: "an older summary".to_owned() });
        for text in
            ["first question", "packet please\n\n[rawr:s1:packet_request]", "second question"]
        {
            history.push(AgentItem::user(text));
            history.push(answer("an answer"));
            history.push(AgentItem::Result { call_id: "1".to_owned(), text: "output".to_owned() });
        }
        history.compact("summary".to_owned(), keep, user_tokens);
        assert_eq!(texts(&history.snapshot()), expected, "{user_tokens}");
    }

    #[test]
    fn only_user_messages_are_kept() {
        let all = ["fixed", "first question", "second question", "summary"];
        check(KeptHistory::UserMessages, 100, &all);
    }

    #[test]
    fn a_user_message_that_quotes_a_marker_is_kept() {
        let mut history = AgentHistory::new("fixed".to_owned());
        history.push(AgentItem::user("what is\n[rawr:s1:handoff]\nfor?"));
        history.compact("summary".to_owned(), KeptHistory::UserMessages, 100);
        assert_eq!(history.snapshot().len(), 3);
    }

    #[test]
    fn the_newest_messages_are_kept_and_the_one_at_the_limit_is_cut() {
        check(KeptHistory::UserMessages, 14, &["fixed", "first qu", "second question", "summary"]);
        check(KeptHistory::UserMessages, 0, &["fixed", "summary"]);
    }

    #[test]
    fn without_messages_only_the_system_prompt_and_the_summary_remain() {
        check(KeptHistory::Nothing, 100, &["fixed", "summary"]);
    }

    #[test]
    fn a_message_is_cut_at_a_character_boundary() {
        let mut history = AgentHistory::new(String::new());
        history.push(AgentItem::user("äöüß"));
        history.compact(String::new(), KeptHistory::UserMessages, ITEM_TOKENS + 1);
        assert_eq!(texts(&history.snapshot()), ["", "äö", ""]);
        history.compact(String::new(), KeptHistory::UserMessages, ITEM_TOKENS);
        assert_eq!(texts(&history.snapshot()), ["", ""]);
    }

    #[test]
    fn tokens_are_estimated_where_the_provider_has_not_counted() {
        let mut history = AgentHistory::new("12345".to_owned());
        history.push(AgentItem::user(""));
        assert_eq!(history.tokens(), 2 * ITEM_TOKENS + 2);
        let counted =
            TokenCount { input: 100, output: 30, reasoning: Some(20), ..Default::default() };
        history.measure(&counted);
        history.push(AgentItem::user("1234"));
        assert_eq!(history.tokens(), 110 + ITEM_TOKENS + 1);
        history.compact(String::new(), KeptHistory::Nothing, 0);
        assert_eq!(history.tokens(), 2 * ITEM_TOKENS + 2);
    }

    #[test]
    fn shortening_a_history_leaves_no_result_without_its_call() {
        let result = || AgentItem::Result { call_id: "1".to_owned(), text: "output".to_owned() };
        let items =
            [AgentItem::user("fixed"), AgentItem::user("q"), answer("a"), result(), answer("b")];
        let left = without_oldest(&items).unwrap();
        assert_eq!(texts(&left), ["fixed", "b"]);
        assert_eq!(without_oldest(&left), None);
        assert_eq!(
            without_oldest(&[AgentItem::user("fixed"), AgentItem::user("q"), result()]),
            None
        );
    }
}
