//! Rewriting a history for a host that cannot: what was there at the start, the newest user messages, the summary.

/// How much of what the user said is kept word for word, unless another budget is given.
pub const RECENT_USER_TOKENS: u64 = 20_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub role: Role,
    pub text: String,
    pub id: Option<String>,
}

/// Four bytes a token: off by a tenth to a quarter on real text, and good enough to compare before with after.
pub fn estimate(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

pub fn tokens(items: &[Item]) -> u64 {
    items.iter().map(|item| estimate(&item.text)).sum()
}

/// System items stay. User messages stay as far as the budget reaches, the newest first; the one that crosses it is
/// cut in its middle. Everything else gives way to the summary, which comes last.
pub fn rewrite(
    items: Vec<Item>,
    prefix: &str,
    summary: &str,
    recent_user_tokens: Option<u64>,
) -> Vec<Item> {
    let mut budget = recent_user_tokens.unwrap_or(RECENT_USER_TOKENS);
    let mut kept: Vec<Item> = Vec::new();
    for mut item in items.into_iter().rev() {
        match item.role {
            Role::System => kept.push(item),
            Role::User if budget > 0 && !item.text.starts_with(prefix.trim_end()) => {
                let size = estimate(&item.text);
                if size > budget {
                    item.text =
                        cut_middle(&item.text, usize::try_from(budget * 4).unwrap_or(usize::MAX));
                }
                budget = budget.saturating_sub(size);
                kept.push(item);
            }
            Role::User | Role::Assistant | Role::Tool => {}
        }
    }
    kept.reverse();
    let text = format!("{}\n{}", prefix.trim_end(), summary.trim());
    kept.push(Item { role: Role::User, text, id: None });
    kept
}

fn cut_middle(text: &str, bytes: usize) -> String {
    const CUT: &str = "\n[… cut …]\n";
    let half = bytes.saturating_sub(CUT.len()) / 2;
    let start = (0..=half.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let from = text.len().saturating_sub(half).max(start);
    let end = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    format!("{}{CUT}{}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(role: Role, text: &str) -> Item {
        Item { role, text: text.to_owned(), id: None }
    }

    #[test]
    fn only_system_recent_user_messages_and_the_summary_survive() {
        let history = vec![
            item(Role::System, "be brief"),
            item(Role::User, "SUMMARY:\nof before"),
            item(Role::User, &"old ".repeat(40)),
            item(Role::Assistant, "working"),
            item(Role::Tool, "output"),
            item(Role::User, "newest"),
        ];
        let texts: Vec<_> = rewrite(history, "SUMMARY:\n", " all of it ", Some(12))
            .into_iter()
            .map(|item| item.text)
            .collect();
        assert_eq!(
            texts,
            ["be brief", "old old old \n[… cut …]\nold old old ", "newest", "SUMMARY:\nall of it"]
        );
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let history = vec![item(Role::User, &"é".repeat(100))];
        for budget in 0..60 {
            assert!(!rewrite(history.clone(), "P", "s", Some(budget)).is_empty());
        }
    }
}
