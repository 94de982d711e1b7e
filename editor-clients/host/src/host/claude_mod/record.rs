//! Finds a conversation's turns, for a driver that took over from a dead one.

use std::path::Path;

use super::message::CarriedOutOrder;
use rawr_records::read::claude_turns;
use rawr_records::turns::{RecordedCompaction, RecordedMessage, RecordedTurn};

/// The turns of the transcript and those that the plugin started, oldest first. `is_running` says whether a turn runs now.
pub(super) fn known(
    path: &Path,
    carried_out: Vec<CarriedOutOrder>,
    is_running: bool,
) -> Vec<RecordedTurn> {
    let mut turns = claude_turns(path);
    turns.extend(carried_out.into_iter().map(|order| {
        let CarriedOutOrder { at_ms, text, tokens_after: after } = order;
        let at_ms = Some(at_ms);
        let compaction = RecordedCompaction { before: None, after };
        RecordedTurn {
            turn_id: "carried out".to_owned(),
            began_at_ms: at_ms,
            has_ended: text.is_none() || !is_running,
            compacted: text.is_none().then_some(compaction),
            sent: text
                .map(|text| RecordedMessage { text, at_ms, is_users: true })
                .into_iter()
                .collect(),
            ..RecordedTurn::default()
        }
    }));
    turns.sort_by_key(|turn| turn.began_at_ms);
    turns
}

/// Claude Code stamps a message when it is typed, before it waits for a compaction and for rawr.
const STAMPED_BEFORE_MS: i64 = 120_000;

/// From when on a message may be stamped that came to rawr at this time, both in Unix milliseconds.
pub(super) const fn stamped_since(came_at_ms: i64) -> i64 {
    came_at_ms - STAMPED_BEFORE_MS
}

/// Whether the user has sent this message, which came to rawr at this time (Unix milliseconds).
pub(super) fn has_message(path: &Path, message: &str, came_at_ms: Option<i64>) -> bool {
    let since_ms = came_at_ms.map(stamped_since);
    let sent = claude_turns(path).into_iter().flat_map(|turn| turn.sent);
    sent.filter(|sent| sent.is_users && sent.at_ms >= since_ms)
        .any(|sent| sent.text.contains(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claude Code writes its transcript with a delay: what the plugin carried out counts although the file has it not.
    #[test]
    fn what_the_plugin_carried_out_is_known_before_the_transcript_has_it() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples");
        let path = samples.join("claude-mod-session.jsonl");
        let written = claude_turns(&path);
        let last = written.iter().filter_map(|turn| turn.began_at_ms).max().unwrap();
        let compaction = CarriedOutOrder { at_ms: last + 1, text: None, tokens_after: Some(9) };
        let message = CarriedOutOrder {
            at_ms: last + 2,
            text: Some("[rawr] handoff".to_owned()),
            tokens_after: None,
        };
        for (is_running, has_ended) in [(true, false), (false, true)] {
            let turns = known(&path, vec![message.clone(), compaction.clone()], is_running);
            assert_eq!(turns[..written.len()], written);
            let [compacted, sent] = &turns[written.len()..] else { panic!("{turns:?}") };
            let compaction = RecordedCompaction { before: None, after: Some(9) };
            assert_eq!(compacted.compacted, Some(compaction));
            assert!(compacted.has_ended && compacted.sent.is_empty());
            assert_eq!(sent.sent[0].text, "[rawr] handoff");
            assert_eq!((sent.compacted.is_none(), sent.has_ended), (true, has_ended));
        }
    }
}
