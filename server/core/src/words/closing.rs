//! Whether a message that closes the work asks for more than to put away what there is.

use super::classes::OF_PEOPLE;
use super::next::READING;
use super::tokens;

/// A longer message has more in it.
const LONGEST: usize = 1_000;

/// In lower case. They join two orders if enough stands before them: "create and merge the pull request" is one.
const JOINS: [&str; 14] = [
    "and",
    "then",
    "und",
    "dann",
    "et",
    "puis",
    "y",
    "luego",
    "e",
    "и",
    "затем",
    "ve",
    "en",
    "poi",
];
const WORDS_OF_AN_ORDER: usize = 2;

/// What is made where work is put away, beside what the classes know.
const PUT_AWAY: [&str; 8] =
    ["pull", "changelog", "tag", "version", "mr", "变更日志", "タグ", "変更履歴"];

/// Whether some order in it asks for a change, and not for a commit or a release.
pub fn asks_for_more(message: &str) -> bool {
    message.len() > LONGEST || orders(message).iter().any(|order| asks_for_a_change(order))
}

fn asks_for_a_change(order: &str) -> bool {
    let classes = OF_PEOPLE.of(&tokens::read(order, READING).list);
    let order = order.to_lowercase();
    classes.asks_for_a_change()
        && !classes.releases()
        && !PUT_AWAY.iter().any(|thing| order.contains(thing))
}

fn orders(message: &str) -> Vec<String> {
    let is_end = |letter: char| ".,;:!?\n、。，；：！？".contains(letter);
    let mut orders = Vec::new();
    for sentence in message.split(is_end) {
        let mut order: Vec<&str> = Vec::new();
        for word in sentence.split_whitespace() {
            let joins = JOINS.contains(&word.to_lowercase().as_str());
            if joins && order.len() >= WORDS_OF_AN_ORDER {
                orders.push(order.join(" "));
                order.clear();
            } else {
                order.push(word);
            }
        }
        orders.push(order.join(" "));
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_away_asks_for_nothing_more() {
        for message in [
            "Commit and push.",
            "Great. Commit the rest and push, please",
            "create a pull request and merge it",
            "Make a commit, then write the release notes.",
            "update the changelog and tag it",
            "コミットしてプッシュして",
            "提交并推送",
            "Danke, bitte committen und pushen.",
            "Thanks, that is all for today!",
        ] {
            assert!(!asks_for_more(message), "{message}");
        }
    }

    #[test]
    fn a_change_beside_it_is_more() {
        for message in [
            "Please write the lexer, test it and commit it",
            "Implement the second parser and push it",
            "Commit, then update the readme.",
            "コミットして、テストを追加してください",
            "提交，然后修复登录页面",
            "Committe das und füge danach die Tests hinzu",
            &"long ".repeat(300),
        ] {
            assert!(asks_for_more(message), "{message}");
        }
    }
}
