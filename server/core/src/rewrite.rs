//! Compacts a history for a host that cannot do so itself: initial context, newest user messages, summary, snapshots.
//! The caller counts the tokens.

mod shorten;

use shorten::Shortened;

/// How many tokens of user messages are kept word for word, unless another budget is given.
pub const RECENT_USER_TOKENS: u64 = 20_000;

/// Who an item of a history is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewriteRole {
    /// Instructions of the host.
    System,
    User,
    /// The agent.
    Assistant,
    /// The result of a tool.
    Tool,
}

/// What an item is to a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewriteItemKind {
    /// Something said, or a tool's result.
    Message,
    /// What the host put at the start of the thread. It stays first.
    InitialContext,
    /// A snapshot of the environment. It moves to the end.
    Snapshot,
    /// The summary of an earlier compaction. It is dropped.
    Summary,
}

/// An item of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteItem {
    /// Who it is from.
    pub role: RewriteRole,
    /// What it is to a compaction.
    pub kind: RewriteItemKind,
    pub text: String,
    /// The host's id of it; absent for what rawr adds.
    pub id: Option<String>,
}

/// Counts the tokens of a text.
pub type Count<'c> = &'c mut dyn FnMut(&str) -> u64;

/// Bytes per token in [`estimate`].
pub const BYTES_PER_TOKEN: usize = 4;

/// Estimates tokens at four bytes each. Real text differs by 10% to 25% either way, which is good enough to compare
/// before and after.
pub fn estimate(text: &str) -> u64 {
    (text.len() as u64).div_ceil(BYTES_PER_TOKEN as u64)
}

/// The summary that replaces a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    prefix: String,
    text: String,
}

impl Summary {
    /// `None` for a blank text: a history is not dropped for nothing.
    pub fn new(prefix: &str, text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self { prefix: prefix.trim().to_owned(), text: text.to_owned() })
    }

    fn into_item(self) -> RewriteItem {
        let text = if self.prefix.is_empty() {
            self.text
        } else {
            format!("{}\n{}", self.prefix, self.text)
        };
        RewriteItem { role: RewriteRole::User, kind: RewriteItemKind::Summary, text, id: None }
    }

    /// Whether a text is an earlier summary, for hosts that do not store the kind of an item. An empty prefix
    /// identifies nothing.
    fn begins(&self, text: &str) -> bool {
        !self.prefix.is_empty()
            && text.strip_prefix(&self.prefix).is_some_and(|rest| rest.starts_with('\n'))
    }
}

/// A history after the compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The items, oldest first.
    pub items: Vec<RewriteItem>,
    /// Tokens of the old history, as `count` counts.
    pub tokens_before: u64,
    /// Tokens of the new history.
    pub tokens_after: u64,
}

/// An item and its size, so that no item is counted twice.
struct Measured {
    item: RewriteItem,
    tokens: u64,
}

/// Where an item of the old history goes.
enum NewPosition {
    Start,
    RecentUser,
    End,
    Nowhere,
}

/// Compacts a history. Doing so again with the same summary and budget changes nothing.
pub fn rewrite(
    items: Vec<RewriteItem>,
    summary: Summary,
    recent_user_tokens: u64,
    count: Count<'_>,
) -> Rewritten {
    let (mut kept, mut users, mut snapshots) = (Vec::new(), Vec::new(), Vec::new());
    let (mut leading, mut tokens_before) = (true, 0);
    for item in items {
        let place = place(&item, leading, &summary);
        leading &= matches!(place, NewPosition::Start | NewPosition::End);
        let measured = Measured { tokens: count(&item.text), item };
        tokens_before += measured.tokens;
        match place {
            NewPosition::Start => kept.push(measured),
            NewPosition::RecentUser => users.push(measured),
            NewPosition::End => snapshots.push(measured),
            NewPosition::Nowhere => {}
        }
    }
    kept.extend(recent(users, recent_user_tokens, count));
    let summary = summary.into_item();
    kept.push(Measured { tokens: count(&summary.text), item: summary });
    kept.extend(snapshots);
    Rewritten {
        tokens_before,
        tokens_after: kept.iter().map(|measured| measured.tokens).sum(),
        items: kept.into_iter().map(|measured| measured.item).collect(),
    }
}

fn place(item: &RewriteItem, leading: bool, summary: &Summary) -> NewPosition {
    match (item.kind, item.role) {
        (RewriteItemKind::InitialContext, _) => NewPosition::Start,
        (RewriteItemKind::Snapshot, _) => NewPosition::End,
        (RewriteItemKind::Message, RewriteRole::System) if leading => NewPosition::Start,
        (RewriteItemKind::Message, RewriteRole::User) if is_users_own(&item.text, summary) => {
            NewPosition::RecentUser
        }
        (RewriteItemKind::Message | RewriteItemKind::Summary, _) => NewPosition::Nowhere,
    }
}

fn is_users_own(text: &str, summary: &Summary) -> bool {
    let (start, end) = Shortened::written(text);
    !summary.begins(start) && !is_injected(end)
}

/// Whether rawr wrote it: a heads-up, packet request or handoff has its marker as the last line. A user who quotes a
/// marker writes more after it, or quotes it inside a sentence.
fn is_injected(text: &str) -> bool {
    let last = text.trim_end().rsplit_once('\n').map(|(_, last)| last);
    let inside = last.and_then(|last| last.strip_prefix("[rawr:")?.strip_suffix(']'));
    inside.and_then(|inside| inside.rsplit_once(':')).is_some_and(|(sequence, purpose)| {
        let name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        !sequence.is_empty()
            && !sequence.contains(char::is_whitespace)
            && !purpose.is_empty()
            && purpose.chars().all(name)
    })
}

/// The newest messages within the budget. The one that crosses it is shortened, and nothing older is kept, because a
/// gap would not be visible.
fn recent(users: Vec<Measured>, budget: u64, count: Count<'_>) -> Vec<Measured> {
    let mut left = budget;
    let mut kept = Vec::new();
    for mut measured in users.into_iter().rev() {
        if left == 0 {
            break;
        }
        let text = Shortened::read(&measured.item.text);
        // The mark of an earlier cut is not counted. Otherwise the message would be cut again each time.
        let size = if text.is_whole() { measured.tokens } else { text.tokens(count) };
        if size > left {
            if let Some(text) = text.within(left, size, count) {
                let text = text.to_string();
                measured =
                    Measured { tokens: count(&text), item: RewriteItem { text, ..measured.item } };
                kept.push(measured);
            }
            break;
        }
        left -= size;
        kept.push(measured);
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests;
