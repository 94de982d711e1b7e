//! The text of an open document, from changes that may arrive in another order than they were made.

use crate::language::{EditorText, PositionEncoding, TextChange};
use rawr_settings::problem::MAX_BYTES;
use std::collections::BTreeMap;

/// How many messages one that arrives late may be behind, where their changes are small.
const MOST_LATE: usize = 16;

/// Helix 25.01 may send version 5 before version 4, so a late message takes its place among the latest ones. Nothing is
/// waited for, because other editors skip versions.
#[derive(Debug)]
pub struct VersionedText {
    text: CheckedText,
    version: i32,
    /// The text without the latest messages, and its version.
    before: CheckedText,
    version_before: i32,
    /// The changes of the latest messages, by version.
    latest: BTreeMap<i32, Vec<TextChange>>,
}

/// `None`: too large to be checked.
type CheckedText = Option<EditorText>;

impl VersionedText {
    pub fn new(text: String, version: i32) -> Self {
        let text = (text.len() <= MAX_BYTES).then(|| EditorText::from(text));
        let before = text.clone();
        Self { text, version, before, version_before: version, latest: BTreeMap::new() }
    }

    pub const fn text(&self) -> Option<&EditorText> {
        self.text.as_ref()
    }

    pub const fn version(&self) -> i32 {
        self.version
    }

    /// All changes of one message, in order. Returns false if they came twice or too late, which changes nothing.
    pub fn change(
        &mut self,
        version: i32,
        changes: Vec<TextChange>,
        encoding: PositionEncoding,
    ) -> bool {
        if version <= self.version_before || self.latest.contains_key(&version) {
            return false;
        }
        if version > self.version {
            self.version = version;
            apply(&mut self.text, &changes, encoding);
            self.latest.insert(version, changes);
        } else {
            self.latest.insert(version, changes);
            self.text.clone_from(&self.before);
            for changes in self.latest.values() {
                apply(&mut self.text, changes, encoding);
            }
        }
        while self.latest.len() > MOST_LATE || bytes(&self.latest) > MAX_BYTES {
            let Some((version, changes)) = self.latest.pop_first() else { break };
            apply(&mut self.before, &changes, encoding);
            self.version_before = version;
        }
        true
    }
}

fn apply(text: &mut CheckedText, changes: &[TextChange], encoding: PositionEncoding) {
    for change in changes {
        match (&mut *text, change.at.is_some()) {
            (Some(text), _) => text.change(change, encoding),
            (None, false) => *text = Some(EditorText::from(change.text.clone())),
            (None, true) => {}
        }
        if text.as_ref().is_some_and(|text| text.as_str().len() > MAX_BYTES) {
            *text = None;
        }
    }
}

fn bytes(latest: &BTreeMap<i32, Vec<TextChange>>) -> usize {
    latest.values().flatten().map(|change| size_of::<TextChange>() + change.text.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::EditorPosition;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn insert(character: u32, text: &str) -> TextChange {
        let at = EditorPosition { line: 0, character };
        TextChange { at: Some(at..at), text: text.to_owned() }
    }

    fn whole(text: &str) -> TextChange {
        TextChange { at: None, text: text.to_owned() }
    }

    fn change(text: &mut VersionedText, version: i32, change: TextChange) -> bool {
        text.change(version, vec![change], PositionEncoding::Utf8)
    }

    fn shown(text: &VersionedText) -> Option<&str> {
        text.text().map(EditorText::as_str)
    }

    #[test]
    fn late_messages_take_their_place() {
        let mut text = VersionedText::new("{}".to_owned(), 1);
        // Typed: `a`, `b`, `c`, `d`, each behind the last one.
        for (version, character, typed) in [(3, 2, "b"), (5, 4, "d"), (4, 3, "c"), (2, 1, "a")] {
            assert!(change(&mut text, version, insert(character, typed)));
        }
        assert_eq!((shown(&text), text.version()), (Some("{abcd}"), 5));
    }

    #[test]
    fn what_comes_twice_or_too_late_changes_nothing() {
        let mut text = VersionedText::new("a".to_owned(), 1);
        assert!(!change(&mut text, 1, insert(0, "x")));
        for version in (3..).take(MOST_LATE + 1) {
            assert!(change(&mut text, version, insert(0, "y")));
        }
        for version in [2, 3, 4] {
            assert!(!change(&mut text, version, insert(0, "x")), "{version}");
        }
        assert_eq!(shown(&text), Some(format!("{}a", "y".repeat(MOST_LATE + 1)).as_str()));
    }

    #[test]
    fn a_late_change_may_replace_the_whole_text() {
        let mut text = VersionedText::new("a".to_owned(), 1);
        assert!(change(&mut text, 3, insert(1, "d")));
        assert!(change(&mut text, 2, whole("bc")));
        assert_eq!(shown(&text), Some("bdc"));
        assert!(change(&mut text, 5, whole("e")));
        assert!(change(&mut text, 4, insert(0, "x")));
        assert_eq!(shown(&text), Some("e"));
    }

    #[test]
    fn a_text_that_grows_too_large_is_dropped_until_a_whole_one() {
        let mut text = VersionedText::new("a".to_owned(), 1);
        assert!(change(&mut text, 2, insert(1, &"x".repeat(MAX_BYTES))));
        assert_eq!(shown(&text), None);
        assert!(change(&mut text, 4, insert(0, "y")));
        assert_eq!(shown(&text), None);
        assert!(change(&mut text, 3, whole("z")));
        assert_eq!(shown(&text), Some("yz"));
    }

    #[test]
    fn little_is_kept() {
        let mut text = VersionedText::new(String::new(), 0);
        let most = MAX_BYTES / size_of::<TextChange>();
        for version in 1..=3 {
            let changes = vec![insert(0, ""); most];
            assert!(text.change(version, changes, PositionEncoding::Utf8));
            assert!(text.latest.len() <= 1 && bytes(&text.latest) <= MAX_BYTES);
        }
    }

    proptest! {
        #[test]
        fn the_order_of_arrival_does_not_matter(
            typed in vec((0u32..40, "[a-zé{\n]{0,3}", any::<bool>()), 1..60),
            swaps in vec((any::<prop::sample::Index>(), 0..MOST_LATE), 0..20),
        ) {
            // Some editors skip versions.
            let mut version = 0;
            let mut messages = Vec::new();
            for (character, new, skips) in &typed {
                version += 1 + i32::from(*skips);
                messages.push((version, insert(*character, new)));
            }
            let mut in_order = VersionedText::new("start".to_owned(), 0);
            for (version, message) in &messages {
                prop_assert!(change(&mut in_order, *version, message.clone()));
            }
            // Each message moves once at most, so none comes too late.
            let mut order: Vec<usize> = (0..messages.len()).collect();
            let mut last = 0;
            let mut swaps: Vec<_> =
                swaps.iter().map(|(at, by)| (at.index(messages.len()), *by)).collect();
            swaps.sort_unstable();
            for (at, by) in swaps {
                if at >= last {
                    let to = (at + by).min(order.len() - 1);
                    order[at..=to].rotate_left(1);
                    last = to + 1;
                }
            }
            let mut out_of_order = VersionedText::new("start".to_owned(), 0);
            for at in order {
                let (version, message) = &messages[at];
                prop_assert!(change(&mut out_of_order, *version, message.clone()));
            }
            prop_assert_eq!(out_of_order.text(), in_order.text());
            prop_assert_eq!(out_of_order.version(), in_order.version());
        }
    }
}
